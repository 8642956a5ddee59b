/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a step forward: when each node would have begun and ended, had some taken another
 * time.
 *
 *   recorded   call |--launch--| a ......|wait|        a half as long, all else as it was:
 *   replayed   call |--launch--| a .|wait|             what was after its end comes earlier
 *
 * Times of nodes scale, delays between them stay. Lanes stay exclusive, in the order in which they
 * were; a node that no edge holds begins when it did. Without a change every node begins and ends
 * when it was recorded to.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_REPLAY_H
#define JVIEWD_ANALYSE_CRITICAL_REPLAY_H

#include "analyse/critical/edits.h"
#include "analyse/critical/path.h"

struct replay { /* memory of it, which serves one graph after another; {0} to begin with */
    int64_t *starts_ps, *ends_ps; /* by node */
    double *factors;              /* by node */
    bool *hidden;                 /* by node: what comes behind it on its lane does not wait */
    uint32_t *order;
    uint32_t capacity;
    int64_t end_ps;           /* of the step */
    int64_t changed_ps;       /* recorded time of what changes, ... */
    int64_t lost_ps;          /* and of it what no edge leads from to the step's end */
    enum piece_kind bound_by; /* of what most of the path is then made */
};

/* `edits` were found in the run; NULL: none. */
void replay_run(const struct step_graph *graph, const struct edits *edits, struct replay *ret);
void replay_free(struct replay *replay);

#endif
