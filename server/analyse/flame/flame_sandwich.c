/* SPDX-License-Identifier: Apache-2.0 */
/* All that leads to a name, and all below it, over its outermost places.
 *
 *   main ─ a ─ f ─ x          f ─ a ─ main        f ─┬─ x
 *        └ b ─ f ─┬ x           └ b ─ main           └─ y
 *                 └ y         callers             callees
 *
 * A place's time lies with its outermost caller, so that each level of callers sums to the name's
 * total; the root of the whole tree is no caller.
 */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "trace/ps.h"

static void add_callers(struct flame_tree *to, const struct flame_tree *from, uint32_t place)
{
    const struct tree_node *node = &from->nodes[place];
    uint32_t at = 0;

    for (uint32_t i = node->parent; i != 0; i = from->nodes[i].parent) {
        at = tree_child(to, at, from->nodes[i].name, from->nodes[i].kind);
        to->nodes[at].count += node->count;
        to->nodes[at].file = from->nodes[i].file;
        to->nodes[at].line = from->nodes[i].line;
    }
    to->nodes[at].self_ps = ps_sum(to->nodes[at].self_ps, node->total_ps);
    if (node->first_ps != FLAME_NO_TIME)
        tree_seen(to, at, node->first_ps);
}

/* `at`: where the node's like stands in the tree of callees. */
static void add_callee(struct flame_tree *to, uint32_t at, const struct tree_node *node)
{
    to->nodes[at].self_ps = ps_sum(to->nodes[at].self_ps, node->self_ps);
    to->nodes[at].count += node->count;
    to->nodes[at].file = node->file;
    to->nodes[at].line = node->line;
    if (node->first_ps != FLAME_NO_TIME)
        tree_seen(to, at, node->first_ps);
}

void tree_sandwich(const struct flame_tree *tree, struct str name, uint32_t limit, bool by_time,
                   struct arena *arena, struct flame_sandwich *ret)
{
    /* By node: its like among the callees, plus one; 0: it is below no place. */
    uint32_t *like = memory_zeroed((size_t)tree->count + 1, sizeof *like);
    struct flame_tree callers, callees;

    tree_open(&callers, name);
    tree_open(&callees, name);
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        uint32_t above = like[node->parent];

        if (above != 0) {
            like[i] = tree_child(&callees, above - 1, node->name, node->kind) + 1;
        } else if (str_equal(node->name, name)) {
            like[i] = 1;
            callers.nodes[0].kind = callees.nodes[0].kind = node->kind;
            callers.nodes[0].count += node->count;
            add_callers(&callers, tree, i);
        }
        if (like[i] != 0)
            add_callee(&callees, like[i] - 1, node);
    }
    free(like);
    tree_total(&callers);
    tree_total(&callees);
    ret->callers = tree_prune(&callers, limit, by_time, arena, &ret->caller_count);
    ret->callees = tree_prune(&callees, limit, by_time, arena, &ret->callee_count);
    tree_close(&callers);
    tree_close(&callees);
}
