/* SPDX-License-Identifier: Apache-2.0 */
/* Query strings decoded, checked, and refused with the nearest name. */
#include "check.h"

#include "base/distance.h"
#include "serve/answer/query.h"

static const struct param declared[] = {
    {.name = "run", .kind = PARAM_TEXT, .max = 8},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = 10000},
    {.name = "format", .kind = PARAM_WORD, .words = "json|csv|md"},
    {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = 1000},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "at", .kind = PARAM_INTEGER, .min = INT64_MIN, .max = INT64_MAX},
    {.name = NULL},
};

static void checked(void **state)
{
    (void)state;
    const struct {
        const char *what, *query;
        const char *message; /* NULL: it is good */
    } rows[] = {
        {"nothing", "", NULL},
        {"only an ampersand", "&&", NULL},
        {"all good", "run=a&limit=1&format=md&device=0,7&step=1,3-5&host=a,b", NULL},
        {"a text may be empty", "run=", NULL},
        {"the steps that count", "step=counted", NULL},
        {"... alone", "step=counted,3", "or \"last\" for the last step"},
        {"the largest number", "at=9223372036854775807", NULL},
        {"the smallest number", "at=-9223372036854775808", NULL},
        {"one more", "at=9223372036854775808", "whole number"},
        {"unknown", "limt=5", "the nearest is \"limit\""},
        {"unknown, capital", "Run=a", "the nearest is \"run\""},
        {"no name", "=5", "there is no parameter \"\""},
        {"twice", "run=a&run=a", "given twice"},
        {"zero", "limit=0", "limit is 0; it must be from 1 to 10000"},
        {"too many", "limit=10001", "it must be from 1 to 10000"},
        {"negative", "limit=-1", "it must be from 1 to 10000"},
        {"empty number", "limit=", "it must be a whole number from 1 to 10000"},
        {"float", "limit=1.5", "whole number"},
        {"exponent", "limit=1e3", "whole number"},
        {"hexadecimal", "limit=0x10", "whole number"},
        {"spaces", "limit=+5", "whole number"},
        {"unit", "limit=5ms", "whole number"},
        {"word", "format=xml", "it must be one of json|csv|md"},
        {"part of a word", "format=js", "it must be one of"},
        {"two words", "format=json|csv", "it must be one of"},
        {"empty word", "format=", "it must be one of"},
        {"a device is no number", "device=0,gpu", "device is \"gpu\""},
        {"a range backwards", "step=5-3", "step holds \"5-3\""},
        {"a range, cut", "step=5-", "step holds \"5-\""},
        {"a range of words", "step=a-b", "step holds"},
        {"long text", "run=123456789", "longer than 8 bytes"},
        {"no escape", "run=%zz", "without two hex digits"},
        {"half an escape", "run=%4", "without two hex digits"},
        {"NUL", "run=%00", "NUL"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct query query;
        enum status status = query_parse(str_of(rows[i].query), arena, &query, &err);

        if (status == OK)
            status = query_check(&query, declared, &err);
        CHECK_INT(rows[i].what, status, rows[i].message == NULL ? OK : ERR_INVALID);
        if (rows[i].message != NULL)
            CHECK_HAS(rows[i].what, err.message, rows[i].message);
    }
    arena_destroy(arena);
}

static void decoded(void **state)
{
    (void)state;
    const struct {
        const char *query, *want;
    } rows[] = {
        {"run=a+b", "a b"}, {"run=a%2Bb", "a+b"}, {"run=%c3%A4", "\xc3\xa4"},
        {"run=a=b", "a=b"}, {"%72un=x", "x"},     {"limit=1&run=a%26", "a&"},
        {"run", ""},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct query query;

        CHECK_OK(rows[i].query, query_parse(str_of(rows[i].query), arena, &query, &err), &err);
        const struct str *value = query_find(&query, "run");
        CHECK(rows[i].query, value != NULL);
        CHECK_STR(rows[i].query, *value, rows[i].want);
    }
    arena_destroy(arena);
}

static void required(void **state)
{
    (void)state;
    const struct param params[] = {{.name = "run", .kind = PARAM_TEXT, .required = true},
                                   {.name = NULL}};
    const char *const bad[] = {"", "run=", "run"};
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct error err = {0};
        struct query query;

        CHECK_OK(bad[i], query_parse(str_of(bad[i]), arena, &query, &err), &err);
        CHECK_INT(bad[i], query_check(&query, params, &err), ERR_INVALID);
        CHECK_HAS(bad[i], err.message, "run is missing");
    }
    arena_destroy(arena);
}

static void distances(void **state)
{
    (void)state;
    const struct {
        const char *a, *b;
        unsigned want;
    } rows[] = {
        {"", "", 0},
        {"a", "", 1},
        {"limit", "limit", 0},
        {"limt", "limit", 1},
        {"kitten", "sitting", 3},
        {"ab", "ba", 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].a, edit_distance(str_of(rows[i].a), str_of(rows[i].b)), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked),
        cmocka_unit_test(decoded),
        cmocka_unit_test(required),
        cmocka_unit_test(distances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
