/* SPDX-License-Identifier: Apache-2.0 */
/* Any number of runs side by side: one column each, one row a figure, the best of each row marked.
 *
 *                         step_500   step_1000   step_1500
 *   step    median         22.3 ms*    91.4 ms     91.1 ms
 *   time    compute        18.0 ms*    60.2 ms     60.1 ms     of the mean step, by kind
 *   op      dot.63          4.1 ms*    18.2 ms     18.1 ms     a step; matched with the first run's
 *   memory  peak           61.2 GiB   61.2 GiB     60.9 GiB*
 *   setup   XLA_FLAGS           ""        "…"         "…"     only where runs differ
 *
 * Each run is measured as diff_runs measures it. A figure is best where it is the least and some
 * other run's is more; what is no cost (a count, a text) has no best. Unknown is null with a
 * reason.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_COMPARE_H
#define JVIEWD_ANALYSE_COMPARE_COMPARE_H

#include "analyse/compare/diff.h"

enum { COMPARE_RUNS_MAX = 64, COMPARE_OPS_MAX = 1000, COMPARE_SETUP_MAX = 200 };
enum { COMPARE_NO_BEST = -1 };

struct compare_row {
    const char *group; /* "step", "time", "op", "memory", "compile", "setup" */
    struct str key, name;
    struct str scope, module; /* "" but for ops; the module as tables call it: "jit_f(6)" */
    enum unit unit;
    struct cell *values; /* one a run */
    int32_t best;        /* the first run with the least; COMPARE_NO_BEST */
};

struct comparison {
    struct diff_measured *sides; /* one a run */
    bool by_steps;               /* false: captures are compared, for some run has no steps */
    struct compare_row *rows;
    uint32_t row_count;
    uint32_t op_count; /* of all matched ops; `op_limit` of them are rows */
};

/* The ops that take most in any run, at most op_limit. */
MUST_CHECK enum status compare_runs(const struct diff_side *sides, uint32_t count,
                                    uint32_t op_limit, struct arena *arena, struct comparison *ret,
                                    struct error *err);

/* What the files of the runs record otherwise: versions, flags, devices; rows of "setup". */
void compare_setups(const struct diff_side *sides, uint32_t count, struct arena *arena,
                    struct comparison *ret);

#endif
