/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the words of a search into terms. */
#include "serve/routes/search/search_terms.h"

#include <ctype.h>
#include <stdlib.h>

static struct str in_small_letters(struct arena *arena, struct str text)
{
    char *copy = str_c(arena, text);

    for (size_t i = 0; i < text.count; i++)
        copy[i] = ascii_lower(copy[i]);
    return (struct str){.at = copy, .count = text.count};
}

/* The next word up to a space; quotes hold spaces, and are left out. False: there is none. */
static bool next_word(struct str *rest, struct arena *arena, struct str *ret)
{
    size_t at = 0, count = 0;
    bool quoted = false;

    while (at < rest->count && rest->at[at] == ' ')
        at++;
    if (at == rest->count)
        return false;

    char *word = arena_array(arena, char, rest->count - at + 1);

    for (; at < rest->count && (quoted || rest->at[at] != ' '); at++) {
        if (rest->at[at] == '"')
            quoted = !quoted;
        else
            word[count++] = rest->at[at];
    }
    *rest = str_skip(*rest, at);
    *ret = (struct str){.at = word, .count = count};
    return true;
}

static struct {
    const char *suffix;
    double ps;
} const units[] = {{"ps", 1},   {"ns", 1e3},        {"us", 1e6}, {"\xc2\xb5s", 1e6},
                   {"ms", 1e9}, {"\xce\xbcs", 1e6}, {"s", 1e12}};

/* "1.5ms" -> 1 500 000 000 */
static bool read_time(struct str text, int64_t *ret_ps)
{
    char number[32], *end;

    for (size_t i = 0; i < COUNT(units); i++) {
        struct str suffix = str_of(units[i].suffix);
        size_t count = text.count - suffix.count;

        if (!str_ends(text, suffix) || count == 0 || count >= sizeof number ||
            !isdigit((unsigned char)text.at[0]) || !isdigit((unsigned char)text.at[count - 1]))
            continue;
        memcpy(number, text.at, count);
        number[count] = '\0';

        double ps = strtod(number, &end) * units[i].ps;

        if (*end != '\0' || !(ps < 9.2e18))
            return false;
        *ret_ps = (int64_t)(ps + 0.5);
        return true;
    }
    return false;
}

/* ">1ms", ">=1ms", "<20us", "<=20us" */
static enum status read_duration(struct str bound, struct search_terms *terms, struct error *err)
{
    bool least = bound.at[0] == '>', equal = bound.count > 1 && bound.at[1] == '=';
    struct str text = str_skip(bound, equal ? 2 : 1);
    int64_t ps;

    if (!read_time(text, &ps))
        return fail(err, ERR_INVALID,
                    "q: a duration is a number with a unit, such as dur>1.5ms; \"%.*s\" is not",
                    STR_ARG(text));
    if (least)
        terms->min_dur_ps = equal ? ps : ps + 1;
    else
        terms->max_dur_ps = equal ? ps : ps - 1;
    return OK;
}

static bool read_prefixed(struct str word, struct arena *arena, struct search_terms *terms)
{
    const struct {
        struct str prefix;
        struct str *at;
        bool is_whole;
    } texts[] = {
        {STR("name:"), &terms->name, false},     {STR("track:"), &terms->track, false},
        {STR("host:"), &terms->host, false},     {STR("scope:"), &terms->scope, false},
        {STR("source:"), &terms->source, false}, {STR("arg:"), &terms->arg_text, false},
        {STR("is:"), &terms->whole, true},       {STR("op:"), &terms->op, true},
        {STR("module:"), &terms->module, true},
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!str_starts(word, texts[i].prefix) || word.count == texts[i].prefix.count)
            continue;
        struct str text = str_skip(word, texts[i].prefix.count);

        *texts[i].at = texts[i].is_whole ? text : in_small_letters(arena, text);
        return true;
    }
    return false;
}

/* "hlo_op=dot.3", "arg.bytes=4096" */
static enum status read_arg(struct str word, size_t equals, struct search_terms *terms,
                            struct error *err)
{
    struct search_arg arg = {.key = {.at = word.at, .count = equals},
                             .value = str_skip(word, equals + 1)};

    if (terms->arg_count == SEARCH_ARGS_MAX)
        return fail(err, ERR_INVALID, "q: at most %d args can be searched at once",
                    SEARCH_ARGS_MAX);
    if (str_starts(arg.key, STR("arg.")) && arg.key.count > 4)
        arg.key = str_skip(arg.key, 4);
    terms->args[terms->arg_count++] = arg;
    return OK;
}

enum status search_terms_read(struct str q, struct arena *arena, struct search_terms *ret,
                              struct error *err)
{
    struct str word;
    bool any = false;

    *ret = (struct search_terms){.max_dur_ps = INT64_MAX};
    for (; next_word(&q, arena, &word); any = true) {
        const char *equals = memchr(word.at, '=', word.count);

        if (word.count > 4 && (str_starts(word, STR("dur>")) || str_starts(word, STR("dur<"))))
            TRY(read_duration(str_skip(word, 3), ret, err));
        else if (read_prefixed(word, arena, ret))
            continue;
        else if (equals != NULL && equals != word.at)
            TRY(read_arg(word, (size_t)(equals - word.at), ret, err));
        else if (word.count > 0)
            ret->name =
                ret->name.count == 0
                    ? in_small_letters(arena, word)
                    : in_small_letters(
                          arena, str_format(arena, "%.*s %.*s", STR_ARG(ret->name), STR_ARG(word)));
    }
    return any ? OK : fail(err, ERR_INVALID, "q holds no word");
}
