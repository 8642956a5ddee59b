/* One tree of where time went: by scope of the ops, by source, by nesting on the tracks, or by the
 * stacks that a profiler sampled, which may also tell whose bytes are allocated.
 *
 *   root 100 ─┬─ jit(train_step) 90 ─┬─ layer_0 40 ─── dot.3 40
 *             │                      └─ layer_1 50 ...
 *             └─ (other) 10                       what the node limit left out
 *
 * A node's total is its own self time and all its children's totals, so widths add up.
 */
#ifndef JVIEWD_ANALYSE_FLAME_H
#define JVIEWD_ANALYSE_FLAME_H

#include "analyse/analyse.h"

struct flame_question {
    struct str by;       /* "scope" (default; falls to "track" without ops), "source", "track",
                            "stack" (falls to "track" without samples), "bytes" */
    struct str snapshot; /* of stacks: a snapshot's name; "": the hosts, else the newest one */
    struct str type;     /* of stacks: a sample type's name; "": as sample_type_find */
    uint32_t depth;      /* levels below the root; 0: 64, of stacks 512 */
    uint32_t node_limit; /* 0: 2,000; at most 20,000 */
};

struct flame_node {
    struct str name;
    enum kind kind;
    int64_t total_ps, self_ps;         /* in the flame's unit */
    uint64_t count;                    /* slices, or op executions */
    uint32_t first_child, child_count; /* into nodes: contiguous, widest first */
};

struct flame {
    const struct flame_node *nodes; /* the root is the first */
    uint32_t node_count;
    struct str by, of;
    struct str unit;           /* "ps"; of samples also "bytes", "count", or as the file says */
    struct str type, snapshot; /* of samples; else "" */
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
