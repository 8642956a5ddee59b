/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON: commas, escapes, exact integers, shortest doubles. */
#include "serve/answer/json_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

size_t unsigned_digits(uint64_t value, char *ret)
{
    char reversed[24];
    size_t count = 0;

    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < count; i++)
        ret[i] = reversed[count - 1 - i];
    return count;
}

size_t integer_digits(int64_t value, char *ret)
{
    if (value >= 0)
        return unsigned_digits((uint64_t)value, ret);
    ret[0] = '-';
    return 1 + unsigned_digits(0 - (uint64_t)value, ret + 1);
}

size_t real_shortest(double value, char *ret)
{
    /* Whole numbers below 2^53 need no search. */
    if (value == 0)
        return unsigned_digits(0, ret);
    if (fabs(value) < 9007199254740992.0 && value == trunc(value))
        return integer_digits((int64_t)value, ret);
    for (int digits = 15; digits < 17; digits++) {
        int count = snprintf(ret, 32, "%.*g", digits, value);

        if (strtod(ret, NULL) == value)
            return (size_t)count;
    }
    return (size_t)snprintf(ret, 32, "%.17g", value);
}

static void before_value(struct json *json)
{
    if (json->after_value)
        text_put(json->out, ",", 1);
    json->after_value = true;
}

void json_open(struct json *json, char bracket)
{
    before_value(json);
    text_put(json->out, &bracket, 1);
    json->after_value = false;
}

void json_close(struct json *json, char bracket)
{
    text_put(json->out, &bracket, 1);
    json->after_value = true;
}

void json_add_raw(struct json *json, struct str value)
{
    before_value(json);
    text_put(json->out, value.at, value.count);
}

void json_add_integer(struct json *json, int64_t value)
{
    char digits[24];

    json_add_raw(json, (struct str){.at = digits, .count = integer_digits(value, digits)});
}

void json_add_unsigned(struct json *json, uint64_t value)
{
    char digits[24];

    json_add_raw(json, (struct str){.at = digits, .count = unsigned_digits(value, digits)});
}

void json_add_real(struct json *json, double value)
{
    char digits[32];

    if (!isfinite(value))
        json_add_null(json);
    else
        json_add_raw(json, (struct str){.at = digits, .count = real_shortest(value, digits)});
}

void json_add_bool(struct json *json, bool value)
{
    json_add_raw(json, value ? STR("true") : STR("false"));
}

void json_add_null(struct json *json)
{
    json_add_raw(json, STR("null"));
}

/* Bytes of the well-formed UTF-8 sequence at `at`; 0 when there is none. */
static size_t utf8_length(const uint8_t *at, size_t left)
{
    uint8_t c = at[0];

    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (left < length)
        return 0;
    /* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
    if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) || (c == 0xf0 && at[1] < 0x90) ||
        (c == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

static void put_escape(struct text *out, uint8_t c)
{
    switch (c) {
    case '"':
        text_put(out, "\\\"", 2);
        break;
    case '\\':
        text_put(out, "\\\\", 2);
        break;
    case '\n':
        text_put(out, "\\n", 2);
        break;
    case '\t':
        text_put(out, "\\t", 2);
        break;
    default:
        text_putf(out, "\\u%04x", c);
    }
}

static void put_quoted(struct text *out, struct str value)
{
    const uint8_t *at = (const uint8_t *)value.at;
    size_t from = 0, i = 0;

    text_put(out, "\"", 1);
    while (i < value.count) {
        uint8_t c = at[i];
        size_t length = c < 0x80 ? 1 : utf8_length(at + i, value.count - i);

        if (length > 0 && c >= ' ' && c != '"' && c != '\\' && c != 127) {
            i += length;
            continue;
        }
        text_put(out, value.at + from, i - from);
        if (length == 0)
            text_put(out, "\xef\xbf\xbd", 3);
        else
            put_escape(out, c);
        from = ++i;
    }
    if (value.count > from)
        text_put(out, value.at + from, value.count - from);
    text_put(out, "\"", 1);
}

void json_add_text(struct json *json, struct str value)
{
    before_value(json);
    put_quoted(json->out, value);
}

void json_key_text(struct json *json, struct str key)
{
    json_add_text(json, key);
    text_put(json->out, ":", 1);
    json->after_value = false;
}

void json_key(struct json *json, const char *key)
{
    before_value(json);
    text_put(json->out, "\"", 1);
    text_puts(json->out, key);
    text_put(json->out, "\":", 2);
    json->after_value = false;
}

void json_put_integer(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_add_integer(json, value);
}

void json_put_unsigned(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_add_unsigned(json, value);
}

void json_put_real(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_add_real(json, value);
}

void json_put_text(struct json *json, const char *key, struct str value)
{
    json_key(json, key);
    json_add_text(json, value);
}

void json_put_text_or_null(struct json *json, const char *key, struct str value)
{
    json_key(json, key);
    if (value.count == 0)
        json_add_null(json);
    else
        json_add_text(json, value);
}

void json_put_texts(struct json *json, const char *key, const struct str *texts, uint32_t count)
{
    json_key(json, key);
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++)
        json_add_text(json, texts[i]);
    json_close(json, ']');
}

void json_put_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_add_bool(json, value);
}

void json_put_null(struct json *json, const char *key)
{
    json_key(json, key);
    json_add_null(json);
}
