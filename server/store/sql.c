/* SPDX-License-Identifier: Apache-2.0 */
/* One query: opened, checked, stepped, told. */
#include "store/sql.h"

#include <stdlib.h>

#include "store/sql_parts.h"

void sql_guard_process(uint64_t heap_bytes_max)
{
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* a worker has one; locks cost a tenth */
    sqlite3_hard_heap_limit64((sqlite3_int64)heap_bytes_max);
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c < 0;
}

/* SQLite tells no place of a table that is not there: the first time its name is a word. */
static void find_table(const char *text, const char *message, struct sql_outcome *ret)
{
    const char *name = strstr(message, "no such table: ");
    size_t size = name == NULL ? 0 : strlen(name += sizeof "no such table: " - 1);

    for (const char *at = text; size > 0 && (at = strstr(at, name)) != NULL; at++) {
        if ((at > text && is_word(at[-1])) || is_word(at[size]))
            continue;
        ret->has_place = true;
        ret->place = (size_t)(at - text);
        return;
    }
}

/* What SQLite says of a failure, or what we know better. */
static enum status explain(struct sql *sql, int code, const char *text, struct sql_outcome *ret,
                           struct error *err)
{
    int place = sqlite3_error_offset(sql->db);
    const char *message = sql->refused.code != OK ? sql->refused.message : sqlite3_errmsg(sql->db);

    if (place >= 0) {
        ret->has_place = true;
        ret->place = (size_t)place;
    } else if (text != NULL) {
        find_table(text, message, ret);
    }
    if (sql->limit_met != NULL)
        return fail(err, ERR_LIMIT,
                    "the query took more than %.1f s and was stopped: select fewer rows, a range "
                    "of start_ps, or one name",
                    (double)sql->limits->run_ms / 1000);
    if (sql->scan_fail.code != OK)
        return fail(err, sql->scan_fail.code, "%s", sql->scan_fail.message);
    if (code == SQLITE_NOMEM)
        return fail(err, ERR_LIMIT,
                    "the query needs more memory than allowed: group or filter before sorting, or "
                    "select fewer columns");
    if (code == SQLITE_TOOBIG)
        return fail(err, ERR_LIMIT,
                    "a text of the query, or one that it makes, is longer than "
                    "1 MiB");
    return fail(err, ERR_INVALID, "%s", message);
}

/* Nothing but blanks, comments and semicolons? Whatever SQLite finds there is a second
 * statement. */
static bool is_empty(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;

    while (*text != '\0') {
        const char *tail = text;

        if (sqlite3_prepare_v3(db, text, -1, 0, &statement, &tail) != SQLITE_OK ||
            statement != NULL) {
            sqlite3_finalize(statement);
            return false;
        }
        if (tail == text)
            break;
        text = tail;
    }
    return true;
}

static enum status prepare(struct sql *sql, const char *text, sqlite3_stmt **ret_statement,
                           struct sql_outcome *ret, struct error *err)
{
    const char *tail = NULL;
    int code = sqlite3_prepare_v3(sql->db, text, -1, 0, ret_statement, &tail);

    if (code != SQLITE_OK)
        return explain(sql, code, text, ret, err);
    if (*ret_statement == NULL)
        return fail(err, ERR_INVALID, "there is no statement: begin with SELECT");
    ret->place = (size_t)(tail - text);
    if (!is_empty(sql->db, tail)) {
        ret->has_place = true;
        return fail(err, ERR_INVALID,
                    "only one statement at a time: what follows the first is not run");
    }
    if (!sqlite3_stmt_readonly(*ret_statement) || sqlite3_column_count(*ret_statement) == 0)
        return fail(err, ERR_INVALID, "only SELECT is answered: nothing here can be changed");
    if (sqlite3_stmt_isexplain(*ret_statement) == 1)
        return fail(err, ERR_INVALID, "EXPLAIN is not supported; use EXPLAIN QUERY PLAN");
    if (sqlite3_bind_parameter_count(*ret_statement) > 0)
        return fail(err, ERR_INVALID,
                    "parameters (?) are not supported: write values into the query");
    return OK;
}

enum { COLUMN_NAME_BYTES_MAX = 200, CELL_BYTES = 16 };

/* Each row repeats the names of its columns; a long one would outweigh all values. */
static enum status check_names(sqlite3_stmt *statement, struct error *err)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        size_t count = str_of(sqlite3_column_name(statement, i)).count;

        if (count > COLUMN_NAME_BYTES_MAX)
            return fail(err, ERR_LIMIT,
                        "the name of column %d has %zu bytes, more than %d: rename it with AS",
                        i + 1, count, COLUMN_NAME_BYTES_MAX);
    }
    return OK;
}

/* As JSON, with a name of so many bytes before it: a control character takes six. */
static uint64_t cell_bytes(const struct sql_value *value, size_t name_bytes)
{
    uint64_t bytes = CELL_BYTES + name_bytes + value->text.count;

    for (size_t i = 0; value->kind == SQL_IS_TEXT && i < value->text.count; i++)
        bytes += (unsigned char)value->text.at[i] < ' ' ? 5 : 0;
    return bytes + (value->kind == SQL_IS_BLOB ? value->text.count : 0);
}

