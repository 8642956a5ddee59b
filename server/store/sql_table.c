/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the floor above, as SQLite asks for them.
 *
 *   xBestIndex   which of the query's comparisons the table can use, and in which order its rows
 *                shall come: written down as one byte a comparison in idxStr, and idxNum
 *   xFilter      the comparisons' values -> struct sql_scan -> open
 *
 *   idxStr       two letters a bound: 'A' + column, 'A' + bit of the comparison
 *   idxNum       7 bits: the column to order by, plus one, 0 none; a bit for each of the first 23
 *                columns that the query reads; one for all others
 */
#include <stdlib.h>

#include "store/sql_parts.h"

enum { ORDER_MASK = 127, ASKED_BIT = 7, ASKED_SHOWN = 23 };

struct table { /* one of the query's, connected */
    sqlite3_vtab base;
    struct sql *sql;
    const struct sql_table *source;
};

struct cursor {
    sqlite3_vtab_cursor base;
    void *rows; /* of source->open; NULL: not opened */
    bool (*next)(void *rows, struct error *err);
    void (*cell)(const void *rows, uint32_t column, struct sql_cell *ret);
    struct sql *sql;
    bool ended;
    sqlite3_int64 rowid;
};

static struct table *table_of(sqlite3_vtab *base)
{
    return (struct table *)base;
}

static const char *type_word(enum sql_type type)
{
    static const char *const words[] = {
        [SQL_TEXT] = "TEXT", [SQL_INTEGER] = "INTEGER", [SQL_REAL] = "REAL"};

    return words[type];
}

struct connection { /* what a module's client data points to */
    struct sql *sql;
    const struct sql_table *source;
};

