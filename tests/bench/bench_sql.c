/* SPDX-License-Identifier: Apache-2.0 */
/* bench_sql: what SQLite itself takes for a row of a virtual table, beside a row of its own table.
 *
 *   constant   1,000,000 rows that hold one number: nothing is read, nothing is computed
 *   slices     200,000 rows of SQLite's own, of 14 columns, in memory
 *
 * Prints both, in nanoseconds of CPU a row, the best of three. Their ratio is the most that any
 * virtual table can be faster than SQLite's own: what a query asks row by row it takes that long.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CONSTANT_ROWS = 1000000, OWN_ROWS = 200000 };

struct cursor {
    sqlite3_vtab_cursor base;
    int64_t at;
};

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
    return (struct cursor *)base;
}

static int connect_table(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **ret, char **ret_message)
{
    (void)data;
    (void)argc;
    (void)argv;
    (void)ret_message;
    *ret = calloc(1, sizeof **ret);
    return *ret == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, "CREATE TABLE x(dur_ps INTEGER)");
}

static int disconnect_table(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedRows = CONSTANT_ROWS;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    struct cursor *cursor = calloc(1, sizeof *cursor);

    (void)table;
    *ret = &cursor->base;
    return cursor == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    (void)number;
    (void)text;
    (void)argc;
    (void)argv;
    cursor_of(cursor)->at = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    cursor_of(cursor)->at++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    return cursor_of(cursor)->at >= CONSTANT_ROWS;
}

static int read_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    (void)cursor;
    (void)column;
    sqlite3_result_int64(context, 1234567);
    return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
    *ret = cursor_of(cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect_table,
                                      .xBestIndex = best_index,
                                      .xDisconnect = disconnect_table,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next_row,
                                      .xEof = at_end,
                                      .xColumn = read_column,
                                      .xRowid = read_rowid};

static const char own_table[] =
    "CREATE TABLE slices(run TEXT, host TEXT, track TEXT, track_name TEXT, depth INTEGER, id TEXT,"
    " start_ps INTEGER, end_ps INTEGER, dur_ps INTEGER, self_ps INTEGER, name TEXT, kind TEXT,"
    " flags TEXT, parent TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
    "INSERT INTO slices SELECT 'step_1', 'host', '4d386ea3.12', 'Stream #7(Compute)', 0,"
    " '4d386ea3-' || i, i * 1000000, i * 1000000 + 900000, 1234567, 1234567, 'fusion.123',"
    " 'compute', '', NULL FROM n";

static void must(sqlite3 *db, const char *statement)
{
    if (sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK)
        return;
    fprintf(stderr, "%s: %s\n", statement, sqlite3_errmsg(db));
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double best_ns(sqlite3 *db, const char *query, int rows)
{
    double best = 1e18;

    for (int i = 0; i < 3; i++) {
        double begin = cpu_ns();

        must(db, query);
        best = cpu_ns() - begin < best ? cpu_ns() - begin : best;
    }
    return best / rows;
}

int main(void)
{
    char statement[1024];
    sqlite3 *db;

    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* as a worker has it */
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    snprintf(statement, sizeof statement, own_table, OWN_ROWS);
    must(db, statement);
    sqlite3_create_module(db, "constant", &module, NULL);
    printf("constant %.1f ns\n",
           best_ns(db, "SELECT count(*), sum(dur_ps) FROM constant", CONSTANT_ROWS));
    printf("slices %.1f ns\n", best_ns(db, "SELECT count(*), sum(dur_ps) FROM slices", OWN_ROWS));
    sqlite3_close(db);
    return 0;
}
