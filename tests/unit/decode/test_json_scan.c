/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, escapes, numbers; and that a window's edge may fall anywhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "decode/json/json_number.h"
#include "decode/json/json_scan.h"

/* A copy with zeros behind it, as a window has. */
static struct json open_text(struct str text, char **ret_copy)
{
    char *copy = calloc(text.count + JSON_PADDING, 1);

    memcpy(copy, text.at, text.count);
    *ret_copy = copy;
    return (struct json){.at = copy, .end = copy + text.count};
}

static void values(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct str text;
        enum json_state state;
        enum json_kind kind;
        const char *raw;
    } rows[] = {
        {"a string", STR(" \"ab\" "), JSON_OK, JSON_STRING, "ab"},
        {"with an escaped quote", STR("\"a\\\"b\","), JSON_OK, JSON_STRING, "a\\\"b"},
        {"ends in a backslash pair", STR("\"a\\\\\","), JSON_OK, JSON_STRING, "a\\\\"},
        {"longer than a vector", STR("\"0123456789abcdefghij\","), JSON_OK, JSON_STRING,
         "0123456789abcdefghij"},
        {"an integer", STR("-12,"), JSON_OK, JSON_NUMBER, "-12"},
        {"a double", STR("1.5e-3}"), JSON_OK, JSON_NUMBER, "1.5e-3"},
        {"true", STR("true]"), JSON_OK, JSON_NAMED, "true"},
        {"an object", STR("{\"a\":[1,{}]},"), JSON_OK, JSON_OBJECT, "{\"a\":[1,{}]}"},
        {"brackets in a string", STR("[\"]}\"],"), JSON_OK, JSON_ARRAY, "[\"]}\"]"},
        {"blanks before", STR("\n\t\r                     7 "), JSON_OK, JSON_NUMBER, "7"},
        {"nothing", STR(""), JSON_MORE, JSON_NOTHING, ""},
        {"blanks only", STR("   "), JSON_MORE, JSON_NOTHING, ""},
        {"a string cut off", STR("\"abc"), JSON_MORE, JSON_NOTHING, ""},
        {"cut in an escape", STR("\"abc\\"), JSON_MORE, JSON_NOTHING, ""},
        {"a number may go on", STR("12"), JSON_MORE, JSON_NOTHING, ""},
        {"an object cut off", STR("{\"a\":[1,"), JSON_MORE, JSON_NOTHING, ""},
        {"cut in a string inside", STR("{\"a"), JSON_MORE, JSON_NOTHING, ""},
        {"wrong bracket", STR("[1}"), JSON_BAD, JSON_NOTHING, ""},
        {"no value", STR(",1"), JSON_BAD, JSON_NOTHING, ""},
        {"NUL between", STR("\0 1"), JSON_BAD, JSON_NOTHING, ""},
        {"NUL in an array", STR("[1\0]"), JSON_BAD, JSON_NOTHING, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *copy;
        struct json json = open_text(rows[i].text, &copy);
        struct json_value value = json_value(&json);

        CHECK_INT(rows[i].what, json.state, rows[i].state);
        CHECK_INT(rows[i].what, value.kind, rows[i].kind);
        CHECK_STR(rows[i].what, value.text, rows[i].raw);
        free(copy);
    }
}

static void nul_in_a_string(void **state)
{
    (void)state;
    char *copy;
    struct json json = open_text(STR("\"a\0b\","), &copy);
    struct json_value value = json_value(&json);

    CHECK_INT("kept", value.text.count, 3);
    free(copy);
}

static void nesting(void **state)
{
    (void)state;
    char deep[2 * JSON_DEPTH_MAX + 2];
    char *copy;

    memset(deep, '[', JSON_DEPTH_MAX);
    memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    struct json json = open_text((struct str){deep, 2 * JSON_DEPTH_MAX}, &copy);

    CHECK_INT("512 deep", json_value(&json).kind, JSON_ARRAY);
    free(copy);
    memset(deep, '[', sizeof deep);
    json = open_text((struct str){deep, sizeof deep}, &copy);
    json_value(&json);
    CHECK_INT("without end", json.state, JSON_BAD);
    CHECK_HAS("says so", json.what, "deeper than 512");
    free(copy);
}

