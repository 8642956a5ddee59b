/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of an endpoint in the words of the command line. */
#include "check.h"
#include "cli/flag_words.h"

static void rows(void **state)
{
    (void)state;
    const struct {
        const char *verb, *detail, *want;
    } given[] = {
        {"top", "limit is 0; it must be from 1 to 10000",
         "--limit is 0; it must be from 1 to 10000"},
        {"top", "step holds \"1-\"; it takes numbers", "--step holds \"1-\"; it takes numbers"},
        {"check", "max_regress=5x: it must be a share", "--max-regress 5x: it must be a share"},
        {"memory", "by= is for view=peak pprof", "--by is for --view peak pprof"},
        {"top", "there is no parameter \"nme\" here; the nearest is \"name\"",
         "there is no flag --nme here; the nearest is --name"},
        {"top", "there is no run \"name\"; the nearest is \"name_1\"",
         "there is no run \"name\"; the nearest is \"name_1\""},
        {"top", "run \"a\" has no host \"x\"; the first is \"step is\"",
         "run \"a\" has no host \"x\"; the first is \"step is\""},
        {"top", "the parameter \"open", "the parameter \"open"},
        {"top", "", ""},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(given); i++) {
        const struct verb *verb = cli_find(given[i].verb);

        CHECK(given[i].verb, verb != NULL);
        CHECK_STR(given[i].detail, flag_words(arena, verb, str_of(given[i].detail)), given[i].want);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
