/* SPDX-License-Identifier: Apache-2.0 */
/* Queries over tables of a test: what a bound hands down, what the guard stops, what limits cut.
 *
 *   numbers   n: 0 1 2 ... count - 1      half: n / 2 as text
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/sql.h"

enum { NUMBER, HALF };

struct numbers {
    int64_t count;
    struct sql_scan asked; /* the last one; bounds copied */
    struct sql_bound bounds[SQL_BOUNDS_MAX];
    bool fails;
};

struct cursor {
    struct numbers *numbers;
    int64_t at;
    char half[32];
};

static enum status numbers_open(const struct sql_table *table, const struct sql_scan *scan,
                                void **ret, struct error *err)
{
    struct numbers *numbers = table->data;
    struct cursor *cursor = malloc(sizeof *cursor);

    *cursor = (struct cursor){.numbers = numbers, .at = -1};
    numbers->asked = *scan;
    memcpy(numbers->bounds, scan->bounds, scan->bound_count * sizeof *scan->bounds);
    *ret = cursor;
    return numbers->fails ? error_set(err, ERR_FORMAT, "x", 1, "the table is broken") : OK;
}

static bool numbers_next(void *data, struct error *err)
{
    struct cursor *cursor = data;

    (void)err;
    return ++cursor->at < cursor->numbers->count;
}

static void numbers_cell(const void *data, uint32_t column, struct sql_cell *ret)
{
    const struct cursor *cursor = data;
    char text[32];
    int size = snprintf(text, sizeof text, "%lld", (long long)cursor->at / 2);

    if (column == NUMBER)
        sql_put_integer(ret, cursor->at);
    else
        sql_put_text_copy(ret, (struct str){.at = text, .count = (size_t)size});
}

static void numbers_close(void *cursor)
{
    free(cursor);
}

struct seen {
    struct text text; /* "a|b\n1|2\n" */
    uint32_t columns;
};

static void see_columns(void *data, const struct str *names, uint32_t count)
{
    struct seen *seen = data;

    seen->columns = count;
    for (uint32_t i = 0; i < count; i++)
        text_putf(&seen->text, "%s%.*s", i > 0 ? "|" : "", STR_ARG(names[i]));
    text_puts(&seen->text, "\n");
}

static void see_row(void *data, const struct sql_value *values)
{
    struct seen *seen = data;

    for (uint32_t i = 0; i < seen->columns; i++) {
        text_puts(&seen->text, i > 0 ? "|" : "");
        if (values[i].kind == SQL_IS_INTEGER)
            text_putf(&seen->text, "%lld", (long long)values[i].integer);
        else if (values[i].kind == SQL_IS_REAL)
            text_putf(&seen->text, "%g", values[i].real);
        else
            text_putf(&seen->text, "%.*s", STR_ARG(values[i].text));
    }
    text_puts(&seen->text, "\n");
}

static const struct sql_limits usual = {.rows_max = 100, .bytes_max = 1 << 20, .run_ms = 2000};

static struct sql_table table_of(struct numbers *numbers)
{
    static const struct sql_column columns[] = {
        [NUMBER] = {.name = "n", .type = SQL_INTEGER, .helps = SQL_RANGE},
        [HALF] = {
            .name = "half", .type = SQL_TEXT, .helps = SQL_EQUAL | SQL_LIKE, .grouped = true}};

    return (struct sql_table){.name = "numbers",
                              .columns = columns,
                              .column_count = COUNT(columns),
                              .row_count = (uint64_t)numbers->count,
                              .data = numbers,
                              .open = numbers_open,
                              .next = numbers_next,
                              .cell = numbers_cell,
                              .close = numbers_close};
}

static enum status ask_again(struct sql *sql, struct str query, const struct sql_limits *limits,
                             struct seen *seen, struct sql_outcome *outcome, struct error *err)
{
    const struct sql_sink sink = {.data = seen, .columns = see_columns, .row = see_row};

    *err = (struct error){0};
    return sql_ask(sql, query, limits, &sink, outcome, err);
}

/* Over a connection of its own. */
static enum status ask(struct numbers *numbers, struct str query, const struct sql_limits *limits,
                       struct seen *seen, struct sql_outcome *outcome, struct error *err)
{
    const struct sql_table table = table_of(numbers);
    struct sql *sql;