static void unescape(void **state)
{
    (void)state;
    const struct {
        const char *what, *raw, *want;
    } rows[] = {
        {"plain", "abc", "abc"},
        {"the short ones", "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"one byte", "\\u0041", "A"},
        {"two bytes", "\\u00e9", "\xc3\xa9"},
        {"three bytes", "\\u20AC!", "\xe2\x82\xac!"},
        {"a pair", "\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
        {"a high half alone", "\\ud83dx", "\xef\xbf\xbdx"},
        {"a low half alone", "\\ude00", "\xef\xbf\xbd"},
        {"a high half, no low one", "\\ud83d\\u0041",
         "\xef\xbf\xbd"
         "A"},
        {"four digits are missing", "\\u12", "\\u12"},
        {"no digits", "\\uzzzz", "\\uzzzz"},
        {"unknown", "\\x41", "\\x41"},
        {"invalid UTF-8 is kept", "\xff\xfe", "\xff\xfe"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char to[64];
        struct str raw = str_of(rows[i].raw);

        CHECK_STR(rows[i].what, ((struct str){to, json_unescape(raw, to)}), rows[i].want);
    }
}

static void times(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool fits;
        int64_t whole;
        int32_t ps;
    } rows[] = {
        {"0", true, 0, 0},
        {"12", true, 12, 0},
        {"12.5", true, 12, 500000},
        {"1211905.757553", true, 1211905, 757553},
        {"4.3961589999999999", true, 4, 396159},
        {"4.4873950000000002", true, 4, 487395},
        {"0.0000005", true, 0, 1},
        {"0.0000004999", true, 0, 0},
        {"1e-06", true, 0, 1},
        {"9.9999999999999995e-07", true, 0, 1},
        {"1.5e3", true, 1500, 0},
        {"-1", true, -1, 0},
        {"-0.25", true, -1, 750000},
        {"-2.000001", true, -3, 999999},
        {"1669783687464181", true, 1669783687464181, 0},
        {"1669783687464181.123", true, 1669783687464181, 123000},
        {"4611686018427387903", true, INT64_MAX / 2, 0},
        {"4611686018427387904", false, 0, 0},
        {"1e30", false, 0, 0},
        {"1e-500", true, 0, 0},
        {"1e999999999999", false, 0, 0},
        {"0e999999999999", true, 0, 0},
        {"", false, 0, 0},
        {"-", false, 0, 0},
        {"1.", false, 0, 0},
        {".5", false, 0, 0},
        {"1.5x", false, 0, 0},
        {"NaN", false, 0, 0},
        {"1e", false, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct micros time = {0};

        CHECK_INT(rows[i].text, micros_read(str_of(rows[i].text), &time), rows[i].fits);
        if (!rows[i].fits)
            continue;
        CHECK_INT(rows[i].text, time.whole, rows[i].whole);
        CHECK_INT(rows[i].text, time.ps, rows[i].ps);
    }
    int64_t since;

    CHECK_INT("since", micros_since((struct micros){12, 5}, 10, &since), true);
    CHECK_INT("since", since, 2000005);
    CHECK_INT("before", micros_since((struct micros){9, 999999}, 10, &since), true);
    CHECK_INT("before", since, -1);
    CHECK_INT("late", micros_since((struct micros){INT64_MAX / 2, 0}, 0, &since), false);
    CHECK_INT("late", since, TIME_PS_MAX);
    CHECK_INT("early", micros_since((struct micros){-(INT64_MAX / 2), 0}, INT64_MAX / 2, &since),
              false);
    CHECK_INT("early", since, -TIME_PS_MAX);
}

static void numbers(void **state)
{
    (void)state;
    const struct {
        const char *text;
        enum arg_type type;
        uint64_t bits; /* of integers */
        double value;
    } rows[] = {
        {"0", ARG_INT64, 0, 0},
        {"-7", ARG_INT64, (uint64_t)-7, 0},
        {"9223372036854775807", ARG_INT64, INT64_MAX, 0},
        {"9223372036854775808", ARG_UINT64, UINT64_C(1) << 63, 0},
        {"-9223372036854775808", ARG_INT64, UINT64_C(1) << 63, 0},
        {"18446744073709551615", ARG_UINT64, UINT64_MAX, 0},
        {"18446744073709551616", ARG_DOUBLE, 0, 0x1p64},
        {"1.5", ARG_DOUBLE, 0, 1.5},
        {"-0", ARG_DOUBLE, 0, -0.0},
        {"0.1", ARG_DOUBLE, 0, 0.1},
        {"1e22", ARG_DOUBLE, 0, 1e22},
        {"1.7976931348623157e308", ARG_DOUBLE, 0, 1.7976931348623157e308},
        {"4.9e-324", ARG_DOUBLE, 0, 4.9e-324},
        {"123456789012345678901234567890.5", ARG_DOUBLE, 0, 123456789012345678901234567890.5},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arg arg = {0};

        CHECK(rows[i].text, number_read(str_of(rows[i].text), &arg));
        CHECK_INT(rows[i].text, arg.type, rows[i].type);
        if (rows[i].type != ARG_DOUBLE)
            CHECK_INT(rows[i].text, arg.bits, rows[i].bits);
        else
            CHECK(rows[i].text, memcmp(&arg.bits, &rows[i].value, 8) == 0);
    }
    uint64_t value;

    CHECK("digits", digits_read(STR("18446744073709551615"), &value) && value == UINT64_MAX);
    CHECK("too many", !digits_read(STR("18446744073709551616"), &value));
    CHECK("a leading zero", !digits_read(STR("007"), &value));
    CHECK("a sign", !digits_read(STR("-7"), &value));
    CHECK("nothing", !digits_read(STR(""), &value));
}

/* A 3 MiB array of numbered strings, read in pieces of 1 MiB: none is lost, none is torn. */
static void sliding(void **state)
{
    (void)state;
    struct text text = {0};
    unsigned count = 0;

    text_puts(&text, "[");
    for (; text.count < 3 << 20; count++)
        text_putf(&text, "\"%u %.*s\", ", count, (int)(count % 50),
                  "..................................................");
    text_puts(&text, "\"end\"]");
    struct arena *arena = arena_create();
    struct input input;
    struct error err = {0};
    struct json_stream stream;
    struct bytes bytes = {(const uint8_t *)text.at, text.count};

    CHECK_OK("open", input_open(STR("x"), bytes, NULL, arena, &input, &err), &err);
    json_stream_open(&stream, &input);
    json_stream_fill(&stream);
    json_take(&stream.json, '[', "");
    for (unsigned seen = 0; seen < count;) {
        stream.mark = stream.json.at;
        struct json_value value = json_value(&stream.json);

        if (value.kind == JSON_NOTHING || !json_take(&stream.json, ',', "")) {
            CHECK_INT("only more is missing", stream.json.state, JSON_MORE);
            CHECK("there is more", json_stream_fill(&stream));
            continue;
        }
        char want[80];
        int size = snprintf(want, sizeof want, "%u %.*s", seen, (int)(seen % 50),
                            "..................................................");

        (void)size;
        CHECK_STR("whole", value.text, want);
        seen++;
    }
    CHECK("the window stays small", stream.capacity <= 4 << 20);
    json_stream_close(&stream);
    input_close(&input);
    arena_destroy(arena);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),   cmocka_unit_test(nul_in_a_string), cmocka_unit_test(nesting),
        cmocka_unit_test(unescape), cmocka_unit_test(times),           cmocka_unit_test(numbers),
        cmocka_unit_test(sliding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
