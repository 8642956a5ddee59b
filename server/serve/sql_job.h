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
 * as JSON, `run_ms` what the query may take. */
MUST_CHECK enum status sql_job(struct str text, int64_t run_ms, struct arena *arena,
                               struct sql_answer *ret, struct error *err);

#endif