static void tell_columns(sqlite3_stmt *statement, const struct sql_sink *sink)
{
    struct str names[200];
    int count = sqlite3_column_count(statement);

    for (int i = 0; i < count; i++)
        names[i] = str_of(sqlite3_column_name(statement, i));
    sink->columns(sink->data, names, (uint32_t)count);
}

static struct sql_value cell_of(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return (struct sql_value){.kind = SQL_IS_INTEGER,
                                  .integer = sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
        return (struct sql_value){.kind = SQL_IS_REAL,
                                  .real = sqlite3_column_double(statement, column)};
    case SQLITE_TEXT:
        return (struct sql_value){
            .kind = SQL_IS_TEXT,
            .text = {.at = (const char *)sqlite3_column_text(statement, column),
                     .count = (size_t)sqlite3_column_bytes(statement, column)}};
    case SQLITE_BLOB:
        return (struct sql_value){
            .kind = SQL_IS_BLOB,
            .text = {.at = sqlite3_column_blob(statement, column),
                     .count = (size_t)sqlite3_column_bytes(statement, column)}};
    default:
        return (struct sql_value){.kind = SQL_IS_NULL};
    }
}

static enum status take_rows(struct sql *sql, sqlite3_stmt *statement, const struct sql_sink *sink,
                             struct sql_outcome *ret, struct error *err)
{
    struct sql_value values[200];
    size_t name_bytes[200];
    const struct sql_limits *limits = sql->limits;
    int count = sqlite3_column_count(statement), code;
    uint64_t bytes = 0;

    for (int i = 0; i < count; i++)
        name_bytes[i] = str_of(sqlite3_column_name(statement, i)).count;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (ret->row_count == limits->rows_max) {
            ret->cut = "rows";
            return OK;
        }
        for (int i = 0; i < count; i++) {
            values[i] = cell_of(statement, i);
            bytes += cell_bytes(&values[i], name_bytes[i]);
        }
        if (bytes > limits->bytes_max) {
            ret->cut = "bytes";
            return OK;
        }
        sink->row(sink->data, values);
        ret->row_count++;
    }
    return code == SQLITE_DONE ? OK : explain(sql, code, NULL, ret, err);
}

static enum status ask(struct sql *sql, const char *text, const struct sql_sink *sink,
                       struct sql_outcome *ret, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    enum status status = prepare(sql, text, &statement, ret, err);

    if (status == OK)
        status = check_names(statement, err);
    if (status == OK) {
        tell_columns(statement, sink);
        status = take_rows(sql, statement, sink, ret, err);
    }
    sqlite3_finalize(statement);
    return status;
}

enum status sql_ask(struct sql *sql, struct str query, const struct sql_limits *limits,
                    const struct sql_sink *sink, struct sql_outcome *ret, struct error *err)
{
    const char *nul = query.count == 0 ? NULL : memchr(query.at, '\0', query.count);

    *ret = (struct sql_outcome){0};
    if (query.count >= SQL_QUERY_BYTES_MAX)
        return fail(err, ERR_LIMIT, "a query may have at most %d bytes; this one has %zu",
                    SQL_QUERY_BYTES_MAX, query.count);
    if (nul != NULL) {
        ret->has_place = true;
        ret->place = (size_t)(nul - query.at);
        return fail(err, ERR_INVALID, "the query contains a NUL character");
    }
    sql->limits = limits;
    sql->until_ns = sql_cpu_ns() + limits->run_ms * 1000000;
    sql->scan_count = 0;
    sql->limit_met = NULL;
    sql->refused = sql->scan_fail = (struct error){0};

    struct arena *arena = arena_create();
    enum status status = ask(sql, str_c(arena, query), sink, ret, err);
    ret->scan_count = sql->scan_count;
    arena_destroy(arena);
    return status;
}

static enum status set_up(struct sql *sql, struct error *err)
{
    TRY(sql_add_tables(sql, err));
    if (sqlite3_exec(sql->db, "PRAGMA temp_store=MEMORY; PRAGMA query_only=1", NULL, NULL, NULL) !=
        SQLITE_OK)
        return fail(err, ERR_IO, "SQLite cannot be set up: %s", sqlite3_errmsg(sql->db));
    sql_guard(sql);
    return OK;
}

enum status sql_open(const struct sql_table *tables, uint32_t table_count, struct sql **ret,
                     struct error *err)
{
    struct sql *sql = memory_resize(NULL, 1, sizeof *sql);
    enum status status;

    *sql = (struct sql){.tables = tables, .table_count = table_count};
    if (sqlite3_open_v2(":memory:", &sql->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        status = fail(err, ERR_IO, "SQLite cannot be opened");
    else
        status = set_up(sql, err);
    *ret = status == OK ? sql : NULL;
    if (status != OK)
        sql_close(sql);
    return status;
}

void sql_close(struct sql *sql)
{
    if (sql != NULL)
        sqlite3_close(sql->db);
    free(sql);
}
