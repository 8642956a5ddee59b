/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines that are understood, and the sentences of those that are not. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "cli/cli.h"

enum { WORDS_MAX = 12 };

static void understood(void **state)
{
    (void)state;
    const struct {
        const char *what, *words[WORDS_MAX], *root, *run, *query, *format;
    } rows[] = {
        {"a name in the default directory", {"top", "step_1000"}, ".", "step_1000", "", ""},
        {"a name in a given directory",
         {"top", "step_1000", "--profile-dir", "dir"},
         "dir",
         "step_1000",
         "",
         ""},
        {"a path is the newest run there", {"top", "."}, ".", "latest", "", ""},
        {"a path that is there, but a directory is given",
         {"top", ".", "--logdir", "dir"},
         "dir",
         ".",
         "",
         ""},
        {"dashes for underscores",
         {"top", "x", "--by", "scope", "--min-self-ps=5"},
         ".",
         "x",
         "by=scope&min_self_ps=5",
         ""},
        {"times with units",
         {"slices", "x", "--start", "1.5ms", "--end", "2s"},
         ".",
         "x",
         "start_ps=1500000000&end_ps=2000000000000",
         ""},
        {"a time of the endpoint",
         {"top", "x", "--start-ps", "3us"},
         ".",
         "x",
         "start_ps=3000000",
         ""},
        {"texts are encoded", {"search", "x", "a b&c"}, ".", "x", "q=a%20b%26c", ""},
        {"so are flags", {"top", "x", "--a&b\x9c=c"}, ".", "x", "a%26b%9C=c", ""},
        {"format and limit",
         {"steps", "x", "--format", "csv", "--limit", "3"},
         ".",
         "x",
         "limit=3",
         "csv"},
        {"two runs by name", {"diff", "x", "y@step=3"}, ".", "", "a=x&b=y%40step%3D3", ""},
        {"each path is a profile directory of its own",
         {"diff", "/usr/bin", "/usr/lib/@step=3", "--by", "scope"},
         "/usr/bin /usr/lib",
         "",
         "by=scope&a=%2Fusr%2Fbin&b=%2Fusr%2Flib%40step%3D3",
         ""},
        {"a path against itself",
         {"diff", "/usr/lib", "/usr/lib"},
         "/usr/lib",
         "",
         "a=%2Fusr%2Flib&b=%2Fusr%2Flib",
         ""},
        {"a file against a name",
         {"compare", "/etc/passwd", "x"},
         "/etc/passwd .",
         "",
         "runs=%2Fetc%2Fpasswd,x",
         ""},
        {"several of a baseline",
         {"check", "/usr/bin", "--baseline", "/usr/lib,/etc/passwd"},
         "/usr/bin /usr/lib /etc/passwd",
         "",
         "run=%2Fusr%2Fbin&baseline=%2Fusr%2Flib,%2Fetc%2Fpasswd",
         ""},
        {"several profile directories",
         {"top", "x", "--profile-dir", "a", "--logdir=b"},
         "a b",
         "x",
         "",
         ""},
        {"a path against a name beside it",
         {"check", "/proc/self/fd", "--baseline", "ns", "--max-regress", "3%"},
         "/proc/self",
         "",
         "max_regress=3%25&run=fd&baseline=ns",
         ""},
        {"a limit needs no other run",
         {"check", "x", "--max", "step_time=1ms", "--noisy-exit=7"},
         ".",
         "x",
         "max=step_time%3D1ms",
         ""},
        {"two names to check", {"check", "x", "--baseline=y"}, ".", "", "run=x&baseline=y", ""},
        {"a list of another directory", {"list", "here"}, "here", "", "", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct cli_call call;
        int argc = 0;

        while (argc < WORDS_MAX && rows[i].words[argc] != NULL)
            argc++;
        CHECK_OK(rows[i].what,
                 cli_parse(argc, (char **)(uintptr_t)rows[i].words, ".", arena, &call, &err), &err);
        struct text roots = {0};
        for (uint32_t k = 0; k < call.root_count; k++)
            text_putf(&roots, "%s%.*s", k > 0 ? " " : "", STR_ARG(call.roots[k]));
        CHECK_STR(rows[i].what, text_str(&roots), rows[i].root);
        text_free(&roots);
        CHECK_STR(rows[i].what, call.run, rows[i].run);
        CHECK_STR(rows[i].what, call.query, rows[i].query);
        CHECK_STR(rows[i].what, call.format, rows[i].format);
        arena_destroy(arena);
    }
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *what, *words[WORDS_MAX], *root, *part;
    } rows[] = {
        {"no run", {"top"}, ".", "needs RUN"},
        {"no exit code", {"check", "x", "--noisy-exit", "256"}, ".", "an exit code is 0 to 255"},
        {"one run of two", {"diff", "x"}, ".", "needs A B"},
        {"no query", {"search", "x"}, ".", "needs RUN QUERY"},
        {"one too many", {"top", "x", "y"}, ".", "\"y\" is too many"},
        {"a flag without its value", {"top", "x", "--by"}, ".", "needs a value"},
        {"a short flag", {"top", "x", "-k"}, ".", "no flag -k"},
        {"no time", {"slices", "x", "--start", "soon"}, ".", "takes a time"},
        {"a time beyond all", {"slices", "x", "--start", "1e300s"}, ".", "takes a time"},
        {"a default that is not there",
         {"top", "x"},
         "/nowhere/at/all",
         "no /nowhere/at/all in which"},
        {"a default that is not there",
         {"top", "x"},
         "/nowhere/at/all",
         "no /nowhere/at/all in which"},
        {"nowhere to look", {"top", "x"}, NULL, "no ./profiles in which"},
        {"no shell", {"completion"}, ".", "needs one of"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct cli_call call;
        int argc = 0;

        while (argc < WORDS_MAX && rows[i].words[argc] != NULL)
            argc++;
        CHECK(rows[i].what, cli_parse(argc, (char **)(uintptr_t)rows[i].words, rows[i].root, arena,
                                      &call, &err) != OK);
        CHECK_HAS(rows[i].what, err.message, rows[i].part);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(understood), cmocka_unit_test(refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
