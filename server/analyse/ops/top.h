/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind /api/top: what took the time, by one property of the slices.
 *
 *   by                                         sums
 *   op module scope source phase category      attributed intervals of op slices
 *   name kind track host device                recorded intervals; derived tracks never
 *   kernel                                     recorded ones of device streams
 *   api                                        recorded ones of host threads that called a driver
 *
 * `total_ps` sums durations, `self_ps` what direct children do not cover. A window counts the part
 * of each slice inside it, so both add up over a partition of time; `count` and quantiles take
 * whole slices. Spans of the program have a table of their own: annotations.h. Without ops `by`
 * "op" falls to "kernel", then to "name": `ret->by` tells.
 * By op, what PyTorch launched is the op that launched it ("aten::addmm"), and its module the path
 * of its nn.Modules.
 */
#ifndef JVIEWD_ANALYSE_OPS_TOP_H
#define JVIEWD_ANALYSE_OPS_TOP_H

#include "analyse/analyse.h"

/* What lies on critical paths of steps (analyse/critical), by whose ids the rows join. */
struct path_of {
    int64_t on_path_ps, slack_ps; /* slack: the least of its parts */
    uint64_t count;               /* of its parts; 0: it is in no step */
};
struct top_paths {
    const struct path_of *const *ops;   /* [host][op]; NULL for a host without */
    const struct path_of *const *names; /* [host][name]: its ops and its other slices */
};

struct top_question {
    struct str by;      /* "" is "op" */
    uint32_t depth;     /* by scope: only so many path elements; 0 all */
    bool fold_siblings; /* by scope: "layer_0", "layer_1" -> "layer_*" */
    int64_t min_self_ps;
    const struct top_paths *paths; /* NULL: on_path_ps, slack_ps stay unknown, ... */
    const char *without_paths;     /* with this reason */
    bool without_spread; /* p50_ps, p95_ps, stdev_ps stay unknown unless sorted by: half the walk */
};

/* ERR_INVALID for an unknown `by` or sort column. Columns: key name kind category module scope
 * source phase count event_count total_ps self_ps share cumulative_share mean_ps stdev_ps min_ps
 * p50_ps p95_ps max_ps flops bytes flops_per_s bytes_per_s bound_by peak_share on_path_ps slack_ps;
 * an unknown cell is CELL_NULL with its reason. Default sort: "-self_ps,name". */
MUST_CHECK enum status top(const struct run_traces *run, const struct restriction *restriction,
                           const struct top_question *question, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err);

enum top_by {
    BY_OP = SPREAD_BY_OP,
    BY_MODULE = SPREAD_BY_MODULE,
    BY_SCOPE = SPREAD_BY_SCOPE,
    BY_SOURCE = SPREAD_BY_SOURCE,
    BY_PHASE = SPREAD_BY_PHASE,
    BY_CATEGORY = SPREAD_BY_CATEGORY, /* up to here attributed ops, from here recorded slices */
    BY_NAME,
    BY_KERNEL,
    BY_API, /* up to here from BY_NAME on: groups are names */
    BY_TRACK,
    BY_HOST,
    BY_DEVICE, /* groups of the last three are tracks; behind them, devices of ops on threads */
    BY_KIND,   /* groups are kinds */
    BY_COUNT,
};

/* Which ops of a trace one row of the whole table joins: by op, the first op of its row, or NO_OP
 * where the op has no entries. Asks for totals and for no spreads. */
void top_first_ops(const struct host_trace *host, enum top_by by, uint32_t *ret);

#endif
