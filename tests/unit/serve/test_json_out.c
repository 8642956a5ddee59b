/* SPDX-License-Identifier: Apache-2.0 */
/* JSON texts of numbers, strings and nested values, byte for byte. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "serve/answer/json_out.h"

static void reals(void **state)
{
    (void)state;
    const struct {
        const char *want;
        double value;
    } rows[] = {
        {"0", 0.0},
        {"0", -0.0},
        {"1", 1.0},
        {"-7", -7.0},
        {"0.1", 0.1},
        {"0.3", 0.3},
        {"0.30000000000000004", 0.1 + 0.2},
        {"0.3333333333333333", 1.0 / 3.0},
        {"4100000000000", 4.1e12},
        {"9007199254740991", 9007199254740991.},
        {"1e+300", 1e300},
        {"2.2250738585072014e-308", DBL_MIN},
        {"1.7976931348623157e+308", DBL_MAX},
        {"null", NAN},
        {"null", INFINITY},
        {"null", -INFINITY},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};
        struct json json = json_into(&text);

        json_add_real(&json, rows[i].value);
        CHECK_STR(rows[i].want, text_str(&text), rows[i].want);
        text_free(&text);
    }
}

static void reals_read_back(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;

    for (int i = 0; i < 20000; i++) {
        char digits[32];
        double value;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        digits[real_shortest(value, digits)] = '\0';
        CHECK(digits, strtod(digits, NULL) == value);
    }
}

static void integers(void **state)
{
    (void)state;
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '[');
    json_add_integer(&json, INT64_MIN);
    json_add_integer(&json, INT64_MAX);
    json_add_integer(&json, 0);
    json_add_unsigned(&json, UINT64_MAX);
    json_close(&json, ']');
    CHECK_STR("exact", text_str(&text),
              "[-9223372036854775808,9223372036854775807,0,18446744073709551615]");
    text_free(&text);
}

static void texts(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct str text;
        const char *want;
    } rows[] = {
        {"plain", STR("fusion.3"), "\"fusion.3\""},
        {"empty", STR(""), "\"\""},
        {"quote", STR("a\"b\\c"), "\"a\\\"b\\\\c\""},
        {"line ends", STR("a\n\t\r"), "\"a\\n\\t\\u000d\""},
        {"NUL", STR("a\0b"), "\"a\\u0000b\""},
        {"DEL", STR("\x7f"), "\"\\u007f\""},
        {"two bytes", STR("\xc3\xa4"), "\"\xc3\xa4\""},
        {"four bytes", STR("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\""},
        {"a lone byte",
         STR("a\xff"
             "b"),
         "\"a\xef\xbf\xbd"
         "b\""},
        {"cut", STR("a\xe2\x82"), "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {"overlong", STR("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"overlong, three bytes", STR("\xe0\x80\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"overlong, four bytes", STR("\xf0\x80\x80\xaf"),
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"surrogate", STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"beyond Unicode", STR("\xf4\x90\x80\x80"),
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};
        struct json json = json_into(&text);

        json_add_text(&json, rows[i].text);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].want);
        text_free(&text);
    }
}

static void commas(void **state)
{
    (void)state;
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '{');
    json_put_integer(&json, "a", 1);
    json_key(&json, "b");
    json_open(&json, '[');
    json_close(&json, ']');
    json_key(&json, "c");
    json_open(&json, '[');
    json_add_bool(&json, true);
    json_open(&json, '{');
    json_close(&json, '}');
    json_add_null(&json);
    json_close(&json, ']');
    json_key_text(&json, STR("d\""));
    json_add_raw(&json, STR("{}"));
    json_put_text_or_null(&json, "e", STR(""));
    json_put_text_or_null(&json, "f", STR("g"));
    json_close(&json, '}');
    CHECK_STR("an object", text_str(&text),
              "{\"a\":1,\"b\":[],\"c\":[true,{},null],\"d\\\"\":{},\"e\":null,\"f\":\"g\"}");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals), cmocka_unit_test(reals_read_back), cmocka_unit_test(integers),
        cmocka_unit_test(texts), cmocka_unit_test(commas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
