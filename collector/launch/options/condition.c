/* SPDX-License-Identifier: Apache-2.0 */
/* A parser of the expression of --if by recursive descent, which evaluates while it reads. */
#include "launch/options/condition.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, VALUE_MAX = 512 };

struct reader {
    const char *text, *at;
    int depth;
    struct error *err;
};

static bool complain(struct reader *reader, const char *what)
{
    fail(reader->err, ERR_INVALID, "--if \"%s\": %s at \"%s\"", reader->text, what, reader->at);
    return false;
}

static bool take(struct reader *reader, const char *word)
{
    size_t count = strlen(word);

    while (isspace((unsigned char)*reader->at))
        reader->at++;
    if (strncmp(reader->at, word, count) != 0)
        return false;
    reader->at += count;
    return true;
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '-';
}

static void read_value(struct reader *reader, char ret[VALUE_MAX])
{
    const char *quote = take(reader, "\"") ? "\"" : take(reader, "'") ? "'" : NULL;
    const char *from = reader->at, *value = ret;
    size_t count = 0;

    ret[0] = '\0';
    while (quote != NULL ? from[count] != '\0' && from[count] != *quote : is_word(from[count]))
        count++;
    if (count >= VALUE_MAX || (quote == NULL && count == 0) ||
        (quote != NULL && from[count] == '\0')) {
        complain(reader, "a variable, a number or a text in quotes is missing");
        return;
    }
    memcpy(ret, from, count);
    ret[count] = '\0';
    reader->at += count + (quote != NULL);
    if (quote != NULL || isdigit((unsigned char)ret[0]) || ret[0] == '-')
        return;
    value = getenv(ret);
    count = value != NULL ? strlen(value) : 0;
    if (count >= VALUE_MAX)
        complain(reader, "a variable is longer than 511 bytes");
    else
        memmove(ret, value != NULL ? value : "", count + 1);
}

static bool is_number(const char *text, long long *ret)
{
    char *end;

    *ret = strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static bool is_same(const char *left, const char *right)
{
    long long a, b;

    return is_number(left, &a) && is_number(right, &b) ? a == b : strcmp(left, right) == 0;
}

static bool read_or(struct reader *reader);

static bool read_comparison(struct reader *reader)
{
    char left[VALUE_MAX], right[VALUE_MAX];

    read_value(reader, left);
    bool is_equal = take(reader, "=="), is_other = !is_equal && take(reader, "!=");
    if (!is_equal && !is_other)
        return left[0] != '\0' && strcmp(left, "0") != 0;
    read_value(reader, right);
    return is_same(left, right) == is_equal;
}

static bool read_not(struct reader *reader)
{
    bool holds;

    if (reader->err->code != OK || reader->depth >= DEPTH_MAX)
        return complain(reader, "too deep");
    reader->depth++;
    if (take(reader, "!")) {
        holds = !read_not(reader);
    } else if (take(reader, "(")) {
        holds = read_or(reader);
        if (!take(reader, ")"))
            complain(reader, "a ) is missing");
    } else {
        holds = read_comparison(reader);
    }
    reader->depth--;
    return holds;
}

static bool read_and(struct reader *reader)
{
    bool holds = read_not(reader);

    while (take(reader, "&&")) {
        bool other = read_not(reader);
        holds = holds && other;
    }
    return holds;
}

static bool read_or(struct reader *reader)
{
    bool holds = read_and(reader);

    while (take(reader, "||")) {
        bool other = read_and(reader);
        holds = holds || other;
    }
    return holds;
}

enum status condition_holds(const char *text, bool *ret, struct error *err)
{
    struct reader reader = {.text = text, .at = text, .err = err};

    *ret = read_or(&reader);
    if (!take(&reader, "") || *reader.at != '\0')
        complain(&reader, "an operator is missing");
    return err->code;
}
