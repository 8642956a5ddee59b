/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of an endpoint in the words of the command line: parameters become flags.
 *
 *   limit is 0; it goes from 1 to 10000     ->  --limit is 0; ...
 *   by= is for view=peak                    ->  --by is for --view peak
 *   there is no parameter "nme" here; ...   ->  there is no flag --nme here; ...
 */
#include "cli/flag_words.h"

#include <ctype.h>

#include "cli/parameters.h"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const struct param *parameter_at(const struct verb *verb, struct str text)
{
    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        size_t count = strlen(param->name);

        if (str_starts(text, str_of(param->name)) &&
            (text.count == count || !is_word(text.at[count])))
            return param;
    }
    return NULL;
}

static void put_flag(struct text *out, struct str name)
{
    text_puts(out, "--");
    for (size_t i = 0; i < name.count; i++)
        text_put(out, name.at[i] == '_' ? "-" : &name.at[i], 1);
}

/* `"name"` behind `lead`: the bytes of both, and the name; 0: it is not there. */
static size_t quoted(struct str text, const char *lead, struct str *ret)
{
    size_t before = strlen(lead);

    if (!str_starts(text, str_of(lead)))
        return 0;
    const char *end = memchr(text.at + before, '"', text.count - before);
    if (end == NULL)
        return 0;
    *ret = (struct str){text.at + before, (size_t)(end - text.at) - before};
    return before + ret->count + 1;
}

/* What stands at a word's begin, in other words; how many bytes that took, 0: none. */
static size_t put_other(struct text *out, const struct verb *verb, struct str text, bool first)
{
    struct str name;
    size_t taken = quoted(text, "parameter \"", &name);

    if (taken > 0) {
        text_puts(out, "flag ");
        put_flag(out, name);
        return taken;
    }
    taken = quoted(text, "nearest is \"", &name);
    if (taken > 0 && parameter_at(verb, name) != NULL) {
        text_puts(out, "nearest is ");
        put_flag(out, name);
        return taken;
    }
    const struct param *param = parameter_at(verb, text);
    if (param == NULL)
        return 0;
    struct str rest = str_skip(text, strlen(param->name));
    bool has_value = str_starts(rest, STR("="));
    if (!has_value &&
        !(first && (str_starts(rest, STR(" is ")) || str_starts(rest, STR(" holds ")))))
        return 0;
    put_flag(out, str_of(param->name));
    if (has_value && rest.count > 1 && rest.at[1] != ' ')
        text_puts(out, " ");
    return strlen(param->name) + has_value;
}

struct str flag_words(struct arena *arena, const struct verb *verb, struct str detail)
{
    struct text out = {0};
    size_t whole = detail.count;

    for (char before = ' '; detail.count > 0;) {
        size_t taken = is_word(before) ? 0 : put_other(&out, verb, detail, detail.count == whole);

        if (taken == 0) {
            text_put(&out, detail.at, 1);
            taken = 1;
        }
        before = detail.at[taken - 1];
        detail = str_skip(detail, taken);
    }
    struct str ret = str_copy(arena, text_str(&out));
    text_free(&out);
    return ret;
}
