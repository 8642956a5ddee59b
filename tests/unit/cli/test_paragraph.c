/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences cut into lines. */
#include "check.h"
#include "cli/paragraph.h"

static void layout(void **state)
{
    (void)state;
    const struct {
        const char *what, *text;
        uint32_t indent, width;
        const char *want;
    } rows[] = {
        {"no terminal: one line", " 1  one two three four five six", 4, 0,
         " 1  one two three four five six\n"},
        {"between words, and indented", " 1  one two three four five six", 4, 24,
         " 1  one two three four\n    five six\n"},
        {"a line may be full", "aaaaaaaaaa bbbbbbbbb cccc", 0, 20, "aaaaaaaaaa bbbbbbbbb\ncccc\n"},
        {"code points count, not bytes", "µµµµµµµµµµ µµµµµµµµµ cccc", 0, 20,
         "µµµµµµµµµµ µµµµµµµµµ\ncccc\n"},
        {"a long word has a line of its own", "aa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cc", 0, 20,
         "aa\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\ncc\n"},
        {"a terminal too narrow for it", "   -> one two three four", 7, 12,
         "   -> one two three four\n"},
        {"nothing", "", 4, 80, "\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text out = {0};

        paragraph_layout(str_of(rows[i].text), rows[i].indent, rows[i].width, &out);
        CHECK_STR(rows[i].what, text_str(&out), rows[i].want);
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
