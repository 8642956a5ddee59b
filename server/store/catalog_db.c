/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the catalog's SQLite connection: prepared once, bound, stepped, reset. */
#include "store/catalog_db.h"

#include <sqlite3.h>

enum { LIST_END = '\x1f' };

static enum status db_failed(struct catalog *catalog, struct error *err)
{
    int code = sqlite3_errcode(catalog->db);
    enum status status = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_FORMAT : ERR_IO;

    return fail(err, status, "the catalog of runs failed: %s", sqlite3_errmsg(catalog->db));
}

struct sqlite3_stmt *db_question(struct catalog *catalog, const char *sql, struct error *err)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v3(catalog->db, sql, -1, 0, &statement, NULL) != SQLITE_OK)
        db_failed(catalog, err);
    return statement;
}

struct sqlite3_stmt *db_statement(struct catalog *catalog, const char *sql, struct error *err)
{
    for (uint32_t i = 0; i < catalog->statement_count; i++) {
        if (catalog->statements[i].sql == sql)
            return catalog->statements[i].statement;
    }
    if (catalog->statement_count == CATALOG_STATEMENTS_MAX) {
        fail(err, ERR_LIMIT, "the catalog knows no more than %d statements",
             CATALOG_STATEMENTS_MAX);
        return NULL;
    }

    sqlite3_stmt *statement = db_question(catalog, sql, err);

    if (statement != NULL) {
        catalog->statements[catalog->statement_count].sql = sql;
        catalog->statements[catalog->statement_count++].statement = statement;
    }
    return statement;
}

void db_finish(struct sqlite3_stmt *statement)
{
    sqlite3_finalize(statement);
}

void db_bind_text(struct sqlite3_stmt *statement, int at, struct str text)
{
    sqlite3_bind_text64(statement, at, text.count == 0 ? "" : text.at, text.count, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

void db_bind_i64(struct sqlite3_stmt *statement, int at, int64_t value)
{
    sqlite3_bind_int64(statement, at, value);
}

void db_bind_double(struct sqlite3_stmt *statement, int at, double value)
{
    sqlite3_bind_double(statement, at, value);
}

void db_bind_known(struct sqlite3_stmt *statement, int at, bool known, int64_t value)
{
    if (known)
        sqlite3_bind_int64(statement, at, value);
    else
        sqlite3_bind_null(statement, at);
}

bool db_row(struct catalog *catalog, struct sqlite3_stmt *statement, struct error *err)
{
    switch (sqlite3_step(statement)) {
    case SQLITE_ROW:
        return true;
    case SQLITE_DONE:
        return false;
    default:
        db_failed(catalog, err);
        return false;
    }
}

void db_reset(struct sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

enum status db_run(struct catalog *catalog, struct sqlite3_stmt *statement, struct error *err)
{
    enum status status = OK;
    int code;

    do {
        code = sqlite3_step(statement);
    } while (code == SQLITE_ROW);
    if (code != SQLITE_DONE)
        status = db_failed(catalog, err);
    db_reset(statement);
    return status;
}

enum status db_exec(struct catalog *catalog, const char *sql, struct error *err)
{
    if (sqlite3_exec(catalog->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return db_failed(catalog, err);
    return OK;
}

struct str db_text(struct sqlite3_stmt *statement, int column, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    int count = sqlite3_column_bytes(statement, column);

    if (text == NULL || count <= 0)
        return STR("");
    return str_copy(arena, (struct str){.at = text, .count = (size_t)count});
}

int64_t db_i64(struct sqlite3_stmt *statement, int column)
{
    return sqlite3_column_int64(statement, column);
}

double db_double(struct sqlite3_stmt *statement, int column)
{
    return sqlite3_column_double(statement, column);
}

bool db_is_null(struct sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

void db_content(struct sqlite3_stmt *statement, int column, char ret[33])
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    ret[0] = '\0';
    if (text != NULL && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32)
        memcpy(ret, text, 33);
}

struct str db_join(struct arena *arena, const struct str *texts, uint32_t count)
{
    size_t size = 0;

    for (uint32_t i = 0; i < count; i++)
        size += texts[i].count + 1;
    if (size == 0)
        return STR("");

    char *at = arena_alloc(arena, size, 1), *end = at;

    for (uint32_t i = 0; i < count; i++) {
        if (texts[i].count > 0)
            memcpy(end, texts[i].at, texts[i].count);
        end += texts[i].count;
        *end++ = LIST_END;
    }
    return (struct str){.at = at, .count = size};
}

void db_split(struct str joined, struct arena *arena, const struct str **ret, uint32_t *ret_count)
{
    uint32_t count = 0;

    for (size_t i = 0; i < joined.count; i++)
        count += joined.at[i] == LIST_END;

    struct str *texts = arena_array(arena, struct str, count == 0 ? 1 : count);

    for (uint32_t i = 0; i < count; i++) {
        const char *end = memchr(joined.at, LIST_END, joined.count);

        texts[i] = (struct str){.at = joined.at, .count = (size_t)(end - joined.at)};
        joined = str_skip(joined, texts[i].count + 1);
    }
    *ret = texts;
    *ret_count = count;
}

const char *catalog_library(void)
{
    return sqlite3_libversion();
}
