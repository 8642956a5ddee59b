/* SPDX-License-Identifier: Apache-2.0 */
/* One tree of where time went: by scope of the ops, by source, by the Python calls that made them,
 * by module, by the calls on the host that sent them, by nesting on the tracks, or by the stacks
 * that a profiler sampled, which may also tell whose bytes are allocated.
 *
 *   root 100 ─┬─ jit(train_step) 90 ─┬─ layer_0 40 ─── dot.3 40
 *             │                      └─ layer_1 50 ...
 *             └─ (other) 10                       what the node limit left out
 *
 * A node's total is its own weight and all its children's totals, so widths add up. What is
 * weighed:
 *
 *   self    each moment once: an op's time less that of the ops inside of it        (default)
 *   time    whole durations: a loop and what runs in it both count
 *   count   executions that begin in the window
 *   bytes, flops    of those executions; ops whose cost is unknown are left out, and told
 *
 * so that each adds up over a partition of time.
 */
#ifndef JVIEWD_ANALYSE_FLAME_FLAME_H
#define JVIEWD_ANALYSE_FLAME_FLAME_H

#include "analyse/analyse.h"

#define FLAME_NO_TIME INT64_MIN

struct flame_question {
    struct str by; /* "scope" (default; falls to "track" without ops), "source", "module", "phase",
                      "host", "track", "stack" (sampled ones, else those of the ops, else
                      "track"), "bytes" */
    struct str weight;   /* "" is "self"; of samples their type's own */
    struct str order;    /* "heavy" (default): widest first; "time": earliest first */
    struct str focus;    /* a name: who leads to it and where it leads, over the uncut tree */
    struct str snapshot; /* of stacks: a snapshot's name; "": the hosts, else the newest one */
    struct str type;     /* of stacks: a sample type's name; "": as sample_type_find */
    bool sandwich;       /* with focus: trees of all that leads to it and of all below it */
    bool fold_siblings;  /* by scope: "layer_0", "layer_1" -> "layer_*" */
    uint32_t depth;      /* levels below the root; 0: 64, of stacks 512 */
    uint32_t node_limit; /* 0: 2,000; at most 20,000 */
};

struct flame_node {
    struct str name;
    enum kind kind;
    int64_t total_ps, self_ps;         /* in the flame's unit */
    uint64_t count;                    /* slices, or op executions */
    int64_t first_ps;                  /* run time of its first slice; FLAME_NO_TIME */
    uint64_t key;                      /* of the names from the root: equal in every run */
    struct str file;                   /* where the call stands; "" unknown */
    uint32_t line;                     /* 0 unknown */
    uint32_t first_child, child_count; /* into nodes: contiguous, in order */
};

struct flame_relative {
    struct str name;
    int64_t total_ps;
    uint64_t count;
};

struct flame_focus { /* all places where a name stands, taken together */
    struct str name;
    uint32_t places;           /* 0: it stands nowhere */
    int64_t total_ps, self_ps; /* a name within itself counts once, by its outermost place */
    const struct flame_relative *callers, *callees; /* heaviest first */
    uint32_t caller_count, callee_count;
};

/* Of a name, over all its outermost places: callers nearest first, and what stands below it. Both
 * roots bear the name and its total. */
struct flame_sandwich {
    const struct flame_node *callers, *callees; /* NULL: not asked for, or it stands nowhere */
    uint32_t caller_count, callee_count;
};

struct flame {
    const struct flame_node *nodes; /* the root is the first */
    uint32_t node_count;            /* 0: the weight is unknown, a note says why */
    uint64_t node_count_all;        /* before the cut */
    struct str by, of, weight, order;
    struct str unit;           /* "ps", "bytes", "flops", "count", or as the file says */
    struct str type, snapshot; /* of samples; else "" */
    struct flame_focus focus;
    struct flame_sandwich sandwich;
    const struct answer_note *notes;
    uint32_t note_count;
};

MUST_CHECK enum status flame(const struct run_traces *run, const struct restriction *restriction,
                             const struct flame_question *question, struct arena *arena,
                             struct flame *ret, struct error *err);

/* "a;b;c 123\n" per node with a weight of its own: times in nanoseconds rounded to nearest, all
 * else as it is: flamegraph.pl. */
void flame_folded(const struct flame *flame, struct text *ret);

#endif
