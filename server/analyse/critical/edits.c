/* SPDX-License-Identifier: Apache-2.0 */
/* Reads changes from the words of a question. */
#include "analyse/critical/edits.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *word;
    enum edit_of of;
} words[] = {{"scope:", EDIT_SCOPE}, {"op:", EDIT_OP}, {"name:", EDIT_OP}, {"kind:", EDIT_KIND}};

/* The last '=' before the next part: names hold others. */
static const char *last_equals(struct str text)
{
    return text.count == 0 ? NULL : memrchr(text.at, '=', text.count);
}

static bool read_factor(struct str text, double *ret)
{
    char digits[32], *end;

    if (text.count == 0 || text.count >= sizeof digits)
        return false;
    memcpy(digits, text.at, text.count);
    digits[text.count] = '\0';
    *ret = strtod(digits, &end);
    return *end == '\0' && isfinite(*ret);
}

static enum status read_one(struct str text, struct edits *ret, struct error *err)
{
    const char *equals = last_equals(text);
    struct edit *edit = &ret->items[ret->count];

    if (ret->count == EDITS_MAX)
        return fail(err, ERR_INVALID, "at most %d items can be scaled at once", EDITS_MAX);
    if (equals == NULL)
        return fail(err, ERR_INVALID,
                    "scale takes scope:NAME=FACTOR, op:NAME=FACTOR or kind:NAME=FACTOR, not "
                    "\"%.*s\"",
                    STR_ARG(text));
    struct str factor = str_skip(text, (size_t)(equals - text.at) + 1);

    *edit = (struct edit){0};
    if (!read_factor(factor, &edit->factor) || edit->factor < 0 || edit->factor > 1000)
        return fail(err, ERR_INVALID,
                    "a factor is a number from 0 to 1000 (0.5: half as long), not \"%.*s\"",
                    STR_ARG(factor));
    text.count = (size_t)(equals - text.at);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!str_starts(text, str_of(words[i].word)))
            continue;
        edit->of = words[i].of;
        edit->name = str_skip(text, strlen(words[i].word));
        if (edit->name.count == 0)
            break;
        ret->count++;
        return OK;
    }
    return fail(err, ERR_INVALID, "what is scaled begins with scope:, op: or kind:, not \"%.*s\"",
                STR_ARG(text));
}

/* Up to the comma behind the next factor. */
static struct str next_part(struct str *text)
{
    struct str part = *text;

    for (size_t at = 0; at < text->count; at++) {
        struct str before = {text->at, at};

        if (text->at[at] != ',' || last_equals(before) == NULL)
            continue;

        double factor;
        struct str behind = str_skip(before, (size_t)(last_equals(before) - before.at) + 1);

        if (!read_factor(behind, &factor))
            continue;
        part.count = at;
        break;
    }
    *text = str_skip(*text, part.count < text->count ? part.count + 1 : part.count);
    return part;
}

enum status edits_read(struct str text, struct edits *ret, struct error *err)
{
    while (text.count > 0)
        TRY(read_one(next_part(&text), ret, err));
    return OK;
}

enum status edits_overlap(struct str text, struct edits *ret, struct error *err)
{
    static const enum kind kinds[] = {KIND_COMMUNICATION, KIND_COPY, KIND_INPUT};

    while (text.count > 0) {
        const char *comma = memchr(text.at, ',', text.count);
        struct str word = {text.at, comma == NULL ? text.count : (size_t)(comma - text.at)};
        bool known = false;

        for (size_t i = 0; i < COUNT(kinds); i++) {
            if (str_equal(word, str_of(kind_word(kinds[i]))))
                known = ret->overlap[kinds[i]] = true;
        }
        if (!known)
            return fail(err, ERR_INVALID,
                        "overlap takes communication, copy or input, not \"%.*s\"", STR_ARG(word));
        text = str_skip(text, comma == NULL ? word.count : word.count + 1);
    }
    return OK;
}

void edits_none(struct edits *ret)
{
    *ret = (struct edits){0};
    for (int kind = 0; kind < KIND_COUNT; kind++)
        ret->kinds[kind] = 1;
}
