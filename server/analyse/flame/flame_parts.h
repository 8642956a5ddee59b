/* SPDX-License-Identifier: Apache-2.0 */
/* Inside flame*.c: a tree that grows child by child and is then cut to its widest nodes.
 *
 *   ops ──── path of the op ──┐
 *   slices ─ parents ─────────┼─> flame_tree ─> totals ─> focus ─> cut ─> struct flame
 *   samples  stack ───────────┘
 */
#ifndef JVIEWD_ANALYSE_FLAME_FLAME_PARTS_H
#define JVIEWD_ANALYSE_FLAME_FLAME_PARTS_H

#include "analyse/device/launch.h"
#include "analyse/flame/flame.h"
#include "analyse/hlo/op_stacks.h"
#include "analyse/scan/module_names.h"
#include "analyse/scan/scan.h"
#include "analyse/stats/map64.h"

struct tree_node {
    struct str name;
    enum kind kind;
    uint32_t parent, level; /* the root is at 0 */
    int64_t total_ps, self_ps;
    uint64_t count;
    int64_t first_ps; /* FLAME_NO_TIME */
    struct str file;
    uint32_t line;
};

struct flame_tree { /* parents stand before their children; the root is 0 */
    struct tree_node *nodes;
    uint32_t count, capacity;
    struct names *texts;
    struct map64 child_of; /* (parent, text) -> node */
};

enum flame_by {
    FLAME_SCOPE,
    FLAME_SOURCE,
    FLAME_MODULE,
    FLAME_PHASE,
    FLAME_HOST,
    FLAME_TRACK,
    FLAME_STACK,
    FLAME_BYTES
};
enum flame_weight { WEIGHT_SELF, WEIGHT_TIME, WEIGHT_COUNT, WEIGHT_BYTES, WEIGHT_FLOPS };

struct growth { /* while the tree grows */
    struct flame_tree tree;
    const struct flame_question *question;
    const struct selection *selection; /* of the host at hand */
    struct module_names modules;       /* of it */
    uint32_t depth;
    enum flame_by by;
    enum flame_weight weight;
    struct arena *arena;
    uint64_t unknown_count; /* executions of unknown cost */
    int64_t unknown_ps;
    uint32_t stack_count, cut_count, completed_count; /* of the ops' Python stacks */
    bool has_stacks, has_costs;                       /* of any op that ran */
};

enum { FLAME_NODES_GROWN_MAX = 1 << 20 };

void tree_open(struct flame_tree *tree, struct str name);
void tree_close(struct flame_tree *tree);
/* The child of that name, made where it is new; the parent where the tree is full. The text is
 * borrowed. */
uint32_t tree_child(struct flame_tree *tree, uint32_t parent, struct str name, enum kind kind);
/* Something of a node was seen at that moment. */
void tree_seen(struct flame_tree *tree, uint32_t node, int64_t at_ps);
/* Totals of all nodes: before anything is asked of them. */
void tree_total(struct flame_tree *tree);
/* The widest `limit` nodes with "(other)" for the rest of each parent's children. */
const struct flame_node *tree_prune(const struct flame_tree *tree, uint32_t limit, bool by_time,
                                    struct arena *arena, uint32_t *ret_count);

/* flame_focus.c */
void tree_focus(const struct flame_tree *tree, struct str name, struct arena *arena,
                struct flame_focus *ret);
/* flame_sandwich.c: at most `limit` nodes either way. */
void tree_sandwich(const struct flame_tree *tree, struct str name, uint32_t limit, bool by_time,
                   struct arena *arena, struct flame_sandwich *ret);

/* flame_ops.c: from attributed ops; flame_tracks.c: from recorded slices. */
void grow_from_ops(struct growth *growth);
void grow_from_tracks(struct growth *growth);

/* flame_path.c: where an op belongs, before its own name. */
struct paths { /* what is looked for once on a host */
    struct op_stacks stacks;
    uint32_t *node_of_frame; /* by frame, plus one */
    /* By host: */
    slice_id *call_of_execution;
    struct launch_reader *launches;
    struct map64 node_of_caller; /* slice -> node, plus one */
    struct map64 child_of;       /* (parent, name's id) -> node */
    slice_id last_call;
    uint32_t last_node;
    bool has_last;
};
void paths_open(struct paths *paths, struct growth *growth);
void paths_close(struct paths *paths);
/* By scope, source, module or stack. */
uint32_t path_of_op(struct growth *growth, struct paths *paths, uint32_t op);
/* flame_call.c: by execution; NO_SLICE: none is recorded. */
slice_id *calls_of_executions(const struct host_trace *host, struct arena *arena);
/* By host: the calls around the one that sent it to its device. */
uint32_t path_of_launch(struct growth *growth, struct paths *paths, const struct attributed *entry);

/* Grows the tree from sampled stacks, and tells unit, type and snapshot; without any of them the
 * type stays "". `hosts_only` looks into no snapshot. */
MUST_CHECK enum status flame_stacks(const struct run_traces *run,
                                    const struct restriction *restriction,
                                    const struct flame_question *question, bool hosts_only,
                                    struct flame_tree *tree, struct arena *arena, struct flame *ret,
                                    struct error *err);

#endif
