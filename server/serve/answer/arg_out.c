/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an arg as JSON with its type; long texts are cut, and say so. */
#include "serve/answer/arg_out.h"

#include <math.h>

enum { VALUE_BYTES_MAX = 65536 };

static const char *type_word(enum arg_type type)
{
    static const char *const words[] = {
        [ARG_NONE] = "none",     [ARG_INT64] = "int64",   [ARG_UINT64] = "uint64",
        [ARG_DOUBLE] = "double", [ARG_STRING] = "string", [ARG_BYTES] = "bytes",
        [ARG_BOOL] = "bool",     [ARG_NULL] = "null",     [ARG_JSON] = "json",
        [ARG_DIGITS] = "digits",
    };

    return (unsigned)type < COUNT(words) ? words[type] : "none";
}

/* Text of any length from a file: cut where it would drown the reply, and said so. */
static void put_text_value(struct json *json, struct str text)
{
    bool cut = text.count > VALUE_BYTES_MAX;

    json_key(json, "value");
    json_add_text(json, cut ? (struct str){.at = text.at, .count = VALUE_BYTES_MAX} : text);
    if (cut)
        json_put_unsigned(json, "value_bytes", text.count);
}

static void put_hex(struct json *json, struct str bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t shown = bytes.count > VALUE_BYTES_MAX / 2 ? VALUE_BYTES_MAX / 2 : bytes.count;
    struct text hex = {0};

    for (size_t i = 0; i < shown; i++) {
        unsigned char byte = (unsigned char)bytes.at[i];
        const char pair[2] = {digits[byte >> 4], digits[byte & 15]};

        text_put(&hex, pair, 2);
    }
    json_put_text(json, "value", text_str(&hex));
    json_put_unsigned(json, "value_bytes", bytes.count);
    text_free(&hex);
}

static void put_double(struct json *json, uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    json_key(json, "value");
    if (isfinite(value))
        json_add_real(json, value);
    else
        json_add_text(json, isnan(value) ? STR("NaN")
                            : value > 0  ? STR("Infinity")
                                         : STR("-Infinity"));
}

void json_put_arg_members(struct json *json, const struct trace *trace, struct arg arg)
{
    char digits[24];

    json_put_text(json, "name", trace_name(trace, arg.key));
    json_put_text(json, "type", str_of(type_word(arg.type)));
    switch (arg.type) {
    case ARG_INT64:
        json_put_integer(json, "value", (int64_t)arg.bits);
        break;
    case ARG_UINT64:
        json_put_unsigned(json, "value", arg.bits);
        break;
    case ARG_DOUBLE:
        put_double(json, arg.bits);
        break;
    case ARG_BOOL:
        json_put_bool(json, "value", arg.bits != 0);
        break;
    case ARG_STRING:
    case ARG_JSON:
        put_text_value(json, trace_name(trace, (name_id)arg.bits));
        break;
    case ARG_BYTES:
        put_hex(json, trace_name(trace, (name_id)arg.bits));
        break;
    case ARG_DIGITS:
        json_put_text(json, "value",
                      (struct str){.at = digits, .count = unsigned_digits(arg.bits, digits)});
        break;
    case ARG_NONE:
    case ARG_NULL:
        json_put_null(json, "value");
        break;
    }
}