static int connect_table(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **ret, char **ret_message)
{
    const struct connection *connection = data;
    const struct sql_table *source = connection->source;
    struct text declared = {0};

    (void)argc;
    (void)argv;
    (void)ret_message;
    text_puts(&declared, "CREATE TABLE x(");
    for (uint32_t i = 0; i < source->column_count; i++)
        text_putf(&declared, "%s\"%s\" %s", i > 0 ? ", " : "", source->columns[i].name,
                  type_word(source->columns[i].type));
    text_puts(&declared, ")");
    connection->sql->declaring = true;
    int code = sqlite3_declare_vtab(db, declared.at);
    connection->sql->declaring = false;
    text_free(&declared);
    if (code != SQLITE_OK)
        return code;

    struct table *table = sqlite3_malloc64(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    *table = (struct table){.sql = connection->sql, .source = source};
    *ret = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

static unsigned comparison_of(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
        return SQL_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return SQL_GREATER;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return SQL_AT_LEAST;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return SQL_LESS;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return SQL_AT_MOST;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
        return SQL_LIKE;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
        return SQL_GLOB;
    default:
        return 0;
    }
}

static int bit_of(unsigned comparison)
{
    return __builtin_ctz(comparison);
}

/* Comparisons that help are handed over, and still checked by SQLite. */
static double take_bounds(const struct sql_table *source, sqlite3_index_info *info, char *ret)
{
    double rows = source->row_count > 0 ? (double)source->row_count : 1;
    int count = 0;

    for (int i = 0; i < info->nConstraint && count < SQL_BOUNDS_MAX; i++) {
        int column = info->aConstraint[i].iColumn;
        unsigned comparison = comparison_of(info->aConstraint[i].op);

        if (!info->aConstraint[i].usable || column < 0 ||
            (source->columns[column].helps & comparison) == 0 || comparison == 0 ||
            sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        ret[2 * count] = (char)('A' + column);
        ret[2 * count + 1] = (char)('A' + bit_of(comparison));
        info->aConstraintUsage[i].argvIndex = ++count;
        rows /= comparison == SQL_EQUAL ? 50 : 4;
    }
    ret[2 * count] = '\0';
    return rows < 1 ? 1 : rows;
}

/* Groups and the order of one grouped column come from the table, if nothing narrows it. */
static void take_order(const struct sql_table *source, sqlite3_index_info *info, bool narrowed)
{
    if (info->nOrderBy != 1 || narrowed || info->aOrderBy[0].desc)
        return;
    int column = info->aOrderBy[0].iColumn;
    if (column < 0 || !source->columns[column].grouped)
        return;
    info->orderByConsumed = 1;
    info->idxNum = column + 1;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_table *source = table_of(base)->source;
    char *bounds = sqlite3_malloc64(2 * SQL_BOUNDS_MAX + 1);

    if (bounds == NULL)
        return SQLITE_NOMEM;
    double rows = take_bounds(source, info, bounds);
    take_order(source, info, bounds[0] != '\0');
    info->idxStr = bounds;
    info->needToFreeIdxStr = 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows + 50; /* opening costs, too: better joined once than often */
    /* Which columns are read does not fit idxNum beside the order; what xFilter needs of it
     * does. */
    for (int bit = 0; bit < 64; bit++) {
        if ((info->colUsed >> bit & 1) != 0)
            info->idxNum |=
                bit < ASKED_SHOWN ? 1 << (bit + ASKED_BIT) : 1 << (ASKED_SHOWN + ASKED_BIT);
    }
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
    struct cursor *cursor = sqlite3_malloc64(sizeof *cursor);

    (void)base;
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){.ended = true};
    *ret = &cursor->base;
    return SQLITE_OK;
}

static void close_rows(struct cursor *cursor)
{
    if (cursor->rows != NULL)
        table_of(cursor->base.pVtab)->source->close(cursor->rows);
    cursor->rows = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    close_rows((struct cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static struct sql_value value_of(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return (struct sql_value){.kind = SQL_IS_INTEGER, .integer = sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
        return (struct sql_value){.kind = SQL_IS_REAL, .real = sqlite3_value_double(value)};
    case SQLITE_TEXT:
        return (struct sql_value){.kind = SQL_IS_TEXT,
                                  .text = {.at = (const char *)sqlite3_value_text(value),
                                           .count = (size_t)sqlite3_value_bytes(value)}};
    case SQLITE_BLOB:
        return (struct sql_value){
            .kind = SQL_IS_BLOB,
            .text = {.at = sqlite3_value_blob(value), .count = (size_t)sqlite3_value_bytes(value)}};
    default:
        return (struct sql_value){.kind = SQL_IS_NULL};
    }
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->ended = !cursor->next(cursor->rows, &cursor->sql->scan_fail);
    cursor->rowid++;
    cursor->sql->scan_count += !cursor->ended;
    return cursor->sql->scan_fail.code == OK ? SQLITE_OK : SQLITE_ERROR;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = table_of(base->pVtab);
    struct sql_bound bounds[SQL_BOUNDS_MAX];
    uint64_t columns = (uint64_t)(number >> ASKED_BIT) & ((UINT64_C(1) << ASKED_SHOWN) - 1);

    if (number & 1 << (ASKED_SHOWN + ASKED_BIT))
        columns |= ~UINT64_C(0) << ASKED_SHOWN;
    for (int i = 0; i < argc && i < SQL_BOUNDS_MAX; i++)
        bounds[i] = (struct sql_bound){.column = (uint32_t)(text[2 * i] - 'A'),
                                       .comparison = 1u << (text[2 * i + 1] - 'A'),
                                       .value = value_of(argv[i])};
    const struct sql_scan scan = {
        .bounds = bounds,
        .bound_count = (uint32_t)argc,
        .columns = columns,
        .order = (number & ORDER_MASK) == 0 ? SQL_NO_COLUMN : (uint32_t)(number & ORDER_MASK) - 1};
    close_rows(cursor);
    cursor->rowid = 0;
    cursor->next = table->source->next;
    cursor->cell = table->source->cell;
    cursor->sql = table->sql;
    if (table->source->open(table->source, &scan, &cursor->rows, &table->sql->scan_fail) != OK)
        return SQLITE_ERROR;
    return next_row(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->ended;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (struct cursor *)base;

    cursor->cell(cursor->rows, (uint32_t)column, (struct sql_cell *)context);
    return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = ((struct cursor *)base)->rowid;
    return SQLITE_OK;
}

bool sql_matches(enum sql_comparison comparison, const char *pattern, const char *text)
{
    return comparison == SQL_GLOB ? sqlite3_strglob(pattern, text) == 0
                                  : sqlite3_strlike(pattern, text, 0) == 0;
}

static sqlite3_context *context_of(struct sql_cell *cell)
{
    return (sqlite3_context *)cell;
}

void sql_put_null(struct sql_cell *cell)
{
    sqlite3_result_null(context_of(cell));
}

void sql_put_integer(struct sql_cell *cell, int64_t value)
{
    sqlite3_result_int64(context_of(cell), value);
}

void sql_put_real(struct sql_cell *cell, double value)
{
    sqlite3_result_double(context_of(cell), value);
}

void sql_put_text(struct sql_cell *cell, struct str value)
{
    sqlite3_result_text64(context_of(cell), value.count == 0 ? "" : value.at, value.count,
                          SQLITE_STATIC, SQLITE_UTF8);
}

void sql_put_text_copy(struct sql_cell *cell, struct str value)
{
    sqlite3_result_text64(context_of(cell), value.count == 0 ? "" : value.at, value.count,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
}

enum status sql_add_tables(struct sql *sql, struct error *err)
{
    /* Without xCreate a module is its one table, and no statement can make another. */
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

    for (uint32_t i = 0; i < sql->table_count; i++) {
        struct connection *connection = memory_resize(NULL, 1, sizeof *connection);

        *connection = (struct connection){.sql = sql, .source = &sql->tables[i]};
        if (sqlite3_create_module_v2(sql->db, sql->tables[i].name, &module, connection, free) !=
            SQLITE_OK)
            return fail(err, ERR_IO, "the table %s cannot be offered: %s", sql->tables[i].name,
                        sqlite3_errmsg(sql->db));
    }
    return OK;
}
