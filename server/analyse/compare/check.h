/* SPDX-License-Identifier: Apache-2.0 */
/* One metric of a run against that of its baseline, or against a limit.
 *
 *   step_time      the counted steps' durations; of several hosts, the longest of each number
 *   op:NAME        self time of the op in each step, the mean of the hosts; in the baseline of the
 *                  op that it is matched with, whatever that is called there
 *   memory_peak    the highest peak of an allocator: one value
 *   compile_time   what all compiles took together: one value
 *   step_p95, share_idle, utilisation, ...   the figures of trend_metrics.h: one value each
 *
 * One value has no spread to be judged by: it is held against what is allowed as it is, and the
 * sentence says so. Of utilisation and compute's share less is worse, of all others more. A
 * baseline of several runs has a spread, for single values, too.
 *
 * Where the devices are a host's processor, step_time is judged at the speed at which the ops of
 * both runs ran (work.h): more work and more waiting are told, and slower ops are a "maybe", for a
 * processor that others use, too, makes them slower by any factor.
 *
 * Warm-up steps do not count. What a run does not hold is "unknown" with the reason, and never ok:
 * an op that one run alone has, too. An op that none of the runs has was mistyped, and fails.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_CHECK_H
#define JVIEWD_ANALYSE_COMPARE_CHECK_H

#include "analyse/compare/diff.h"
#include "analyse/stats/judge.h"

enum check_metric {
    METRIC_STEP_TIME,
    METRIC_OP,
    METRIC_MEMORY_PEAK,
    METRIC_COMPILE_TIME,
    METRIC_FIGURE
};

struct check_question {
    struct str text; /* the metric's: "op:dot.3" */
    enum check_metric metric;
    struct str op; /* "dot.3" */
    bool has_limit;
    int64_t limit; /* instead of a baseline */
};

/* "step_time", "op:NAME", "memory_peak", "compile_time", a figure's; false: none of them. */
/* The words that are metrics, beside op:NAME; NULL: that was the last. */
const char *check_metric_word(size_t index);
enum unit check_metric_unit(const struct check_question *question);
bool check_metric_parse(struct str text, struct check_question *ret);

struct check_work { /* of step_time: what a step does, whatever the speed of the machine: work.h */
    bool known;
    bool is_same;          /* the same ops, each as often */
    bool on_host;          /* devices are a host's processor: the answer is by `more` and `even` */
    double slower;         /* how long the ops of both runs took: 1.5 times as long */
    struct str what;       /* the op that says most of the change; "" */
    struct judgement more; /* of the work of the steps, */
    struct judgement even; /* and of their time, at the baseline's speed */
};

struct check {
    struct check_question question;
    struct judgement judged;
    enum unit unit;
    uint32_t a_count, b_count; /* of measurements */
    uint32_t run_count;        /* of the baseline */
    struct check_work work;    /* of step_time against a baseline */
    struct str reason;         /* of maybe and unknown: as judged, or what is missing; else "" */
    bool is_measured;          /* both values are known */
    bool is_of_one_value;      /* of each run: there is no spread */
    const char *counted;       /* what the measurements are: "steps", "calls" */
};

/* `a`: one run, or up to BASELINE_RUNS_MAX; none where the question has a limit. ERR_INVALID: no
 * run has such an op; the nearest is named. */
MUST_CHECK enum status check_run(const struct diff_side *const *a, uint32_t a_count,
                                 const struct diff_side *b, const struct check_question *question,
                                 const struct judge_rule *rule, struct arena *arena,
                                 struct check *ret, struct error *err);

#endif
