/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sql*.c.
 *
 *   sql_guard.c   what a query may not do        sql_table.c   tables as SQLite asks for them
 *   sql.c         one query, from its text to its rows
 */
#ifndef JVIEWD_STORE_SQL_PARTS_H
#define JVIEWD_STORE_SQL_PARTS_H

#include <sqlite3.h>

#include "store/sql.h"

struct sql { /* a connection, and of the query that it is asked what its callbacks see */
    sqlite3 *db;
    const struct sql_table *tables;
    uint32_t table_count;
    const struct sql_limits *limits;
    int64_t until_ns; /* of the thread's CPU clock */
    uint64_t scan_count;
    bool declaring;         /* SQLite notes down a table's columns: our text, not the query's */
    const char *limit_met;  /* why it was interrupted; NULL: it was not */
    struct error refused;   /* by the authorizer: clearer than "not authorized" */
    struct error scan_fail; /* of a table's open */
};

/* Limits of sizes, the authorizer, the clock. */
void sql_guard(struct sql *sql);
int64_t sql_cpu_ns(void);
/* One module a table. */
MUST_CHECK enum status sql_add_tables(struct sql *sql, struct error *err);

#endif
