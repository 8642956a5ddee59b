/* SPDX-License-Identifier: Apache-2.0 */
/* Questions in SQL over tables that somebody else has: SQLite without a file.
 *
 *   floor above    struct sql_table {name, columns, open, next, cell}     slices, ops, steps, ...
 *   sql_open       each becomes an eponymous virtual table
 *   sql_ask        one SELECT, under limits, in a process that is not the server's
 *        |
 *   struct sql_sink {columns, row}                                        the rows of the result
 *
 * What a query may compare (`start_ps >= 5`, `name = 'x'`) is handed to a table's `open`, which may
 * use it to look at less. It need not be exact: SQLite checks every row again.
 *
 * The text comes from strangers. Nothing is written, attached, loaded or configured: an authorizer
 * lets through SELECT, the given tables and a list of functions; sizes, depths, steps, rows and
 * bytes have limits. Time and memory are those of the process: sql_guard_process sets them.
 */
#ifndef JVIEWD_STORE_SQL_H
#define JVIEWD_STORE_SQL_H

#include "base/bytes.h"
#include "base/error.h"

enum sql_type { SQL_TEXT, SQL_INTEGER, SQL_REAL };

enum sql_comparison {
    SQL_EQUAL = 1,
    SQL_GREATER = 2,
    SQL_AT_LEAST = 4,
    SQL_LESS = 8,
    SQL_AT_MOST = 16,
    SQL_LIKE = 32,
    SQL_GLOB = 64,
};
#define SQL_RANGE (SQL_EQUAL | SQL_GREATER | SQL_AT_LEAST | SQL_LESS | SQL_AT_MOST)

struct sql_column {
    const char *name;
    enum sql_type type;
    unsigned helps; /* enum sql_comparison: those that make `open` look at less */
    bool grouped;   /* rows can be asked for in its order (by bytes): see sql_scan.order */
};

enum sql_kind { SQL_IS_NULL, SQL_IS_INTEGER, SQL_IS_REAL, SQL_IS_TEXT, SQL_IS_BLOB };

struct sql_value {
    enum sql_kind kind;
    int64_t integer;
    double real;
    struct str text; /* of texts and blobs */
};

struct sql_bound {
    uint32_t column;
    enum sql_comparison comparison;
    struct sql_value value; /* lives as long as the scan is being opened */
};

enum { SQL_BOUNDS_MAX = 16 };
#define SQL_NO_COLUMN UINT32_MAX

struct sql_scan {
    const struct sql_bound *bounds;
    uint32_t bound_count;
    uint64_t columns; /* bit i: column i is asked for; bit 63: it and all behind it */
    uint32_t order;   /* a grouped column that rows must ascend by; SQL_NO_COLUMN: any order */
};

struct sql_cell; /* where a value of the present row goes */
void sql_put_null(struct sql_cell *cell);
void sql_put_integer(struct sql_cell *cell, int64_t value);
void sql_put_real(struct sql_cell *cell, double value);
void sql_put_text(struct sql_cell *cell, struct str value);      /* lives as long as its cursor */
void sql_put_text_copy(struct sql_cell *cell, struct str value); /* is gone with the call */

struct sql_table {
    const char *name;
    const struct sql_column *columns;
    uint32_t column_count;
    uint64_t row_count; /* about: what the planner goes by */
    void *data;
    enum status (*open)(const struct sql_table *table, const struct sql_scan *scan,
                        void **ret_cursor, struct error *err);
    /* To the next row, at first to the first one; false at the end, or where it fails. */
    bool (*next)(void *cursor, struct error *err);
    void (*cell)(const void *cursor, uint32_t column, struct sql_cell *cell);
    void (*close)(void *cursor);
};

struct sql_sink {
    void *data;
    void (*columns)(void *data, const struct str *names, uint32_t count);
    void (*row)(void *data, const struct sql_value *values);
};

struct sql_limits {
    uint64_t rows_max, bytes_max; /* of the result: what is beyond is left out, and told */
    int64_t run_ms;               /* of this thread's CPU time */
};

struct sql_outcome {
    uint64_t row_count;  /* handed to the sink */
    uint64_t scan_count; /* rows that tables were asked for */
    const char *cut;     /* "rows", "bytes": there are more rows than these; NULL: that is all */
    bool has_place;
    size_t place; /* of a failure: the byte of the query that it is about */
};

enum { SQL_QUERY_BYTES_MAX = 65536 };

/* As SQLite's own LIKE and GLOB compare, for tables that look at each of their names once. */
bool sql_matches(enum sql_comparison comparison, const char *pattern, const char *text);
/* Limits for all of SQLite in this process, before anything else of it is used: for a worker. */
void sql_guard_process(uint64_t heap_bytes_max);
struct sql; /* a connection; the tables outlive it */
MUST_CHECK enum status sql_open(const struct sql_table *tables, uint32_t table_count,
                                struct sql **ret, struct error *err);
/* ERR_INVALID: what SQL the text breaks, ERR_LIMIT: what it takes too much of. */
MUST_CHECK enum status sql_ask(struct sql *sql, struct str query, const struct sql_limits *limits,
                               const struct sql_sink *sink, struct sql_outcome *ret,
                               struct error *err);
void sql_close(struct sql *sql); /* takes NULL */

#endif
