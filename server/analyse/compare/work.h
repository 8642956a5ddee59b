/* SPDX-License-Identifier: Apache-2.0 */
/* How much more does a step of b do than one of a, however fast either machine was?
 *
 *   a   dot x 100   tanh x 100             b   dot x 103   tanh x 103   sort x 1
 *       1.8 ms      0.3 ms                     2.9 ms      0.4 ms       0.07 ms
 *
 *   at a's speed                               1.854       0.309        0.07 / 1.53    +5.3 % work
 *
 * An op that computes the same on the same shapes is worth in both runs what it took in a. What
 * only one of them has is worth what it took there, over how much slower the ops of both ran in
 * that very step. Where ops on the same shapes are too few, as in a scan over one layer more, an op
 * that does the same on others is worth what it took in a, times its FLOPs or bytes over a's,
 * whichever changed less. So a busy machine, which slows all of them, changes nothing, and what the
 * program was given to do is seen where its time cannot be. Likewise the step's time at that speed,
 * which holds what it waited for, too. Neither can be told without HLO, of several hosts, nor where
 * the runs have less than half of their ops' time in common, with costs that are known.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_WORK_H
#define JVIEWD_ANALYSE_COMPARE_WORK_H

#include "analyse/compare/diff.h"

struct work_steps { /* of one run, by step, at a's speed */
    int64_t *work_ps, *time_ps;
    uint32_t count;
};

struct work_change {
    bool known;
    bool is_same;  /* the same ops, each as often */
    bool on_host;  /* both runs' devices are threads of a host: what else runs there slows them */
    bool fills;    /* ops take so much of both runs' steps that more work is more time */
    double slower; /* how much slower the ops of both ran in b: 1.5 times */
    struct work_steps a, b;
    struct str what; /* the op that says most of a change: "dot ran 103 times instead of 100"; "" */
};

/* Of the steps that count. */
MUST_CHECK enum status work_compare(const struct diff_side *const sides[2], struct arena *arena,
                                    struct work_change *ret, struct error *err);

#endif
