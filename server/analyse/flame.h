/* One tree of where time went: by scope of the ops, by source, or by nesting on the tracks.
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
    struct str by;       /* "scope" (default; falls to "track" without ops), "source", "track" */
    uint32_t depth;      /* levels below the root; 0: 64 */
    uint32_t node_limit; /* 0: 2,000; at most 20,000 */
};

struct flame_node {
    struct str name;
    enum kind kind;
    int64_t total_ps, self_ps;
    uint64_t count;                    /* slices, or op executions */
    uint32_t first_child, child_count; /* into nodes: contiguous, widest first */
};

struct flame {
    const struct flame_node *nodes; /* the root is the first */
    uint32_t node_count;
    struct str by, of;
    const struct answer_note *notes;
    uint32_t note_count;
};

MUST_CHECK enum status flame(const struct run_traces *run, const struct restriction *restriction,
                             const struct flame_question *question, struct arena *arena,
                             struct flame *ret, struct error *err);

/* "a;b;c 123\n" per node with self time, in nanoseconds rounded to nearest: flamegraph.pl. */
void flame_folded(const struct flame *flame, struct text *ret);

#endif
