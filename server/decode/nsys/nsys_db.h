/* SPDX-License-Identifier: Apache-2.0 */
/* An SQLite file of which nothing is trusted: its real tables, read once from end to end.
 *
 *   bytes --deserialize, read-only--> database
 *            table   the rows of sqlite_master that have pages of their own: no view, trigger,
 *                    virtual table or generated column is ever run
 *              column   as the file has it: looked up, never assumed
 *              rows     a cursor over a few columns
 *
 * A damaged page ends the rows of its table; what was read before stays, and the table's count of
 * rows and its failure are told in a note. A hostile tree of pages can show the same page again and
 * again, so all rows and texts together are paid for from a budget of the file's size.
 */
#ifndef JVIEWD_DECODE_NSYS_NSYS_DB_H
#define JVIEWD_DECODE_NSYS_NSYS_DB_H

#include "trace/sink.h"

struct nsys_table {
    struct str name;
    const struct str *columns;
    uint32_t column_count;
    struct str row_number; /* the column that is another word for the row's number; "" none */
    bool is_read;          /* somebody asked for its rows */
    uint64_t rows_read;
};

struct nsys_db {
    struct sqlite3 *db;
    struct sink *sink;
    struct arena *arena; /* of this decoding */
    struct bytes file;
    struct nsys_table *tables; /* by name */
    uint32_t table_count;
    uint64_t budget_left; /* bytes of rows and texts */
    uint64_t ops_left;    /* steps of SQLite's machine */
    bool over_budget;
};

/* `sink` hears of damage and is asked whether to go on. */
MUST_CHECK enum status nsys_db_open(struct nsys_db *db, struct bytes file, struct sink *sink,
                                    struct arena *arena, struct error *err);
void nsys_db_close(struct nsys_db *db);

struct nsys_table *nsys_table_find(struct nsys_db *db, struct str name); /* NULL: not there */
bool nsys_table_has(const struct nsys_table *table, struct str column);
uint64_t nsys_table_count(struct nsys_db *db, struct nsys_table *table); /* its rows */

struct nsys_rows { /* a cursor */
    struct nsys_db *db;
    struct nsys_table *table;
    struct sqlite3_stmt *statement; /* NULL: no rows come */
    bool counts;                    /* its rows are those of the table: every one once */
};

/* Text that grows into a statement; an identifier is quoted. */
void nsys_sql_name(struct text *sql, struct str identifier);

/* The rows of SELECT `columns` FROM the table `tail`; both are SQL. */
struct nsys_rows nsys_rows_open(struct nsys_db *db, struct nsys_table *table, const char *columns,
                                const char *tail);
/* The same from names that all must be columns of the table; no rows come where one is missing. */
struct nsys_rows nsys_rows_of(struct nsys_db *db, const char *table, const char *const *columns,
                              size_t count, const char *tail);
bool nsys_rows_next(struct nsys_rows *rows);
void nsys_rows_close(struct nsys_rows *rows);
/* Of a statement with one "?": the row for that value, if there is one. It stays open. */
bool nsys_rows_seek(struct nsys_rows *rows, int64_t value);

/* False for NULL and for what is no integer. */
bool nsys_integer(const struct nsys_rows *rows, int column, int64_t *ret);
bool nsys_number(const struct nsys_rows *rows, int column, double *ret);
/* Without a span for what is no text; valid until the next row. */
struct str nsys_text(struct nsys_rows *rows, int column);
/* The value as an arg without its key; ARG_NONE for NULL. */
struct arg nsys_value(struct nsys_rows *rows, int column);

#endif
