/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of a search, and those that are refused. */
#include "check.h"

#include "serve/routes/search/search_terms.h"

static struct str shown(struct arena *arena, const struct search_terms *terms)
{
    struct str args = STR("");

    for (uint32_t i = 0; i < terms->arg_count; i++)
        args = str_format(arena, "%.*s[%.*s=%.*s]", STR_ARG(args), STR_ARG(terms->args[i].key),
                          STR_ARG(terms->args[i].value));
    if (terms->arg_text.count > 0)
        args = str_format(arena, "%.*s[*%.*s*]", STR_ARG(args), STR_ARG(terms->arg_text));
    if (terms->whole.count + terms->op.count + terms->module.count > 0)
        args = str_format(arena, "%.*s{%.*s|%.*s|%.*s}", STR_ARG(args), STR_ARG(terms->whole),
                          STR_ARG(terms->op), STR_ARG(terms->module));
    return str_format(arena, "%.*s|%.*s|%.*s|%.*s|%.*s|%lld|%lld|%.*s", STR_ARG(terms->name),
                      STR_ARG(terms->track), STR_ARG(terms->host), STR_ARG(terms->scope),
                      STR_ARG(terms->source), (long long)terms->min_dur_ps,
                      terms->max_dur_ps == INT64_MAX ? -1LL : (long long)terms->max_dur_ps,
                      STR_ARG(args));
}

static void read(void **state)
{
    (void)state;
    const struct {
        const char *what, *q, *terms; /* name|track|host|scope|source|least|most|args */
    } rows[] = {
        {"a word", "Fusion", "fusion|||||0|-1|"},
        {"words are one text", "  train   step ", "train step|||||0|-1|"},
        {"a file is a word", "array.py:615 _value", "array.py:615 _value|||||0|-1|"},
        {"quotes keep spaces", "\"a  b\" c", "a  b c|||||0|-1|"},
        {"a quote that stays open", "\"a  b", "a  b|||||0|-1|"},
        {"a sign in quotes is none of ours", "= x", "= x|||||0|-1|"},
        {"an arg", "arg.run_id=7", "|||||0|-1|[run_id=7]"},
        {"an arg of no value", "hlo_op=", "|||||0|-1|[hlo_op=]"},
        {"an arg of two words", "long_name=\"two words\"", "|||||0|-1|[long_name=two words]"},
        {"an arg keeps its capitals", "Key=Value", "|||||0|-1|[Key=Value]"},
        {"a part of any arg", "arg:Ring", "|||||0|-1|[*ring*]"},
        {"longer than", "dur>1.5ms", "|||||1500000001|-1|"},
        {"at least, less than", "dur>=2us dur<1s", "|||||2000000|999999999999|"},
        {"at most", "dur<=0ps", "|||||0|0|"},
        {"all", "dot track:Stream host:A scope:MLP source:model.py:88 name:x k=v",
         "x|stream|a|mlp|model.py:88|0|-1|[k=v]"},
        {"an op of a module, as tables print them", "op:Dot.62 module:jit_f(2)",
         "|||||0|-1|{|Dot.62|jit_f(2)}"},
        {"a whole name", "is:\"end: a=b\"", "|||||0|-1|{end: a=b||}"},
        {"a sign without a word", "track:", "track:|||||0|-1|"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct search_terms terms;

        CHECK_INT(rows[i].what, search_terms_read(str_of(rows[i].q), arena, &terms, &err), OK);
        CHECK_STR(rows[i].what, shown(arena, &terms), rows[i].terms);
    }
    arena_destroy(arena);
}

static void refused(void **state)
{
    (void)state;
    const char *const rows[] = {" ",       "dur>ms",   "dur>1",
                                "dur>1h",  "dur<-1ms", "dur>1e400s",
                                "dur>0x1", "dur>1.ms", "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9"};
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct search_terms terms;

        CHECK_INT(rows[i], search_terms_read(str_of(rows[i]), arena, &terms, &err), ERR_INVALID);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
