/* Inside flame*.c: a tree that grows child by child and is then cut to its widest nodes. */
#ifndef JVIEWD_ANALYSE_FLAME_PARTS_H
#define JVIEWD_ANALYSE_FLAME_PARTS_H

#include "analyse/flame.h"
#include "analyse/map64.h"

struct tree_node {
    struct str name;
    enum kind kind;
    uint32_t parent, level; /* the root is at 0 */
    int64_t total_ps, self_ps;
    uint64_t count;
};

struct flame_tree { /* parents stand before their children; the root is 0 */
    struct tree_node *nodes;
    uint32_t count, capacity;
    struct names *texts;
    struct map64 child_of; /* (parent, text) -> node */
};

/* Sampled values are a file's own numbers, of either sign: their sum may wrap. */
static inline int64_t tree_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

void tree_open(struct flame_tree *tree, struct str name);
void tree_close(struct flame_tree *tree);
/* The child of that name, made where it is new. The text is borrowed. */
uint32_t tree_child(struct flame_tree *tree, uint32_t parent, struct str name, enum kind kind);
/* Totals, then the widest `limit` nodes with "(other)" for the rest of each parent's children. */
const struct flame_node *tree_prune(struct flame_tree *tree, uint32_t limit, struct arena *arena,
                                    uint32_t *ret_count);

/* Grows the tree from sampled stacks, and tells unit, type and snapshot; without any of them the
 * type stays "". */
MUST_CHECK enum status flame_stacks(const struct run_traces *run,
                                    const struct restriction *restriction,
                                    const struct flame_question *question, struct flame_tree *tree,
                                    struct arena *arena, struct flame *ret, struct error *err);

#endif
