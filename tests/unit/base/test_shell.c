/* SPDX-License-Identifier: Apache-2.0 */
/* Names in lines for a shell; a shell itself says whether they stand for themselves. */
#include <stdio.h>

#include "base/shell.h"
#include "check.h"

static void names(void **state)
{
    (void)state;
    const struct {
        const char *name, *quoted, *word;
    } rows[] = {
        {"plain.pb", "'plain.pb'", "plain.pb"},
        {"/x/it's p", "'/x/it'\\''s p'", "'/x/it'\\''s p'"},
        {"$(reboot); \"a\" \\ *", "'$(reboot); \"a\" \\ *'", "'$(reboot); \"a\" \\ *'"},
        {"-rf", "'./-rf'", "./-rf"},
        {"- f", "'./- f'", "'./- f'"},
        {"a\nb", "$'a\\012b'", "$'a\\012b'"},
        {"\x1b[31m'\\7", "$'\\033[31m\\047\\1347'", "$'\\033[31m\\047\\1347'"},
        {"\xff"
         "8",
         "$'\\3778'", "$'\\3778'"},
        {"a`id`", "$'a\\140id\\140'", "$'a\\140id\\140'"},
        {"\xc3\xa9", "'\xc3\xa9'", "'\xc3\xa9'"},
        {"", "''", "''"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_STR(rows[i].name, shell_quoted(arena, str_of(rows[i].name)), rows[i].quoted);
        CHECK_STR(rows[i].name, shell_word(arena, str_of(rows[i].name)), rows[i].word);
    }
    CHECK_STR("no file", shell_argument(arena, STR("-k'")), "'-k'\\'''");
    arena_destroy(arena);
}

/* Every byte but NUL, with its neighbours. */
static void read_by_a_shell(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char text[256], read[300] = "";

    for (int byte = 1; byte < 256; byte++)
        text[byte - 1] = (char)byte;
    text[255] = '\0';
    struct str line = str_format(arena, "bash <<'end of line'\nprintf %%s %.*s\nend of line\n",
                                 STR_ARG(shell_argument(arena, str_of(text))));
    FILE *shell = popen(str_c(arena, line), "r");
    assert_non_null(shell);
    size_t count = fread(read, 1, sizeof read, shell);
    assert_int_equal(pclose(shell), 0);
    CHECK_INT("bytes", count, 255);
    assert_memory_equal(read, text, 255);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(read_by_a_shell),
    };

    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
