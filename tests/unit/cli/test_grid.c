/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown tables laid out for a terminal. */
#include "check.h"
#include "cli/grid.h"

static void layout(void **state)
{
    (void)state;
    const struct {
        const char *what, *markdown;
        uint32_t width;
        const char *want;
    } rows[] = {
        {"numbers right, texts left", "| name | count |\n|---|---:|\n| dot.63 | 120 |\n| a | 7 |\n",
         0, "name    count\ndot.63    120\na           7\n"},
        {"a line below loses its escapes", "| a |\n|---|\n| x |\n\n- host\\_tracer\n", 0,
         "a\nx\n\n- host_tracer\n"},
        {"an escaped bar is text", "| a | b |\n|---|---|\n| x\\|y | z |\n", 0, "a    b\nx|y  z\n"},
        {"entities are characters", "| a |\n|---|\n| &lt;lambda&gt; |\n", 0, "a\n<lambda>\n"},
        {"code points count, not bytes", "| µ | b |\n|---|---|\n| µs | 1 |\n", 0, "µ   b\nµs  1\n"},
        {"other lines pass", "5 runs\n\n| a |\n|---|\n| b |\nend\n", 0, "5 runs\n\na\nb\nend\n"},
        {"a missing cell is empty", "| a | b |\n|---|---|\n| x |\n", 0, "a  b\nx  \n"},
        {"cut in the middle to fit",
         "| name | n |\n|---|---:|\n| abcdefghijklmnopqrstuvwxyz | 1 |\n", 20,
         "name               n\nabcdefgh…stuvwxyz  1\n"},
        {"never cut below its least", "| name |\n|---|\n| abcdefghijklmnopqrstuvwxyz |\n", 4,
         "name\nabcdefg…stuvwxyz\n"},
        {"the last columns are left out first, and named",
         "| name | a | b | c | d | e | f |\n|---|---:|---:|---:|---:|---:|---:|\n"
         "| dot.63 | 10000 | 20000 | 30000 | 40000 | 50000 | 60000 |\n",
         36,
         "name        a      b      c      d\n"
         "dot.63  10000  20000  30000  40000\nnot shown: e, f (--wide)\n"},
        {"then texts are cut, and further columns left out",
         "| name | a | b | c |\n|---|---:|---:|---:|\n"
         "| abcdefghijklmnopqrstuvwxyz | 10000 | 20000 | 30000 |\n",
         30,
         "name                  a      b\n"
         "abcdefg…stuvwxyz  10000  20000\nnot shown: c (--wide)\n"},
        {"nothing", "", 0, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text out = {0};

        grid_layout(str_of(rows[i].markdown), (struct grid_style){.width = rows[i].width}, &out);
        CHECK_STR(rows[i].what, text_str(&out), rows[i].want);
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
