/* SPDX-License-Identifier: Apache-2.0 */
/* A table as JSON, CSV and Markdown, byte for byte. */
#include "check.h"

#include <math.h>

#include "serve/answer/etag.h"
#include "serve/answer/table_out.h"

static const struct column columns[] = {
    {"name", "Name", UNIT_TEXT, true},     {"self_ps", "Self", UNIT_PS, true},
    {"share", "Share", UNIT_SHARE, true},  {"count", "Count", UNIT_COUNT, true},
    {"flops", "FLOPs", UNIT_COUNT, false}, {"breakdown", "Where", UNIT_PS, true},
};
enum { COLUMNS = COUNT(columns) };

static const int64_t kinds[KIND_COUNT + 1] = {[KIND_COMPUTE] = 750, [KIND_IDLE] = 250};

static void fill(struct cell row[COLUMNS], struct str name, int64_t self_ps, double share)
{
    row[0] = (struct cell){.kind = CELL_TEXT, .of.text = name};
    row[1] = (struct cell){.kind = CELL_INTEGER, .of.integer = self_ps};
    row[2] = (struct cell){.kind = CELL_REAL, .of.real = share};
    row[3] = (struct cell){.kind = CELL_UNSIGNED, .of.uint = UINT64_MAX};
    row[4] = (struct cell){.kind = CELL_NULL, .of.text = STR("no HLO")};
    row[5] = (struct cell){.kind = CELL_KINDS, .of.kinds = kinds};
}

static struct table table_of(const struct cell *cells, uint32_t row_count)
{
    return (struct table){.columns = columns,
                          .column_count = COLUMNS,
                          .cells = cells,
                          .row_count = row_count,
                          .row_count_all = row_count};
}

static void json_rows(void **state)
{
    (void)state;
    struct cell cells[COLUMNS];
    struct text text = {0};
    struct json json = json_into(&text);

    fill(cells, STR("a\"b"), INT64_MIN, NAN);
    struct table table = table_of(cells, 1);
    json_open(&json, '{');
    json_put_rows(&json, &table);
    json_close(&json, '}');
    CHECK_STR("a row", text_str(&text),
              "{\"rows\":[{\"name\":\"a\\\"b\",\"self_ps\":-9223372036854775808,\"share\":null,"
              "\"count\":18446744073709551615,\"flops\":null,\"breakdown\":["
              "{\"kind\":\"compute\",\"self_ps\":750},{\"kind\":\"communication\",\"self_ps\":0},"
              "{\"kind\":\"copy\",\"self_ps\":0},{\"kind\":\"host\",\"self_ps\":0},"
              "{\"kind\":\"input\",\"self_ps\":0},{\"kind\":\"compile\",\"self_ps\":0},"
              "{\"kind\":\"other\",\"self_ps\":0},{\"kind\":\"idle\",\"self_ps\":250}],"
              "\"reasons\":{\"flops\":\"no HLO\"}}]}");
    text_free(&text);
}

#define CSV_HEAD                                                                                   \
    "name,self_ps,share,count,flops,compute_ps,communication_ps,copy_ps,host_ps,input_ps,"         \
    "compile_ps,other_ps,idle_ps\r\n"
#define CSV_TAIL ",5,0.25,18446744073709551615,,750,0,0,0,0,0,0,250\r\n"

static void csv_texts(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct str name;
        const char *want;
    } rows[] = {
        {"plain", STR("dot.3"), CSV_HEAD "dot.3" CSV_TAIL},
        {"comma", STR("a,b"), CSV_HEAD "\"a,b\"" CSV_TAIL},
        {"quote", STR("a\"b"), CSV_HEAD "\"a\"\"b\"" CSV_TAIL},
        {"line end", STR("a\nb"), CSV_HEAD "\"a\nb\"" CSV_TAIL},
        {"formula", STR("=1+1"), CSV_HEAD "'=1+1" CSV_TAIL},
        {"formula, quoted", STR("=A1,\""), CSV_HEAD "\"'=A1,\"\"\"" CSV_TAIL},
        {"plus", STR("+1"), CSV_HEAD "'+1" CSV_TAIL},
        {"minus", STR("-1"), CSV_HEAD "'-1" CSV_TAIL},
        {"at", STR("@a"), CSV_HEAD "'@a" CSV_TAIL},
        {"tab", STR("\ta"), CSV_HEAD "'\ta" CSV_TAIL},
        {"equals inside", STR("a=b"), CSV_HEAD "a=b" CSV_TAIL},
        {"empty", STR(""), CSV_HEAD CSV_TAIL},
        {"broken UTF-8", STR("a\xff"), CSV_HEAD "a\xef\xbf\xbd" CSV_TAIL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cell cells[COLUMNS];
        struct text text = {0};

        fill(cells, rows[i].name, 5, 0.25);
        struct table table = table_of(cells, 1);
        table_csv(&text, &table);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].want);
        text_free(&text);
    }
}

