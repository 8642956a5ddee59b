/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps texts of a Chrome trace by their ends and length, so that repeated ones are found fast. */
#include <math.h>
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum { LATELY_COUNT = 1 << 13 };

/* Names' texts never move, so a span of them may be kept. */
struct late_text {
    const char *at;
    uint32_t count;
    name_id name;
};

void texts_open(struct texts *texts, struct sink *sink, struct arena *arena)
{
    *texts =
        (struct texts){.sink = sink, .lately = arena_array(arena, struct late_text, LATELY_COUNT)};
}

void texts_close(struct texts *texts)
{
    free(texts->plain);
    *texts = (struct texts){0};
}

static uint64_t load8(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Ends and length tell most texts apart; the text itself decides. */
static uint32_t look_at(struct str text)
{
    uint64_t head, tail;

    if (text.count >= 8) {
        head = load8(text.at);
        tail = load8(text.at + text.count - 8);
    } else {
        head = (unsigned char)text.at[0];
        tail = (uint64_t)(unsigned char)text.at[text.count / 2] << 8 |
               (unsigned char)text.at[text.count - 1];
    }
    uint64_t mixed = (head ^ (tail << 23 | tail >> 41) ^ text.count) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 40) & (LATELY_COUNT - 1);
}

name_id texts_name(struct texts *texts, struct str plain)
{
    if (plain.count == 0)
        return 0;
    struct late_text *lately = &texts->lately[look_at(plain)];

    if (lately->count != plain.count || memcmp(lately->at, plain.at, plain.count) != 0) {
        name_id name = sink_name(texts->sink, plain);
        struct str kept = sink_text(texts->sink, name);

        if (sink_failed(texts->sink) || kept.count > UINT32_MAX)
            return name;
        *lately = (struct late_text){kept.at, (uint32_t)kept.count, name};
    }
    return lately->name;
}

name_id texts_value(struct texts *texts, struct json_value value)
{
    if (!value.escaped)
        return texts_name(texts, value.text);
    if (texts->plain_capacity < value.text.count) {
        texts->plain_capacity = value.text.count * 2;
        texts->plain = memory_resize(texts->plain, texts->plain_capacity, 1);
    }
    struct str plain = {.at = texts->plain, .count = json_unescape(value.text, texts->plain)};

    return texts_name(texts, plain);
}

static struct arg double_arg(double value)
{
    struct arg arg = {.type = ARG_DOUBLE};

    memcpy(&arg.bits, &value, sizeof value);
    return arg;
}

static struct arg named_arg(struct texts *texts, struct str text)
{
    if (str_equal(text, STR("true")) || str_equal(text, STR("false")))
        return (struct arg){.type = ARG_BOOL, .bits = text.at[0] == 't'};
    if (str_equal(text, STR("null")))
        return (struct arg){.type = ARG_NULL};
    if (str_equal(text, STR("NaN")))
        return double_arg(NAN);
    if (str_equal(text, STR("Infinity")))
        return double_arg(INFINITY);
    return (struct arg){.type = ARG_JSON, .bits = texts_name(texts, text)};
}

struct arg texts_arg(struct texts *texts, struct json_value value)
{
    struct arg arg = {.type = ARG_JSON};

    switch (value.kind) {
    case JSON_STRING:
        arg.type = ARG_DIGITS;
        if (!digits_read(value.text, &arg.bits)) {
            arg.type = ARG_STRING;
            arg.bits = texts_value(texts, value);
        }
        break;
    case JSON_NUMBER:
        if (str_equal(value.text, STR("-Infinity")))
            arg = double_arg(-INFINITY);
        else if (!number_read(value.text, &arg))
            arg.bits = texts_name(texts, value.text);
        break;
    case JSON_NAMED:
        arg = named_arg(texts, value.text);
        break;
    default:
        arg.bits = texts_name(texts, value.text);
        break;
    }
    return arg;
}
