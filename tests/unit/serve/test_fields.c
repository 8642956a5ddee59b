/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that is one thing, as fields: every number exact, every name told, nothing that
 * acts. */
#include "serve/answer/fields.h"

#include "check.h"
#include "serve/answer/table_out.h"

static const char answer[] =
    "{\"run\":{\"id\":\"r7\"},\"start_ps\":9223372036854775807,\"args\":["
    "{\"name\":\"n\\u0022|<\",\"value\":18446744073709551615},{\"name\":\"=1+1\",\"value\":-5}],"
    "\"rate\":0.1,\"huge\":1e300,\"whole\":true,\"op\":null,\"notes\":[],"
    "\"dur_ps\":54100000000,\"busy_share\":0.61,\"file_bytes\":43200000}";

static void check_text(const char *what, const char *json, bool csv, const char *want)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct table table;
    struct text out = {0};

    CHECK_OK(what, fields_table(str_of(json), !csv, arena, &table, &err), &err);
    if (csv)
        table_csv(&out, &table);
    else
        table_markdown(&out, &table);
    CHECK_STR(what, text_str(&out), want);
    text_free(&out);
    arena_destroy(arena);
}

static void says_the_same(void **state)
{
    (void)state;
    check_text("CSV", answer, true,
               "field,value\r\n"
               "run.id,r7\r\n"
               "start_ps,9223372036854775807\r\n"
               "args[0].name,\"n\"\"|<\"\r\n"
               "args[0].value,18446744073709551615\r\n"
               "args[1].name,'=1+1\r\n"
               "args[1].value,-5\r\n"
               "rate,0.1\r\n"
               "huge,1e+300\r\n"
               "whole,true\r\n"
               "op,\r\n"
               "notes,\r\n"
               "dur_ps,54100000000\r\n"
               "busy_share,0.61\r\n"
               "file_bytes,43200000\r\n");
    check_text("Markdown",
               "{\"args\":[{\"name\":\"n|<\",\"value\":18446744073709551615}],"
               "\"dur_ps\":54100000000,\"busy_share\":0.61,\"file_bytes\":43200000,\"op\":null}",
               false,
               "| field | value |\n| --- | --- |\n"
               "| args\\[0\\].name | n\\|&lt; |\n"
               "| args\\[0\\].value | 18446744073709551615 |\n"
               "| dur\\_ps | 54.1 ms |\n"
               "| busy\\_share | 61 % |\n"
               "| file\\_bytes | 41.2 MiB |\n"
               "| op | – |\n");
    check_text("nothing", "{}", true, "field,value\r\n");
}

static void what_is_no_object(void **state)
{
    const char *const rows[] = {"", "[1]", "7", "{\"a\":"};
    struct arena *arena = arena_create();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct table table;

        CHECK_INT(rows[i], fields_table(str_of(rows[i]), false, arena, &table, &err), ERR_FORMAT);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_the_same),
                                       cmocka_unit_test(what_is_no_object)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
