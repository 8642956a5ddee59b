/* SPDX-License-Identifier: Apache-2.0 */
/* Splits and decodes a query string, and checks each parameter against the route's declaration.
 * Facts: RFC 3986. */
#include "serve/answer/query.h"

#include "base/distance.h"

enum { TEXT_BYTES_MAX = 4096, LIST_MAX = 256 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "%41+b" -> "A b". */
static enum status decode(struct str raw, struct arena *arena, struct str *ret, struct error *err)
{
    char *to = arena_alloc(arena, raw.count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < raw.count; i++) {
        char c = raw.at[i];

        if (c == '%') {
            bool whole = raw.count - i > 2;
            int high = whole ? hex_digit(raw.at[i + 1]) : -1;
            int low = whole ? hex_digit(raw.at[i + 2]) : -1;

            if (high < 0 || low < 0)
                return fail(err, ERR_INVALID,
                            "the query string has a %% without two hex digits after it; write a "
                            "literal %% as %%25");
            c = (char)(high * 16 + low);
            if (c == '\0')
                return fail(err, ERR_INVALID, "the query string holds a NUL byte (%%00)");
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        to[count++] = c;
    }
    *ret = (struct str){.at = to, .count = count};
    return OK;
}

static struct str cut(struct str *rest, char at)
{
    const char *end = rest->count == 0 ? NULL : memchr(rest->at, at, rest->count);
    struct str part = *rest;

    if (end != NULL)
        part.count = (size_t)(end - rest->at);
    *rest = str_skip(*rest, part.count + 1);
    return part;
}

enum status query_parse(struct str raw, struct arena *arena, struct query *ret, struct error *err)
{
    size_t most = raw.count > 0;

    for (size_t i = 0; i < raw.count; i++)
        most += raw.at[i] == '&';
    struct pair *pairs = arena_array(arena, struct pair, most + 1);
    uint32_t count = 0;

    while (raw.count > 0) {
        struct str one = cut(&raw, '&');
        struct str name = cut(&one, '=');

        if (name.count == 0 && one.count == 0)
            continue;
        TRY(decode(name, arena, &pairs[count].name, err));
        TRY(decode(one, arena, &pairs[count].value, err));
        count++;
    }
    *ret = (struct query){.pairs = pairs, .count = count};
    return OK;
}

const struct str *query_find(const struct query *query, const char *name)
{
    for (uint32_t i = 0; i < query->count; i++) {
        if (str_equal(query->pairs[i].name, str_of(name)))
            return &query->pairs[i].value;
    }
    return NULL;
}

static enum status unknown_name(struct str name, const struct param *params, struct error *err)
{
    const struct param *nearest = NULL;
    unsigned least = UINT32_MAX;

    for (const struct param *param = params; param != NULL && param->name != NULL; param++) {
        unsigned distance = edit_distance(name, str_of(param->name));
        if (distance < least) {
            least = distance;
            nearest = param;
        }
    }
    int length = name.count > 64 ? 64 : (int)name.count;
    if (nearest == NULL)
        return fail(err, ERR_INVALID, "there is no parameter \"%.*s\": this endpoint takes none",
                    length, name.at);
    return fail(err, ERR_INVALID, "there is no parameter \"%.*s\" here; the nearest is \"%s\"",
                length, name.at, nearest->name);
}

static enum status check_integer(const struct param *param, struct str value, struct error *err)
{
    int64_t number;

    if (!str_to_i64(value, &number))
        return fail(
            err, ERR_INVALID,
            "%s is \"%.*s\"; it must be a whole number from %lld to %lld, without exponent or unit",
            param->name, value.count > 64 ? 64 : (int)value.count, value.at, (long long)param->min,
            (long long)param->max);
    if (number < param->min || number > param->max)
        return fail(err, ERR_INVALID, "%s is %lld; it must be from %lld to %lld", param->name,
                    (long long)number, (long long)param->min, (long long)param->max);
    return OK;
}

static enum status check_word(const struct param *param, struct str value, struct error *err)
{
    struct str words = str_of(param->words);

    while (words.count > 0) {
        if (str_equal(cut(&words, '|'), value))
            return OK;
    }
    return fail(err, ERR_INVALID, "%s is \"%.*s\"; it must be one of %s", param->name,
                value.count > 64 ? 64 : (int)value.count, value.at, param->words);
}

bool list_next(struct str *list, struct str *ret)
{
    while (list->count > 0) {
        *ret = cut(list, ',');
        if (ret->count > 0)
            return true;
    }
    return false;
}

bool range_parse(struct str text, int64_t ret[2])
{
    struct str last = text;
    struct str first = cut(&last, '-');
    bool single = first.count == text.count;

    return str_to_i64(first, &ret[0]) && str_to_i64(single ? first : last, &ret[1]) &&
           ret[0] >= 0 && ret[0] <= ret[1];
}

static enum status check_list(const struct param *param, struct str value, struct error *err)
{
    struct str part;
    uint32_t count = 0;

    if (param->kind == PARAM_RANGES &&
        (str_equal(value, STR("counted")) || str_equal(value, STR("last"))))
        return OK;
    while (list_next(&value, &part)) {
        int64_t range[2];

        if (++count > LIST_MAX)
            return fail(err, ERR_INVALID, "%s lists more than %d values", param->name, LIST_MAX);
        if (param->kind == PARAM_INTEGERS)
            TRY(check_integer(param, part, err));
        if (param->kind == PARAM_RANGES && !range_parse(part, range))
            return fail(err, ERR_INVALID,
                        "%s holds \"%.*s\"; it takes numbers and ranges, 3 or 1-11 or 1,4-6, "
                        "\"counted\", or \"last\" for the last step",
                        param->name, part.count > 64 ? 64 : (int)part.count, part.at);
    }
    return OK;
}

static enum status check_value(const struct param *param, struct str value, struct error *err)
{
    int64_t longest = param->max > 0 ? param->max : TEXT_BYTES_MAX;

    switch (param->kind) {
    case PARAM_INTEGER:
        return check_integer(param, value, err);
    case PARAM_WORD:
        return check_word(param, value, err);
    case PARAM_TEXT:
        if ((int64_t)value.count > longest)
            return fail(err, ERR_INVALID, "%s is longer than %lld bytes", param->name,
                        (long long)longest);
        return OK;
    case PARAM_INTEGERS:
    case PARAM_RANGES:
    case PARAM_TEXTS:
        return check_list(param, value, err);
    }
    return OK;
}

static enum status check_given(const struct query *query, uint32_t at, const struct param *params,
                               struct error *err)
{
    const struct pair *pair = &query->pairs[at];

    for (uint32_t i = 0; i < at; i++) {
        if (str_equal(query->pairs[i].name, pair->name))
            return fail(err, ERR_INVALID, "%.*s is given twice",
                        pair->name.count > 64 ? 64 : (int)pair->name.count, pair->name.at);
    }
    for (const struct param *param = params; param != NULL && param->name != NULL; param++) {
        if (str_equal(pair->name, str_of(param->name)))
            return check_value(param, pair->value, err);
    }
    return unknown_name(pair->name, params, err);
}

enum status query_check(const struct query *query, const struct param *params, struct error *err)
{
    for (uint32_t i = 0; i < query->count; i++)
        TRY(check_given(query, i, params, err));
    for (const struct param *param = params; param != NULL && param->name != NULL; param++) {
        const struct str *value = query_find(query, param->name);

        if (param->required && (value == NULL || value->count == 0))
            return fail(err, ERR_INVALID, "%s is missing", param->name);
    }
    return OK;
}
