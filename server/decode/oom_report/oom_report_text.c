/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as messages write them, and words found in lines. */
#include "decode/oom_report/oom_report.h"

bool oom_behind(struct str text, const char *word, struct str *ret)
{
    const struct str wanted = str_of(word);

    for (; text.count >= wanted.count; text = str_skip(text, 1))
        if (memcmp(text.at, wanted.at, wanted.count) == 0) {
            *ret = str_skip(text, wanted.count);
            return true;
        }
    return false;
}

struct str oom_trim(struct str text)
{
    while (text.count > 0 && (text.at[0] == ' ' || text.at[0] == '\t'))
        text = str_skip(text, 1);
    while (text.count > 0 && (text.at[text.count - 1] == ' ' || text.at[text.count - 1] == '\t' ||
                              text.at[text.count - 1] == '\r'))
        text.count--;
    return text;
}

struct str oom_quoted(struct str line, const char *key)
{
    struct str value, rest;

    if (!oom_behind(line, key, &value) || !oom_behind(value, "\"", &rest) ||
        rest.at != value.at + 1)
        return STR("");
    value = rest;
    for (size_t i = 0; i < value.count; i++)
        if (value.at[i] == '"')
            return (struct str){.at = value.at, .count = i};
    return value;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* By powers of 1024, as all of them write it; whole bytes without a unit, or with "B", "bytes". */
static bool unit_of(struct str text, double *ret_factor, size_t *ret_count)
{
    static const char letters[] = "KMGTP";
    const char *found = text.count > 0 ? memchr(letters, text.at[0], sizeof letters - 1) : NULL;

    *ret_factor = 1;
    *ret_count = 0;
    if (str_starts(text, STR("bytes"))) {
        *ret_count = 5;
        return true;
    }
    for (const char *letter = letters; found != NULL && letter <= found; letter++)
        *ret_factor *= 1024;
    *ret_count = found != NULL;
    if (found != NULL && text.count > 1 && text.at[1] == 'i')
        ++*ret_count;
    if (text.count > *ret_count && text.at[*ret_count] == 'B')
        ++*ret_count;
    return *ret_count > 0;
}

bool oom_size(struct str text, int64_t *ret, size_t *ret_count)
{
    double value = 0, place = 1, factor;
    size_t at = 0, unit;

    while (at < text.count && is_digit(text.at[at]) && value < 1e18)
        value = value * 10 + (text.at[at++] - '0');
    if (at == 0)
        return false;
    if (at + 1 < text.count && text.at[at] == '.' && is_digit(text.at[at + 1]))
        for (at++; at < text.count && is_digit(text.at[at]); at++)
            value += (text.at[at] - '0') * (place /= 10);
    if (!unit_of(str_skip(text, at), &factor, &unit) &&
        (text.count <= at || text.at[at] != ' ' || !unit_of(str_skip(text, ++at), &factor, &unit)))
        return false;
    if (value * factor >= 9e18)
        return false;
    *ret = (int64_t)(value * factor + 0.5);
    *ret_count = at + unit;
    return true;
}
