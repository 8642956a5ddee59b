/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python calls made each op: the stack frames of HLO, over all programs of a host, as one
 * tree.
 *
 *   <module> train.py:80 ─ main train.py:61 ─┬─ loss model.py:20 ─ mlp model.py:9      dot.3
 *                                            └─ update optim.py:7                      add.1
 *
 * JAX keeps the innermost calls of each op only (JAX_TRACEBACK_IN_LOCATIONS_LIMIT, 10 by default).
 * A stack counts as cut where it does not begin in "<module>", is as deep as the deepest of the
 * host, and that is 10 calls or more, or 1. A cut stack is completed where its two outermost calls
 * stand in whole stacks in one place only; else it stands below "(callers cut off)".
 */
#ifndef JVIEWD_ANALYSE_HLO_OP_STACKS_H
#define JVIEWD_ANALYSE_HLO_OP_STACKS_H

#include "analyse/analyse.h"

#define NO_FRAME UINT32_MAX

struct op_frame { /* texts live in the arena */
    struct str function, file;
    uint32_t line;   /* 0 unknown */
    uint32_t parent; /* the caller: smaller than the own index; NO_FRAME */
    bool is_cut;     /* stands for callers that are not known */
};

struct op_stacks {
    const struct op_frame *frames;
    uint32_t frame_count;
    const uint32_t *of_op;                            /* innermost call; NO_FRAME: none recorded */
    uint32_t stack_count, cut_count, completed_count; /* different stacks */
};

/* Of those ops that are wanted (NULL: all). A damaged program tells nothing. */
void op_stacks_read(const struct host_trace *host, const bool *wanted, struct arena *arena,
                    struct op_stacks *ret);

#endif
