/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a query of a stranger, over a table of ten rows: it is answered or refused with a
 * sentence, within its limits. */
#include <stdio.h>
#include <stdlib.h>

#include "store/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBER, HALF, TEXT, COLUMN_COUNT };
enum { ROW_COUNT = 10, ROWS_MAX = 100, BYTES_MAX = 1 << 16, RUN_MS = 500, HEAP_BYTES = 64 << 20 };

struct cursor {
    int64_t at;
    char text[32];
};

struct seen {
    uint64_t rows, bytes;
    uint32_t columns;
};

static enum status rows_open(const struct sql_table *table, const struct sql_scan *scan, void **ret,
                             struct error *err)
{
    struct cursor *cursor = memory_resize(NULL, 1, sizeof *cursor);

    (void)table;
    (void)err;
    if (scan->bound_count > SQL_BOUNDS_MAX)
        abort();
    *cursor = (struct cursor){.at = -1};
    *ret = cursor;
    return OK;
}

static bool rows_next(void *data, struct error *err)
{
    struct cursor *cursor = data;

    (void)err;
    cursor->at++;
    snprintf(cursor->text, sizeof cursor->text, "row %lld", (long long)cursor->at);
    return cursor->at < ROW_COUNT;
}

static void rows_cell(const void *data, uint32_t column, struct sql_cell *ret)
{
    const struct cursor *cursor = data;

    if (column == NUMBER)
        sql_put_integer(ret, cursor->at);
    else if (column == HALF)
        sql_put_real(ret, (double)cursor->at / 2);
    else
        sql_put_text(ret, str_of(cursor->text));
}

static void rows_close(void *cursor)
{
    free(cursor);
}

static void see_columns(void *data, const struct str *names, uint32_t count)
{
    struct seen *seen = data;

    (void)names;
    seen->columns = count;
}

static void see_row(void *data, const struct sql_value *values)
{
    struct seen *seen = data;

    for (uint32_t i = 0; i < seen->columns; i++)
        if (values[i].kind == SQL_IS_TEXT || values[i].kind == SQL_IS_BLOB)
            seen->bytes += values[i].text.count;
    seen->rows++;
}

static struct sql *open_once(void)
{
    static const struct sql_column columns[COLUMN_COUNT] = {
        {.name = "n", .type = SQL_INTEGER, .helps = SQL_RANGE},
        {.name = "half", .type = SQL_REAL},
        {.name = "text",
         .type = SQL_TEXT,
         .helps = SQL_EQUAL | SQL_LIKE | SQL_GLOB,
         .grouped = true}};
    static const struct sql_table table = {.name = "rows",
                                           .columns = columns,
                                           .column_count = COLUMN_COUNT,
                                           .row_count = ROW_COUNT,
                                           .open = rows_open,
                                           .next = rows_next,
                                           .cell = rows_cell,
                                           .close = rows_close};
    static struct sql *sql;
    struct error err = {0};

    if (sql == NULL) {
        sql_guard_process(HEAP_BYTES);
        if (sql_open(&table, 1, &sql, &err) != OK)
            abort();
    }
    return sql;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sql_limits limits = {
        .rows_max = ROWS_MAX, .bytes_max = BYTES_MAX, .run_ms = RUN_MS};
    struct seen seen = {0};
    const struct sql_sink sink = {.data = &seen, .columns = see_columns, .row = see_row};
    struct sql_outcome outcome = {0};
    struct error err = {0};
    struct str query = {.at = (const char *)data, .count = size};

    if (sql_ask(open_once(), query, &limits, &sink, &outcome, &err) != OK && err.message[0] == '\0')
        abort();
    if (seen.rows > ROWS_MAX || seen.bytes > BYTES_MAX ||
        (outcome.has_place && outcome.place > size))
        abort();
    return 0;
}
