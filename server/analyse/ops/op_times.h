/* SPDX-License-Identifier: Apache-2.0 */
/* One op, kernel or name: when it ran.
 *
 *   step        1     2     3          steps: self time and number of its slices in each
 *   op         |==|  |=|   |====|      longest; how the durations lie
 *
 * What is let through, and how much of it, is as in the table of ops (top.h): its count of events
 * is `slice_count`, its self time `self_ps`.
 */
#ifndef JVIEWD_ANALYSE_OPS_OP_TIMES_H
#define JVIEWD_ANALYSE_OPS_OP_TIMES_H

#include "analyse/analyse.h"

enum { OP_TIMES_BUCKETS = 32 };

struct op_in_step {
    uint32_t host;
    int64_t number, start_ps, dur_ps; /* of the step, run time */
    uint64_t count;
    int64_t self_ps;
};

struct op_times {
    uint64_t slice_count;
    int64_t self_ps;
    int64_t min_ps, max_ps;         /* whole durations; of none 0 */
    uint32_t host;                  /* of `longest` */
    slice_id longest;               /* NO_SLICE: none */
    const struct op_in_step *steps; /* that are asked for, by start */
    uint32_t step_count;
    struct op_in_step outside; /* in none of them: count and self_ps */
    bool has_spread;           /* false: one duration, or too many to be looked at */
    int64_t bounds_ps[OP_TIMES_BUCKETS + 1];
    uint64_t counts[OP_TIMES_BUCKETS];
};

/* Of what `restriction` lets through, which names it: ops, or all recorded slices of the name. */
MUST_CHECK enum status op_times(const struct run_traces *run, const struct restriction *restriction,
                                bool of_ops, struct arena *arena, struct op_times *ret,
                                struct error *err);

#endif
