/* SPDX-License-Identifier: Apache-2.0 */
/* How far the hosts' clocks are apart, by what they did together.
 *
 *   host A   ---[ all-reduce ]---        a collective ends on all hosts at once, so what its ends
 *   host B   -----[ all-reduce ]---      are apart by is the clocks' skew, if it is always the same
 *                             |<>|
 *
 * Collectives are matched by program, instruction and run id, or by their turn where the file
 * holds no run ids; where there are none, executions of one run id are.
 */
#ifndef JVIEWD_ANALYSE_STEPS_ALIGN_H
#define JVIEWD_ANALYSE_STEPS_ALIGN_H

#include "analyse/analyse.h"

struct alignment {     /* of a host against the run's first */
    bool known;        /* the skew is the same in all pairs, within `spread_ps` */
    int64_t skew_ps;   /* by which this host's clock is ahead */
    int64_t spread_ps; /* from the 10th to the 90th of 100 pairs */
    uint32_t pair_count;
    bool bounded; /* by causality: who ends a collective has met everybody's begin */
    int64_t low_ps, high_ps;
    const char *reason; /* why it is not known; NULL when it is */
};

/* One for each host; the first is known and has no skew, unless it is alone. */
struct alignment *align_hosts(const struct run_traces *run, struct arena *arena);

#endif
