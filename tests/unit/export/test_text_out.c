/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, strings and times as text; and what counts as JSON. */
#include <math.h>

#include "check.h"
#include "export/text_out.h"

static enum status gather(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

static void json_or_not(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"1", true},
        {" -0.5e+3 ", true},
        {"\"a\\u00e9\\n\"", true},
        {"[]", true},
        {"{}", true},
        {"[1,[2,{}]]", true},
        {"{\"a\":1,\"b\":[true,false,null]}", true},
        {"", false},
        {"01", false},
        {"1.", false},
        {"1 2", false},
        {"[1,]", false},
        {"[1", false},
        {"{\"a\"}", false},
        {"{\"a\":1,}", false},
        {"{a:1}", false},
        {"[1}", false},
        {"nul", false},
        {"NaN", false},
        {"\"a", false},
        {"\"\\x\"", false},
        {"\"\\u12\"", false},
        {"\"\n\"", false},
        {"]", false},
        {",", false},
        {"[1 2]", false},
        {"-", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].text, text_is_json(str_of(rows[i].text)), rows[i].is);
    char deep[2000];

    memset(deep, '[', sizeof deep);
    CHECK("deep", !text_is_json((struct str){deep, sizeof deep}));
    CHECK("NUL", !text_is_json(STR("1\0")));
}

static void values(void **state)
{
    (void)state;
    struct text text = {0};
    struct text_out out;
    struct error err = {0};

    text_out_open(&out, gather, &text, &err);
    text_out_int(&out, INT64_MIN);
    text_out_puts(&out, " ");
    text_out_uint(&out, UINT64_MAX);
    text_out_puts(&out, " ");
    text_out_double(&out, 0.1);
    text_out_puts(&out, " ");
    text_out_double(&out, 1.0 / 3);
    text_out_puts(&out, " ");
    text_out_double(&out, NAN);
    text_out_puts(&out, " ");
    text_out_micros(&out, 12345);
    text_out_puts(&out, " ");
    text_out_micros(&out, -7);
    text_out_puts(&out, " ");
    text_out_micros(&out, 5000);
    text_out_puts(&out, " ");
    text_out_json(&out, STR("a\"\\\t\x7f\xc3\xa9\xc3(\xed\xa0\x80\xf0\x9f\x98\x80\xff"));
    CHECK_OK("close", text_out_close(&out), &err);
    CHECK_STR(
        "text", text_str(&text),
        "-9223372036854775808 18446744073709551615 0.1 0.3333333333333333 null 12.345 -0.007 5 "
        "\"a\\\"\\\\\\u0009\\u007f\xc3\xa9\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
        "\xf0\x9f\x98\x80\xef\xbf\xbd\"");
    text_free(&text);
}

/* More than one piece arrives whole. */
static void pieces(void **state)
{
    (void)state;
    struct text text = {0};
    struct text_out out;
    struct error err = {0};

    text_out_open(&out, gather, &text, &err);
    for (unsigned i = 0; i < 50000; i++)
        text_out_uint(&out, i);
    CHECK_OK("close", text_out_close(&out), &err);
    CHECK_INT("size", text.count, 10 + 180 + 2700 + 36000 + 200000);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_or_not),
        cmocka_unit_test(values),
        cmocka_unit_test(pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
