/* SPDX-License-Identifier: Apache-2.0 */
/* Did it become slower than is allowed? Three answers, and one where it cannot be said.
 *
 *                 0          allowed
 *   ok            |  [--x-----]  |            slower by no more, as far as the steps tell:
 *                 |  [------x----|---]        `seen_from` is what they would have told
 *   maybe     [---|--------------|--x---]     slower by more, but that may be chance
 *   regressed     |              | [--x--]    sure that it is slower by more
 *   unknown                                   nothing to measure, or too little
 *
 * The interval is of the rank test (rank_shift.h): each of its bounds holds with `confidence`
 * (0.99). It is widened by what neighbouring steps are alike, and by RUN_SPREAD, what two runs of
 * one code differ by beside their steps at least. One pair of runs cannot tell how much that is,
 * but where it is more, as on a machine that others use, steps vary, too: where they vary by more
 * than QUIET, the bounds are wider by UNTOLD_TIMES what they are beyond it, and by UNTOLD_MOST at
 * most. There the baseline is to be several runs: what those differ by among themselves takes the
 * place of all that (judge_runs).
 *
 * How often each answer comes: docs/compare.md, of pairs that tests/unit/analyse/test_judge.c makes
 * and of real ones (tests/bench/check_errors.py).
 */
#ifndef JVIEWD_ANALYSE_STATS_JUDGE_H
#define JVIEWD_ANALYSE_STATS_JUDGE_H

#include "analyse/stats/stats.h"

/* The worse, the larger. */
enum judged { JUDGED_OK, JUDGED_MAYBE, JUDGED_UNKNOWN, JUDGED_REGRESSED, JUDGED_COUNT };
const char *judged_word(enum judged answer); /* "ok", "maybe", "unknown", "regressed" */

#define MAX_REGRESS 0.01
#define RUN_SPREAD 0.0015 /* standard deviation, of the baseline's median */
#define QUIET 0.0175      /* the same of steps */
#define UNTOLD_TIMES 40
#define UNTOLD_MOST 0.5 /* of the baseline's median */

struct judge_rule {
    double max_regress;      /* of the baseline's median: MAX_REGRESS */
    double confidence;       /* 0.5 ... 0.9999 */
    int64_t min_effect;      /* in the values' unit: smaller differences are allowed, too */
    double min_effect_share; /* the same, of the baseline's median */
    double must_see;         /* of the baseline's median: unknown where `seen_from` is more; or 0 */
    bool less_is_worse;      /* of single values: a utilisation */
};

enum { STEPS_UNKNOWN = -1, STEPS_NEEDED_MAX = 100000 };

struct judgement {
    enum judged answer;
    struct shift shift;   /* the bounds as above */
    int64_t allowed;      /* of the difference; or the limit */
    int64_t seen_from;    /* such a difference is called regressed nine times of ten; -1 unknown */
    int64_t steps_needed; /* of maybe and unknown, on each side, as far as can be said */
    const char *reason;   /* of maybe and unknown */
};

/* Lists of measurements, one a step, in the order of time: the larger is the worse. */
struct judgement judge_lists(const int64_t *baseline, uint32_t baseline_count,
                             const int64_t *values, uint32_t count, const struct judge_rule *rule);
/* A list against a limit: regressed when the interval of the median lies above it. */
struct judgement judge_limit(const int64_t *values, uint32_t count, int64_t limit,
                             double confidence);
/* What was told of a list whose values are not at hand. */
struct summary {
    double mean, std; /* std of the sample: n - 1 */
    uint32_t count;   /* 0: not told */
};
/* By Welch's test, which takes the means as normal and no spread as that of the other: the same
 * rule, with means for medians and its interval. */
struct judgement judge_summaries(const struct summary *baseline, const struct summary *value,
                                 const struct judge_rule *rule);

struct run_level {  /* of one run */
    int64_t middle; /* the median of its steps, or its one value */
    double error;   /* the standard error of that, from its own steps; 0 of one value */
};
struct run_level run_level_of(const int64_t *values, uint32_t count);
enum { BASELINE_RUNS_MIN = 3, BASELINE_RUNS_MAX = 64 };
/* Against several runs of the baseline: the interval is Student's, of what they differ by among
 * themselves and of one run more, with a fifth of 1 - confidence beyond each bound, for runs that
 * are far off come more often than a normal spread has them; never narrower than the runs' own
 * steps make it. Fewer than BASELINE_RUNS_MIN are unknown. `shift.p` is Student's, two-sided. */
struct judgement judge_runs(const struct run_level *baseline, uint32_t count,
                            const struct run_level *run, const struct judge_rule *rule);
/* One measurement of each of two runs, as a peak: it is what it is. */
struct judgement judge_values(int64_t baseline, int64_t value, const struct judge_rule *rule);
struct judgement judge_value_limit(int64_t value, int64_t limit);

#endif
