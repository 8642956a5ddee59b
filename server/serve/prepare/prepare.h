/* SPDX-License-Identifier: Apache-2.0 */
/* The first questions of a large run, asked before anybody does.
 *
 *   indexed -> catalog -> findings, overview asked once -> kept (see stored.h) -> read by the page
 *                         measured for differences (diff.h)
 *
 * Of the newest eight runs, right after they were indexed and their pages are in memory; what was
 * kept before costs a read. Each run is answered once a server, as it is: what is too large to be
 * kept is not made again, and what could not be opened is asked at the next change. A run of fewer
 * slices is answered as fast. Then every run that is ready is measured once, for trends
 * (measure.h). Between looks the process is ended that nobody asks in SQL any more
 * (sql_process.h).
 *
 * Who looks at a run that was just indexed has the processors first: while answers go out or are
 * made the preparation waits, for two seconds at most.
 */
#ifndef JVIEWD_SERVE_PREPARE_PREPARE_H
#define JVIEWD_SERVE_PREPARE_PREPARE_H

#include "serve/serve.h"
#include "serve/server.h"

struct prepare;
/* NULL: nothing is prepared. `server` is borrowed; NULL: there is none to wait for. */
struct prepare *prepare_start(const struct services *services, const struct server *server);
void prepare_stop(struct prepare *prepare); /* after the question at hand; takes NULL */

struct pace { /* of one who looks again and again whether it is its turn; {0} at first */
    uint64_t replies;
    unsigned waited;
};
/* `replies` so far: as many as at the look before, and none is being made; or too many looks were
 * in vain. */
bool pace_is_due(struct pace *pace, uint64_t replies, bool is_making);

#endif
