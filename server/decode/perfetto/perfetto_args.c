/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of events: flat ones keep their types, nested ones become JSON.
 *
 *   DebugAnnotation  1 name iid | 10 name   2 bool  3 uint  4 int  5 double  6 text  7 pointer
 *                    8 nested value  9 JSON  11 entries*  12 items*  17 text iid
 *   NestedValue      1 type (1 dict, 2 array)  2 keys*  3 values*  4 items*  5 int  6 double
 *                    7 bool  8 text
 */
#include "decode/perfetto/perfetto.h"

#include <inttypes.h>
#include <math.h>

enum { NESTING_MAX = 32, JSON_BYTES_MAX = 1 << 20 };

struct writing { /* JSON text that grows */
    struct perfetto *trace;
    const struct sequence *sequence;
    struct text text;
};

static void put_quoted(struct text *text, struct str value)
{
    struct arena *arena = arena_create();
    struct str clean = str_utf8(arena, value);

    text_puts(text, "\"");
    for (size_t i = 0; i < clean.count; i++) {
        unsigned char letter = (unsigned char)clean.at[i];

        if (letter == '"' || letter == '\\')
            text_putf(text, "\\%c", letter);
        else if (letter < 0x20)
            text_putf(text, "\\u%04x", letter);
        else
            text_put(text, (const char *)&letter, 1);
    }
    text_puts(text, "\"");
    arena_destroy(arena);
}

static void put_real(struct text *text, uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        text_putf(text, "%.17g", value);
    else
        text_puts(text, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static bool put_nested(struct writing *writing, const struct pb *outer, struct bytes message,
                       uint32_t depth);

/* A dict's keys and values stand in two lists. */
static bool put_members(struct writing *writing, const struct pb *outer, struct bytes message,
                        bool is_dict, uint32_t depth)
{
    struct error broken = {0}, broken_keys = {0};
    struct pb pb = pb_inside(outer, message, &broken),
              keys = pb_inside(outer, message, &broken_keys);
    struct pb_field key;
    const char *comma = "";

    text_puts(&writing->text, is_dict ? "{" : "[");
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != (is_dict ? 3 : 4) || field.wire != PB_BYTES)
            continue;
        text_puts(&writing->text, comma);
        comma = ",";
        if (is_dict) {
            bool has_key = false;
            while (!has_key && pb_next(&keys, &key))
                has_key = key.number == 2 && key.wire == PB_BYTES;
            put_quoted(&writing->text, has_key ? pb_text(&key) : STR(""));
            text_puts(&writing->text, ":");
        }
        if (!put_nested(writing, &pb, field.bytes, depth + 1))
            return false;
    }
    text_puts(&writing->text, is_dict ? "}" : "]");
    return broken.code == OK;
}

static bool put_nested(struct writing *writing, const struct pb *outer, struct bytes message,
                       uint32_t depth)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct pb_field leaf = {0};
    uint64_t type = 0;

    if (depth == NESTING_MAX || writing->text.count > JSON_BYTES_MAX)
        return false;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            type = field.varint;
        else if (field.number >= 5 && field.number <= 8)
            leaf = field;
    }
    if (broken.code != OK)
        return false;
    if (type == 1 || type == 2)
        return put_members(writing, outer, message, type == 1, depth);
    if (leaf.number == 5)
        text_putf(&writing->text, "%" PRId64, (int64_t)leaf.varint);
    else if (leaf.number == 6)
        put_real(&writing->text, leaf.varint);
    else if (leaf.number == 7)
        text_puts(&writing->text, leaf.varint ? "true" : "false");
    else if (leaf.number == 8 && leaf.wire == PB_BYTES)
        put_quoted(&writing->text, pb_text(&leaf));
    else
        text_puts(&writing->text, "null");
    return true;
}

struct annotation { /* a DebugAnnotation, looked over */
    name_id name;
    struct pb_field value; /* the last one; number 0: none */
    bool has_entries, has_items;
};

static bool look_over(struct perfetto *trace, const struct sequence *sequence,
                      const struct pb *outer, struct bytes message, struct annotation *ret)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    *ret = (struct annotation){0};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_VARINT)
            ret->name = perfetto_sequence_text(trace, sequence, INTERNED_ANNOTATION, field.varint);
        else if (field.number == 10 && field.wire == PB_BYTES)
            ret->name = sink_name(trace->sink, pb_text(&field));
        else if (field.number == 11)
            ret->has_entries = true;
        else if (field.number == 12)
            ret->has_items = true;
        else if ((field.number >= 2 && field.number <= 9) || field.number == 17)
            ret->value = field;
    }
    return broken.code == OK;
}

