/* SPDX-License-Identifier: Apache-2.0 */
/* What made a step slow: what took longer in it than in the others.
 *
 *                   others, in the middle   this step
 *   all-reduce.7            4.1 ms            27.1 ms     23.0 ms longer: the answer
 *   dot.63                 18.2 ms            18.3 ms
 *
 * Ops count by self time, the mean over the devices; where no op explains a quarter of what the
 * step took longer, slices of the stepping thread count by their time, and of those inside each
 * other the innermost that explains nearly all. Compared with up to 15 usual steps.
 */
#ifndef JVIEWD_ANALYSE_STEPS_STEPS_WHY_H
#define JVIEWD_ANALYSE_STEPS_STEPS_WHY_H

#include "analyse/steps/steps.h"

enum { WHY_STEPS_MAX = 32 }; /* of a host: outliers first, then the slowest */

struct step_why {
    struct str name;    /* "" unknown */
    bool is_op;         /* else a slice of the stepping thread */
    int64_t longer_ps;  /* than the median of the others */
    int64_t usual_ps;   /* that median */
    const char *reason; /* why it is not known */
};

/* One for each step; `medians_ps` of each host. */
struct step_why *steps_why(const struct run_traces *run, const struct steps *steps,
                           const int64_t *medians_ps, struct arena *arena);

#endif
