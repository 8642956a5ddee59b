/* SPDX-License-Identifier: Apache-2.0 */
/* What several questions about one whole run stand on, analysed once for all of them.
 *
 *   struct shared shared;
 *   shared_open(&shared, services, run_id, arena);
 *   ... requests with .shared = &shared ask for overview, findings, steps, hosts ...
 *   shared_close(&shared);
 *
 * Nothing is opened before a handler has to make something. One thread asks, and asks without any
 * restriction; what the analyses hold lives as long as the arena.
 */
#ifndef JVIEWD_SERVE_KEPT_SHARED_H
#define JVIEWD_SERVE_KEPT_SHARED_H

#include "analyse/findings/memo.h"
#include "serve/answer/request.h"

struct shared {
    struct request holder; /* holds the traces */
    struct memo *memo;     /* NULL: not needed yet, or the run cannot be opened */
    bool tried;
};

void shared_open(struct shared *ret, const struct services *services, struct str run_id,
                 struct arena *arena);
void shared_close(struct shared *shared);

/* NULL: nothing is shared, or the request's run is another by now than the one that was opened. */
struct memo *request_shared(struct request *req, const struct run_traces *run);
/* The analyses of what is asked: those that are shared, else new ones. */
struct memo *request_memo(struct request *req, const struct run_traces *run,
                          const struct restriction *restriction);
/* The steps of what is asked, maybe without `owners`; where they are shared, with what their lanes
 * did. */
MUST_CHECK enum status request_steps(struct request *req, const struct run_traces *run,
                                     const struct restriction *restriction, struct steps *ret,
                                     struct error *err);
/* All steps of the run, maybe without `owners`, whatever is asked. */
MUST_CHECK enum status request_all_steps(struct request *req, const struct run_traces *run,
                                         const struct steps **ret, struct error *err);
#endif
