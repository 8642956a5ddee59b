/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of the table as a tree: time, FLOPs and bytes at each level.
 *
 *   program   jit_train_step      54.1 ms   61 % of the peak rate   22 % of the memory's
 *   category    dot               31.0 ms   ...
 *   scope         layer_1/mlp     18.2 ms
 *   op              dot.63        18.2 ms
 *
 * Times are self times, so children sum to their parent and the root to the table of ops. A share
 * of the peak is the time that the work would take at the device's own limit, of the node's time:
 * over ops of several types each counts by its own limit. What is not known of an op is in no sum,
 * and its time is told, for the share is then a lower bound.
 */
#ifndef JVIEWD_ANALYSE_OPS_OP_TREE_H
#define JVIEWD_ANALYSE_OPS_OP_TREE_H

#include "analyse/analyse.h"

enum op_level { LEVEL_ROOT, LEVEL_PROGRAM, LEVEL_CATEGORY, LEVEL_SCOPE, LEVEL_OP, LEVEL_OTHERS };
const char *op_level_word(enum op_level level);

struct op_tree_node {
    struct str name;
    enum op_level level;
    enum kind kind; /* of most of its time */
    int64_t self_ps;
    uint64_t count;                      /* executions of its ops */
    uint32_t op_count;                   /* rows of the table of ops */
    double flops, bytes;                 /* of what is known; NAN: of no op */
    double flops_share, bandwidth_share; /* NAN unknown */
    int64_t flops_unknown_ps, bytes_unknown_ps;
    struct str flops_reason, bytes_reason; /* why a share is unknown; "" it is known */
    uint32_t first_child, child_count;     /* into nodes: by self time */
};

struct op_tree {
    const struct op_tree_node *nodes; /* the root is the first */
    uint32_t node_count;
    uint64_t node_count_all; /* before the cut */
    struct str by;           /* what its ops are: "op", "kernel", "name" */
    const struct answer_note *notes;
    uint32_t note_count;
};

struct op_tree_question {
    struct str first;    /* "program" (default), "category", "scope": the level below the root; the
                            others follow in their order */
    uint32_t node_limit; /* 0: 2,000 */
};

MUST_CHECK enum status op_tree(const struct run_traces *run, const struct restriction *restriction,
                               const struct op_tree_question *question, struct arena *arena,
                               struct op_tree *ret, struct error *err);

#endif