static void markdown(void **state)
{
    (void)state;
    struct cell cells[2 * COLUMNS];
    struct text text = {0};

    fill(cells, STR("[a](b)|`c`<i>\n*"), INT64_C(1234000000), 0.5);
    fill(cells + COLUMNS, STR("dot.3"), 0, NAN);
    struct table table = table_of(cells, 2);
    table.row_count_all = 7;
    table_markdown(&text, &table);
    CHECK_STR("a table", text_str(&text),
              "| Name | Self (ms) | Share (%) | Count | Where |\n"
              "| --- | ---: | ---: | ---: | ---: |\n"
              "| \\[a\\](b)\\|\\`c\\`&lt;i&gt; \\* | 1.234 | 50.00 | 18446744073709551615 | "
              "compute 75.0 %, idle 25.0 % |\n"
              "| dot.3 | 0 | – | 18446744073709551615 | compute 75.0 %, idle 25.0 % |\n"
              "\n2 of 7 rows.\n");
    text_free(&text);
}

static void tags(void **state)
{
    (void)state;
    const struct {
        const char *what, *if_none_match;
        bool want;
    } rows[] = {
        {"the same", "W/\"abc\"", true},
        {"strong form", "\"abc\"", true},
        {"one of several", "W/\"x\", W/\"abc\", W/\"y\"", true},
        {"any", "*", true},
        {"another", "W/\"abd\"", false},
        {"a part", "W/\"abcd\"", false},
        {"nothing", "", false},
        {"no quotes", "abc", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, etag_matches(str_of(rows[i].if_none_match), STR("W/\"abc\"")),
                  rows[i].want);
}

/* Rows of one name show the module that tells them apart; where names do, or modules do not, it is
 * left to those who ask. */
static void modules_of_one_name(void **state)
{
    (void)state;
    static const struct column named[] = {{"name", "Name", UNIT_TEXT, true},
                                          {"module", "Module", UNIT_TEXT, false}};
    const struct {
        const char *what, *names[2], *modules[2], *want;
    } rows[] = {
        {"told apart",
         {"dot.1", "dot.1"},
         {"jit_f(6)", "jit_f(8)"},
         "| Name | Module |\n| --- | --- |\n| dot.1 | jit\\_f(6) |\n| dot.1 | jit\\_f(8) |\n"},
        {"by name",
         {"dot.1", "dot.2"},
         {"jit_f(6)", "jit_f(8)"},
         "| Name |\n| --- |\n| dot.1 |\n| dot.2 |\n"},
        {"by nothing",
         {"dot.1", "dot.1"},
         {"jit_f", "jit_f"},
         "| Name |\n| --- |\n| dot.1 |\n| dot.1 |\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cell cells[4] = {0};
        struct text text = {0};

        for (int row = 0; row < 2; row++) {
            cells[2 * row] =
                (struct cell){.kind = CELL_TEXT, .of.text = str_of(rows[i].names[row])};
            cells[2 * row + 1] =
                (struct cell){.kind = CELL_TEXT, .of.text = str_of(rows[i].modules[row])};
        }
        const struct table table = {.columns = named,
                                    .column_count = 2,
                                    .cells = cells,
                                    .row_count = 2,
                                    .row_count_all = 2};
        table_markdown(&text, &table);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].want);
        text_free(&text);
    }
}

/* Where a column's title is the unit of its rates, they are told in thousands of it; a bandwidth
 * has its own. */
static void rates(void **state)
{
    (void)state;
    static const struct column of_rates[] = {{"flops_per_s", "FLOP/s", UNIT_PER_S, true},
                                             {"bytes_per_s", "Bandwidth", UNIT_PER_S, true}};
    const struct cell cells[] = {
        {.kind = CELL_REAL, .of.real = 106230975846715.8},
        {.kind = CELL_REAL, .of.real = 5e12},
        {.kind = CELL_REAL, .of.real = 0},
        {.kind = CELL_NULL},
    };
    const struct table table = {
        .columns = of_rates, .column_count = 2, .cells = cells, .row_count = 2};
    struct text text = {0};

    table_markdown(&text, &table);
    CHECK_HAS("in tera", text_str(&text).at,
              "| FLOP/s (T) | Bandwidth (TB/s) |\n| ---: | ---: |\n| 106.2 | 5.000 |\n| 0 | – |");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_rows), cmocka_unit_test(csv_texts),
        cmocka_unit_test(markdown),  cmocka_unit_test(modules_of_one_name),
        cmocka_unit_test(rates),     cmocka_unit_test(tags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
