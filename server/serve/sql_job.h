/* The server's side of a query: its process, watched. */
#ifndef JVIEWD_SERVE_SQL_JOB_H
#define JVIEWD_SERVE_SQL_JOB_H

#include "base/bytes.h"
#include "base/error.h"

struct sql_answer {
    int status; /* HTTP's */
    struct str type;
    struct str body; /* in the arena */
};

/* Two at once; eight more wait for their turn, ERR_CONFLICT for who comes then. `text` is the job
 * as JSON, `run_ms` what the query may take; with `keeps_one` a process stands ready for the next
 * query from then on, until sql_process_keep_none (see sql_process.h). */
MUST_CHECK enum status sql_job(struct str text, int64_t run_ms, bool keeps_one, struct arena *arena,
                               struct sql_answer *ret, struct error *err);

#endif
