/* SPDX-License-Identifier: Apache-2.0 */
/* Whole tables of a run as data for other programs: all rows, all columns, one schema.
 *
 *   views, slices, runs, metrics, findings, files
 *      |  tables_schema.c   which tables there are, and their columns
 *      |  tables_rows.c     a batch of rows, as REST has them     tables_slices.c  those of slices
 *      v
 *   struct data_batch ──> tables_text.c    CSV, a JSON object a line
 *                    └──> tables_arrow.c   an Arrow file (flat.h)
 *
 * A row is that of REST and SQL: whole numbers are exact 64 bits, shares and rates doubles, truths
 * 0 and 1, unknown is null. In front stand the columns that tell whose row it is, behind them
 * `reasons`, which says as JSON why a null is one. A row that is of all hosts, devices or steps has
 * null there and gives no reason. The version of all of it is TABLES_VERSION; api/tables.json holds
 * it as text.
 */
#ifndef JVIEWD_SERVE_TABLES_TABLES_H
#define JVIEWD_SERVE_TABLES_TABLES_H

#include "serve/serve.h"

enum { TABLES_VERSION = 3, TABLES_MAX = 40 }; /* the version: raised when a column changes */

enum data_type { DATA_TEXT, DATA_INTEGER, DATA_REAL };

struct data_column {
    const char *name;
    enum data_type type;
};

struct data_table {
    const char *name;
    const struct data_column *columns;
    uint32_t column_count;
    uint32_t own_count;      /* of them: those before the last */
    bool is_large;           /* as large as the profile: made only where it is named */
    bool needs_no_timeline;  /* there are rows of a run that could not be read, too */
    const struct view *view; /* NULL: one of those that no view makes */
};

/* All there are, in the order of docs; at most TABLES_MAX. */
uint32_t data_tables(const struct route_table *routes, struct arena *arena,
                     struct data_table ret[TABLES_MAX]);
const char *data_type_word(enum data_type type); /* as docs/sql.md has it */
/* {"version": 1, "tables": [{"name": "ops", "columns": [{"name": "run", "type": "text"}]}]} */
void data_put_schema(const struct route_table *routes, struct text *out);

#endif