    *err = (struct error){0};
    CHECK_OK("open", sql_open(&table, 1, &sql, err), err);
    enum status status = ask_again(sql, query, limits, seen, outcome, err);
    sql_close(sql);
    return status;
}

static void answers(void **state)
{
    const struct {
        const char *query, *want;
    } rows[] = {
        {"select n from numbers limit 2", "n\n0\n1\n"},
        {"select count(*), sum(n) from numbers", "count(*)|sum(n)\n10|45\n"},
        {"select n, half from numbers where n > 7", "n|half\n8|4\n9|4\n"},
        {"select half, count(*) c from numbers where half = '3' group by half", "half|c\n3|2\n"},
        {"select a.n from numbers a join numbers b on b.n = a.n + 8", "n\n0\n1\n"},
        {"with t(x) as (select max(n) from numbers) select x, null, 1.5 from t",
         "x|null|1.5\n9||1.5\n"},
        {"with t as (select 1) select count(*) from t", "count(*)\n1\n"},
        {"with recursive r(i) as (select 1 union all select i + 1 from r where i < 4) "
         "select sum(i) from r",
         "sum(i)\n10\n"},
        {"select 1; -- that was it", "1\n1\n"},
        {"select n, row_number() over (order by n desc) r from numbers where n in (3, 5)",
         "n|r\n5|1\n3|2\n"},
        {"select 'é' as é", "é\né\n"},
        {"select n from numbers where n = 5.0", "n\n5\n"},
        {"select n from numbers where n is 5", "n\n5\n"},
        {"select n from numbers where n between 3 and 4 or n = 9", "n\n3\n4\n9\n"},
        {"values (1), (2)", "column1\n1\n2\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct numbers numbers = {.count = 10};
        struct seen seen = {0};
        struct sql_outcome outcome;
        struct error err;

        CHECK_OK(rows[i].query, ask(&numbers, str_of(rows[i].query), &usual, &seen, &outcome, &err),
                 &err);
        CHECK_STR(rows[i].query, text_str(&seen.text), rows[i].want);
        text_free(&seen.text);
    }
}

static void hands_bounds_down(void **state)
{
    const struct {
        const char *query;
        uint32_t count, column;
        enum sql_comparison comparison;
    } rows[] = {
        {"select n from numbers where n >= 7", 1, NUMBER, SQL_AT_LEAST},
        {"select n from numbers where n < 7", 1, NUMBER, SQL_LESS},
        {"select n from numbers where 7 > n", 1, NUMBER, SQL_LESS},
        {"select n from numbers where half like '%3'", 1, HALF, SQL_LIKE},
        {"select n from numbers where half = '3'", 1, HALF, SQL_EQUAL},
        {"select n from numbers where half > '3'", 0, HALF, SQL_EQUAL},
        {"select n from numbers where half = '3' collate nocase", 0, HALF, SQL_EQUAL},
        {"select n from numbers where n + 1 = 3", 0, NUMBER, SQL_EQUAL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct numbers numbers = {.count = 10};
        struct seen seen = {0};
        struct sql_outcome outcome;
        struct error err;

        CHECK_OK(rows[i].query, ask(&numbers, str_of(rows[i].query), &usual, &seen, &outcome, &err),
                 &err);
        CHECK_INT(rows[i].query, numbers.asked.bound_count, rows[i].count);
        if (rows[i].count > 0) {
            CHECK_INT(rows[i].query, numbers.bounds[0].column, rows[i].column);
            CHECK_INT(rows[i].query, numbers.bounds[0].comparison, rows[i].comparison);
        }
        text_free(&seen.text);
    }
}

static void asks_for_columns_and_order(void **state)
{
    struct numbers numbers = {.count = 10};
    struct seen seen = {0};
    struct sql_outcome outcome;
    struct error err;

    (void)state;
    CHECK_OK("group",
             ask(&numbers, STR("select half, count(*) from numbers group by half"), &usual, &seen,
                 &outcome, &err),
             &err);
    CHECK_INT("by half", numbers.asked.order, HALF);
    CHECK_INT("half alone", numbers.asked.columns, 1 << HALF);
    CHECK_INT("all were read", outcome.scan_count, 10);
    CHECK_OK("order",
             ask(&numbers, STR("select n from numbers order by half desc"), &usual, &seen, &outcome,
                 &err),
             &err);
    CHECK_INT("SQLite sorts backwards itself", numbers.asked.order, SQL_NO_COLUMN);
    text_free(&seen.text);
}

static void says_where(void **state)
{
    const struct {
        const char *query, *part;
        enum status status;
        int place; /* -1 none */
    } rows[] = {
        {"select m from numbers", "no such column: m", ERR_INVALID, 7},
        {"select * from number", "no such table: number", ERR_INVALID, 14},
        {"select n fro numbers", "syntax error", ERR_INVALID, 13},
        {"select n from numbers; select 1", "one statement", ERR_INVALID, 22},
        {"select n from numbers where n = ?", "parameters (?) are not supported", ERR_INVALID, -1},
        {"", "no statement", ERR_INVALID, -1},
        {"-- nothing", "no statement", ERR_INVALID, -1},
        {"explain select 1", "EXPLAIN", ERR_INVALID, -1},
        {"delete from numbers", "", ERR_INVALID, -1},
        {"select load_extension('x')", "load_extension", ERR_INVALID, -1},
        {"pragma table_list", "PRAGMA", ERR_INVALID, -1},
        {"select count(*) from sqlite_master", "no such table", ERR_INVALID, 21},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct numbers numbers = {.count = 10};
        struct seen seen = {0};
        struct sql_outcome outcome;
        struct error err;

        CHECK_INT(rows[i].query,
                  ask(&numbers, str_of(rows[i].query), &usual, &seen, &outcome, &err),
                  rows[i].status);
        CHECK_HAS(rows[i].query, err.message, rows[i].part);
        CHECK_INT(rows[i].query, outcome.has_place && rows[i].place >= 0 ? (int)outcome.place : -1,
                  rows[i].place);
        text_free(&seen.text);
    }
}

#define SIXTY "sixty bytes of a name sixty bytes of a name sixty bytes of a "

static void cuts_at_limits(void **state)
{
    const struct sql_limits few = {.rows_max = 3, .bytes_max = 1 << 20, .run_ms = 2000};
    const struct sql_limits exactly = {.rows_max = 10, .bytes_max = 1 << 20, .run_ms = 2000};
    const struct sql_limits small = {.rows_max = 100, .bytes_max = 100, .run_ms = 2000};
    const struct sql_limits quick = {.rows_max = 100, .bytes_max = 1 << 20, .run_ms = 50};
    struct numbers numbers = {.count = 10}, endless = {.count = INT64_MAX};
    struct seen seen = {0};
    struct sql_outcome outcome;
    struct error err;

    (void)state;
    CHECK_OK("rows", ask(&numbers, STR("select n from numbers"), &few, &seen, &outcome, &err),
             &err);
    CHECK_INT("three", outcome.row_count, 3);
    CHECK_STR("told", str_of(outcome.cut), "rows");
    CHECK_OK("all", ask(&numbers, STR("select n from numbers"), &exactly, &seen, &outcome, &err),
             &err);
    CHECK("not cut", outcome.cut == NULL);
    CHECK_OK("bytes", ask(&numbers, STR("select n from numbers"), &small, &seen, &outcome, &err),
             &err);
    CHECK_STR("told", str_of(outcome.cut), "bytes");
    CHECK_OK("names count, for each row repeats them",
             ask(&numbers,
                 STR("select n as a_name_of_forty_bytes_that_each_row_repeats from numbers"),
                 &small, &seen, &outcome, &err),
             &err);
    CHECK_INT("one row", outcome.row_count, 1);
    CHECK_OK("escapes count",
             ask(&numbers, STR("select char(1, 1, 1, 1, 1, 1, 1) c from numbers"), &small, &seen,
                 &outcome, &err),
             &err);
    CHECK_INT("one row", outcome.row_count, 1);
    CHECK_INT("a name that is too long",
              ask(&numbers, STR("select n as \"" SIXTY SIXTY SIXTY SIXTY "\" from numbers"), &usual,
                  &seen, &outcome, &err),
              ERR_LIMIT);
    CHECK_HAS("the remedy", err.message, "name it with AS");
    CHECK_INT("time",
              ask(&endless, STR("select sum(n) from numbers"), &quick, &seen, &outcome, &err),
              ERR_LIMIT);
    CHECK_HAS("says so", err.message, "was stopped");
    numbers.fails = true;
    CHECK_INT("open", ask(&numbers, STR("select n from numbers"), &few, &seen, &outcome, &err),
              ERR_FORMAT);
    CHECK_HAS("the table's own words", err.message, "the table is broken");
    text_free(&seen.text);
}

static void check_unchanged(const char *after, struct sql *sql)
{
    struct seen seen = {0};
    struct sql_outcome outcome;
    struct error err;

    CHECK_OK(after,
             ask_again(sql, STR("select count(*), sum(n), min(half) from numbers where n < 10"),
                       &usual, &seen, &outcome, &err),
             &err);
    CHECK_STR(after, text_str(&seen.text), "count(*)|sum(n)|min(half)\n10|45|0\n");
    CHECK_INT(after, outcome.scan_count, 1000);
    text_free(&seen.text);
}

/* Each line of http/sql_attacks.txt ends, refused or answered, within its limits, and the one
 * connection that takes them all answers after each as before. */
static void attacks_end(void **state)
{
    const struct sql_limits tight = {.rows_max = 10, .bytes_max = 1 << 16, .run_ms = 100};
    FILE *file = fopen(TESTS_DIR "/http/sql_attacks.txt", "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t count;
    unsigned attacks = 0;
    struct numbers numbers = {.count = 1000};
    const struct sql_table table = table_of(&numbers);
    struct error err = {0};
    struct sql *sql;

    (void)state;
    CHECK("attacks", file != NULL);
    CHECK_OK("open", sql_open(&table, 1, &sql, &err), &err);
    while ((count = getline(&line, &size, file)) > 0) {
        struct seen seen = {0};
        struct sql_outcome outcome;
        bool may_answer = line[0] == '+';
        const char *at = line + 2;

        if (line[0] != '+' && line[0] != '-')
            continue;
        line[count - 1] = '\0';
        enum status status = ask_again(sql, str_of(at), &tight, &seen, &outcome, &err);
        if (!may_answer)
            CHECK(at, status == ERR_INVALID || status == ERR_LIMIT);
        else
            CHECK(at, status == OK || status == ERR_LIMIT || status == ERR_INVALID);
        CHECK(at, outcome.row_count <= tight.rows_max);
        CHECK(at, status == OK || err.message[0] != '\0');
        text_free(&seen.text);
        check_unchanged(at, sql);
        attacks++;
    }
    CHECK("three hundred", attacks >= 300);
    sql_close(sql);
    free(line);
    fclose(file);
}

static void text_is_bounded(void **state)
{
    struct text query = {0};
    struct numbers numbers = {.count = 10};
    struct seen seen = {0};
    struct sql_outcome outcome;
    struct error err;

    (void)state;
    text_puts(&query, "select 1");
    while (query.count < SQL_QUERY_BYTES_MAX)
        text_puts(&query, " + 1 ");
    CHECK_INT("64 KiB", ask(&numbers, text_str(&query), &usual, &seen, &outcome, &err), ERR_LIMIT);
    CHECK_INT("NUL", ask(&numbers, STR("select 1\0; drop"), &usual, &seen, &outcome, &err),
              ERR_INVALID);
    CHECK_INT("its place", outcome.place, 8);
    query.count = SQL_QUERY_BYTES_MAX - 1;
    CHECK_INT("too deep", ask(&numbers, text_str(&query), &usual, &seen, &outcome, &err),
              ERR_INVALID);
    text_free(&query);
    text_free(&seen.text);
}

int main(void)
{
    sql_guard_process(64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(hands_bounds_down),
        cmocka_unit_test(asks_for_columns_and_order),
        cmocka_unit_test(says_where),
        cmocka_unit_test(cuts_at_limits),
        cmocka_unit_test(attacks_end),
        cmocka_unit_test(text_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
