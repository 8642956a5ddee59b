/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sql*.c: queries, in a process that is not the server's.
 *
 *   server   sql.c          POST /api/sql: which runs, which query, what of limits
 *            sql_job.c      the job as JSON -> jviewd sql-worker -> its answer
 *            sql_process.c  the processes: one stands ready before it is asked
 *                               |
 *   worker   sql_worker.c   the job -> tables -> store/sql.h -> the answer; once more
 *            sql_traces.c   the traces of a run, opened when a query first comes to it
 *            sql_runs.c     runs, metrics: what the job itself says
 *            sql_views.c    ops, names, steps, ...: tables that endpoints declare
 *            sql_kept.c     views that the server has made for its own answers
 *            sql_slices.c   slices: the segments' chunks, row by row
 *            sql_out.c      the rows of the result, or its problem, as the reply's body
 *
 *   job      size | runs, once | size | query          answer   {status, type, bytes, stays} | body
 *
 * What is told of the runs names the files of each, so a worker opens nothing but these: no
 * catalog, no directory. What was opened and made for one query stays for the next.
 */
#ifndef JVIEWD_SERVE_SQL_SQL_PARTS_H
#define JVIEWD_SERVE_SQL_SQL_PARTS_H

#include "serve/answer/reply.h"
#include "store/sql.h"

struct json_t; /* of Jansson */

struct sql_run { /* one that queries may ask of */
    struct str name;
    const struct json_t *told;       /* its members in the job */
    bool was_opened;                 /* or was tried to be */
    bool was_asked;                  /* by the present query */
    struct run_traces traces;        /* no host: it could not be, or holds no timeline */
    bool has_others;                 /* those below were opened */
    const struct host_trace *others; /* modules beside it */
    uint32_t other_count;
    const struct answer_note *lent; /* what was lent to it */
    uint32_t lent_count;
};

enum { SQL_TABLES_MAX = 32, SQL_VIEW_COLUMNS_MAX = 60 };

struct sql_work {
    struct arena *arena; /* of all queries */
    const struct route_table *routes;
    struct sql_run *runs;
    uint32_t run_count;
    uint64_t slice_count;  /* of all runs, as they say it */
    struct str run_member; /* of the reply: {"id", "name"} of the one that was named, or null */
    struct sql_table tables[SQL_TABLES_MAX];
    uint32_t table_count;
    struct sql *sql; /* over these tables */

    struct arena *query_arena;           /* the rest, too, is of the present query alone */
    bool damaged;                        /* one was found damaged, or a page of it lost */
    bool left;                           /* amid a query: nothing is closed any more */
    uint32_t lost_count;                 /* runs whose traces could not be opened */
    const struct answer_note *notes[64]; /* of tables that it came to: each kind once */
    uint32_t note_count;
};

struct str sql_told(const struct json_t *object, const char *key); /* "": no text there */
/* No other file than those that were told can be opened any more. */
MUST_CHECK enum status sql_confine(struct sql_work *work, struct error *err);
/* Of the run; opened now where it was not yet. The query came to it: its notes are told. */
const struct run_traces *sql_traces(struct sql_work *work, uint32_t run);
/* The same with the modules beside it. */
const struct run_traces *sql_all_traces(struct sql_work *work, uint32_t run);
/* Did anything that queries have read turn out damaged? */
bool sql_damaged(const struct sql_work *work);
/* What a bound on the column "run" leaves: [*ret_first, *ret_end). */
void sql_pick_runs(const struct sql_work *work, const struct sql_scan *scan, uint32_t run_column,
                   uint32_t *ret_first, uint32_t *ret_end);

/* Of the view, as the server keeps it for its endpoint; false: it does not. */
bool sql_kept_table(const struct sql_work *work, uint32_t run, const char *view, struct table *ret);
/* The server's part of it: where they would be. */
void sql_put_kept(struct json *json, const struct request *req, const struct run_record *run);
void sql_keep_notes(struct sql_work *work, const struct answer_note *notes, uint32_t count);

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
