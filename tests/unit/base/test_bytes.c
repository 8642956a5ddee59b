/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, comparisons, UTF-8 repair and growing texts. */
#include "check.h"

#include <stdlib.h>

#include "base/bytes.h"

static void numbers(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool i64, u64;
        int64_t value;
    } rows[] = {
        {"0", true, true, 0},
        {"42", true, true, 42},
        {"-1", true, false, -1},
        {"9223372036854775807", true, true, INT64_MAX},
        {"9223372036854775808", false, true, INT64_MIN},
        {"-9223372036854775808", true, false, INT64_MIN},
        {"-9223372036854775809", false, false, 0},
        {"18446744073709551615", false, true, -1},
        {"18446744073709551616", false, false, 0},
        {"99999999999999999999999", false, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"+1", false, false, 0},
        {" 1", false, false, 0},
        {"1 ", false, false, 0},
        {"--1", false, false, 0},
        {"1.0", false, false, 0},
        {"0x10", false, false, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t i64 = 0;
        uint64_t u64 = 0;

        CHECK_INT(rows[i].text, str_to_i64(str_of(rows[i].text), &i64), rows[i].i64);
        CHECK_INT(rows[i].text, str_to_u64(str_of(rows[i].text), &u64), rows[i].u64);
        if (rows[i].i64)
            CHECK_INT(rows[i].text, i64, rows[i].value);
        if (rows[i].u64)
            CHECK_INT(rows[i].text, (int64_t)u64, rows[i].value);
    }
}

static void comparing(void **state)
{
    (void)state;
    const struct {
        const char *a, *b;
        int order;
        bool starts, ends, contains;
    } rows[] = {
        {"", "", 0, true, true, true},         {"a", "", 1, true, true, true},
        {"", "a", -1, false, false, false},    {"abc", "abd", -1, false, false, false},
        {"abc", "ab", 1, true, false, true},   {"abc", "bc", -1, false, true, true},
        {"abc", "b", -1, false, false, true},  {"abc", "abc", 0, true, true, true},
        {"\xff", "a", 1, false, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str a = str_of(rows[i].a), b = str_of(rows[i].b);
        int order = str_compare(a, b);

        CHECK_INT(rows[i].a, (order > 0) - (order < 0), rows[i].order);
        CHECK_INT(rows[i].a, str_equal(a, b), rows[i].order == 0);
        CHECK_INT(rows[i].a, str_starts(a, b), rows[i].starts);
        CHECK_INT(rows[i].a, str_ends(a, b), rows[i].ends);
        CHECK_INT(rows[i].a, str_contains(a, b), rows[i].contains);
    }
    CHECK_STR("skip", str_skip(STR("abc"), 1), "bc");
    CHECK_STR("skip all", str_skip(STR("abc"), 9), "");
    CHECK_STR("no text", str_of(NULL), "");
}

static void clean_utf8(void **state)
{
    (void)state;
#define BAD "\xEF\xBF\xBD"
    const struct {
        const char *what;
        struct str text, want;
    } rows[] = {
        {"nothing", STR(""), STR("")},
        {"ascii", STR("fusion.3"), STR("fusion.3")},
        {"two, three, four bytes", STR("é€😀"), STR("é€😀")},
        {"a NUL", STR("a\0b"), STR("a\0b")},
        {"stray continuation", STR("a\x80z"), STR("a" BAD "z")},
        {"cut at the end", STR("a\xE2\x82"), STR("a" BAD BAD)},
        {"cut in the middle", STR("\xE2\x82z"), STR(BAD BAD "z")},
        {"overlong slash", STR("\xC0\xAF"), STR(BAD BAD)},
        {"overlong three", STR("\xE0\x80\xAF"), STR(BAD BAD BAD)},
        {"surrogate", STR("\xED\xA0\x80"), STR(BAD BAD BAD)},
        {"beyond U+10FFFF", STR("\xF4\x90\x80\x80"), STR(BAD BAD BAD BAD)},
        {"last character", STR("\xF4\x8F\xBF\xBF"), STR("\xF4\x8F\xBF\xBF")},
        {"0xFF", STR("\xFF"), STR(BAD)},
        {"bad before good", STR("\xFFé\xFE"), STR(BAD "é" BAD)},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        /* Of its own, so that reading behind its end is seen. */
        struct str copy = {.at = memory_resize(NULL, rows[i].text.count, 1),
                           .count = rows[i].text.count};

        memcpy((char *)(uintptr_t)copy.at, rows[i].text.at, copy.count);
        CHECK(rows[i].what, str_equal(str_utf8(arena, copy), rows[i].want));
        free((char *)(uintptr_t)copy.at);
        arena_destroy(arena);
    }
}

static void growing_text(void **state)
{
    (void)state;
    struct text text = {0};
    struct arena *arena = arena_create();

    CHECK_STR("nothing yet", text_str(&text), "");
    text_put(&text, "", 0);
    CHECK_STR("nothing put", str_of(text.at), "");
    for (int i = 0; i < 5000; i++)
        text_putf(&text, "%d,", i);
    text_putf(&text, "%s", "");
    text_puts(&text, "end");
    CHECK_INT("length", text.count, 10 + 90 * 2 + 900 * 3 + 4000 * 4 + 5000 + 3);
    CHECK("ends", str_ends(text_str(&text), STR("4998,4999,end")));
    CHECK_INT("NUL", text.at[text.count], 0);
    CHECK_STR("format", str_format(arena, "%d of %s", 3, "ab"), "3 of ab");
    CHECK_STR("format nothing", str_format(arena, "%s", ""), "");
    CHECK_INT("c copy", strlen(str_c(arena, text_str(&text))), text.count);
    text_free(&text);
    CHECK_INT("freed", text.count, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(comparing),
        cmocka_unit_test(clean_utf8),
        cmocka_unit_test(growing_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