static bool put_annotation(struct writing *writing, const struct pb *outer, struct bytes message,
                           bool with_name, uint32_t depth);

static bool put_list(struct writing *writing, const struct pb *outer, struct bytes message,
                     bool is_dict, uint32_t depth)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    const char *comma = "";

    text_puts(&writing->text, is_dict ? "{" : "[");
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != (is_dict ? 11 : 12) || field.wire != PB_BYTES)
            continue;
        text_puts(&writing->text, comma);
        comma = ",";
        if (!put_annotation(writing, &pb, field.bytes, is_dict, depth + 1))
            return false;
    }
    text_puts(&writing->text, is_dict ? "}" : "]");
    return broken.code == OK;
}

static struct arg flat(struct perfetto *trace, const struct sequence *sequence, name_id key,
                       const struct pb_field *value)
{
    bool is_text = value->wire == PB_BYTES;

    switch (value->number) {
    case 2:
        return (struct arg){key, ARG_BOOL, value->varint != 0};
    case 3:
    case 7:
        return (struct arg){key, ARG_UINT64, value->varint};
    case 4:
        return (struct arg){key, ARG_INT64, value->varint};
    case 5:
        return (struct arg){key, ARG_DOUBLE, value->varint};
    case 17:
        return (struct arg){key, ARG_STRING,
                            perfetto_sequence_text(trace, sequence, INTERNED_TEXT, value->varint)};
    case 6:
    case 9:
        if (is_text)
            return (struct arg){key, ARG_STRING, sink_name(trace->sink, pb_text(value))};
    }
    return (struct arg){key, ARG_NULL, 0};
}

static void put_flat(struct writing *writing, const struct arg *arg)
{
    switch (arg->type) {
    case ARG_BOOL:
        text_puts(&writing->text, arg->bits ? "true" : "false");
        break;
    case ARG_UINT64:
        text_putf(&writing->text, "%" PRIu64, arg->bits);
        break;
    case ARG_INT64:
        text_putf(&writing->text, "%" PRId64, (int64_t)arg->bits);
        break;
    case ARG_DOUBLE:
        put_real(&writing->text, arg->bits);
        break;
    case ARG_STRING:
        put_quoted(&writing->text, sink_text(writing->trace->sink, (name_id)arg->bits));
        break;
    default:
        text_puts(&writing->text, "null");
    }
}

static bool put_annotation(struct writing *writing, const struct pb *outer, struct bytes message,
                           bool with_name, uint32_t depth)
{
    struct annotation annotation;

    if (depth == NESTING_MAX || writing->text.count > JSON_BYTES_MAX ||
        !look_over(writing->trace, writing->sequence, outer, message, &annotation))
        return false;
    if (with_name) {
        put_quoted(&writing->text, sink_text(writing->trace->sink, annotation.name));
        text_puts(&writing->text, ":");
    }
    if (annotation.has_entries || annotation.has_items)
        return put_list(writing, outer, message, annotation.has_entries, depth);
    if (annotation.value.number == 8 && annotation.value.wire == PB_BYTES)
        return put_nested(writing, outer, annotation.value.bytes, depth + 1);
    struct arg arg = flat(writing->trace, writing->sequence, 0, &annotation.value);
    put_flat(writing, &arg);
    return true;
}

bool perfetto_annotation_read(struct perfetto *trace, const struct sequence *sequence,
                              const struct pb *outer, struct bytes message, struct arg *ret)
{
    struct annotation annotation;

    if (!look_over(trace, sequence, outer, message, &annotation))
        return false;
    bool is_nested = annotation.has_entries || annotation.has_items ||
                     (annotation.value.number == 8 && annotation.value.wire == PB_BYTES);
    if (!is_nested) {
        *ret = flat(trace, sequence, annotation.name, &annotation.value);
        return true;
    }
    struct writing writing = {.trace = trace, .sequence = sequence};
    bool is_whole = put_annotation(&writing, outer, message, false, 0);
    if (is_whole)
        *ret = (struct arg){annotation.name, ARG_JSON,
                            sink_name(trace->sink, text_str(&writing.text))};
    text_free(&writing.text);
    return is_whole;
}
