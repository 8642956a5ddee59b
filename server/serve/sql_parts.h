/* Inside sql*.c: one query, in a process of its own.
 *
 *   server   sql.c          POST /api/sql: which runs, which query, what of limits
 *            sql_job.c      the job as JSON -> jviewd sql-worker -> its answer
 *            sql_process.c  the processes: one stands ready before it is asked
 *                               |
 *   worker   sql_worker.c   the job -> traces, tables -> store/sql.h -> the answer
 *            sql_runs.c     runs, metrics: what the job itself says
 *            sql_views.c    ops, names, steps, ...: tables that analyses make
 *            sql_slices.c   slices: the segments' chunks, row by row
 *            sql_out.c      the rows of the result, or its problem, as the reply's body
 *
 * The job names the files of each run, so a worker opens nothing but these: no catalog, no
 * directory. Traces are opened when a query first asks for them.
 */
#ifndef JVIEWD_SERVE_SQL_PARTS_H
#define JVIEWD_SERVE_SQL_PARTS_H

#include "serve/reply.h"
#include "store/sql.h"

struct json_t; /* of Jansson */

struct sql_run { /* one that the query may ask of */
    struct str name;
    const struct json_t *told; /* its members in the job */
    bool was_opened;           /* or was tried to be */
    struct run_traces traces;  /* no host: it could not be, or holds no timeline */
};

struct sql_work {
    struct arena *arena; /* of all */
    struct sql_run *runs;
    uint32_t run_count;
    uint64_t slice_count;                /* of all runs, as they say it */
    uint32_t lost_count;                 /* runs whose traces could not be opened */
    const struct answer_note *notes[64]; /* of tables that were made: each kind once */
    uint32_t note_count;
};

/* Of the run; opened now where it was not yet. */
const struct run_traces *sql_traces(struct sql_work *work, uint32_t run);
/* What a bound on the column "run" leaves: [*ret_first, *ret_end). */
void sql_pick_runs(const struct sql_work *work, const struct sql_scan *scan, uint32_t run_column,
                   uint32_t *ret_first, uint32_t *ret_end);

enum { SQL_TABLES_MAX = 32, SQL_VIEW_COLUMNS_MAX = 60 };
/* Appends tables to ret. */
void sql_add_runs(struct sql_work *work, struct sql_table *ret, uint32_t *count);
void sql_add_slices(struct sql_work *work, struct sql_table *ret, uint32_t *count);
void sql_add_views(struct sql_work *work, struct sql_table *ret, uint32_t *count);
void sql_add_columns(struct sql_work *work, struct sql_table *ret, uint32_t *count); /* last */

/* "name #count %share": texts, whole numbers, others. */
struct sql_column *sql_columns_of(struct arena *arena, const char *words, uint32_t *ret_count);
void sql_put_cell(struct sql_cell *ret, const struct cell *cell);

struct sql_result { /* a sink that keeps what comes */
    struct arena *arena;
    struct column columns[200];
    uint32_t column_count;
    struct cell *cells; /* grows; freed by sql_result_free */
    uint64_t row_count, capacity;
};
struct sql_sink sql_result_sink(struct sql_result *result);
void sql_result_free(struct sql_result *result);
/* The reply's body in the format that was asked for. */
void sql_put_answer(const struct sql_work *work, const struct sql_result *result,
                    const struct sql_outcome *outcome, struct str format, struct str run_member,
                    struct text *out);
void sql_put_problem(const struct sql_work *work, const struct sql_table *tables,
                     uint32_t table_count, struct str query, const struct sql_outcome *outcome,
                     const struct error *failure, int *ret_status, struct text *out);

#endif
