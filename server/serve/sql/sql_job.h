/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of a query: its process, watched. */
#ifndef JVIEWD_SERVE_SQL_SQL_JOB_H
#define JVIEWD_SERVE_SQL_SQL_JOB_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"

enum { SQL_STATUS_DAMAGED = 999 }; /* what was read is damaged on disk: there is no answer */

struct sql_answer {
    int status; /* HTTP's, or SQL_STATUS_DAMAGED */
    struct str type;
    struct str body; /* in the arena */
};

/* What a process is told of the runs, as JSON. */
typedef enum status sql_describe(void *data, struct text *out, struct error *err);

struct sql_task {
    struct hash128 asked;   /* of which runs, and in which state: equal where `describe` would be */
    sql_describe *describe; /* called where no process knows them */
    void *data;
    struct str query; /* as JSON */
    int64_t run_ms;   /* what it may take */
};

/* Two at once; eight more wait for their turn, ERR_CONFLICT for who comes then. With `keeps` a
 * process stands ready for the next query from then on, and the one that has answered waits for
 * more about these runs, until sql_process_keep_none (see sql_process.h). */
MUST_CHECK enum status sql_job(const struct sql_task *task, bool keeps, struct arena *arena,
                               struct sql_answer *ret, struct error *err);

#endif
