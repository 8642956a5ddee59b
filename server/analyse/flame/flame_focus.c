/* SPDX-License-Identifier: Apache-2.0 */
/* Who leads to a name, and where it leads, over all places where it stands.
 *
 *   a ─ f ─ x        callers of f: a, b       callees of f: x, y
 *   b ─ f ─ y        a name within itself counts once, by its outermost place
 *        └─ f ─ x
 */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "trace/ps.h"

struct relatives {
    const struct flame_tree *tree;
    struct map64 by_text;
    struct flame_relative *items;
    uint32_t count, capacity;
};

static void add_relative(struct relatives *relatives, struct str name, const struct tree_node *node)
{
    uint32_t *at =
        map64_at(&relatives->by_text, names_add(relatives->tree->texts, name), relatives->count);

    if (*at == relatives->count) {
        if (relatives->count == relatives->capacity) {
            relatives->capacity = relatives->capacity == 0 ? 64 : 2 * relatives->capacity;
            relatives->items =
                memory_resize(relatives->items, relatives->capacity, sizeof(*relatives->items));
        }
        relatives->items[relatives->count++] = (struct flame_relative){.name = name};
    }
    relatives->items[*at].total_ps = ps_sum(relatives->items[*at].total_ps, node->total_ps);
    relatives->items[*at].count += node->count;
}

static int by_weight(const void *left, const void *right)
{
    const struct flame_relative *a = left, *b = right;

    if (a->total_ps != b->total_ps)
        return a->total_ps > b->total_ps ? -1 : 1;
    return str_compare(a->name, b->name);
}

static const struct flame_relative *keep(struct relatives *relatives, struct arena *arena,
                                         uint32_t *ret_count)
{
    struct flame_relative *kept =
        arena_array(arena, struct flame_relative, (size_t)relatives->count + 1);

    if (relatives->count > 0) {
        memcpy(kept, relatives->items, relatives->count * sizeof(*kept));
        qsort(kept, relatives->count, sizeof(*kept), by_weight);
    }
    *ret_count = relatives->count;
    map64_free(&relatives->by_text);
    free(relatives->items);
    return kept;
}

void tree_focus(const struct flame_tree *tree, struct str name, struct arena *arena,
                struct flame_focus *ret)
{
    struct relatives callers = {.tree = tree}, callees = {.tree = tree};
    bool *within = memory_zeroed((size_t)tree->count + 1, sizeof(*within)); /* itself or a caller */
    *ret = (struct flame_focus){.name = name};
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        const struct tree_node *parent = &tree->nodes[node->parent];
        bool is_it = str_equal(node->name, name), is_within = i > 0 && within[node->parent];

        within[i] = is_it || is_within;
        if (is_it) {
            ret->places++;
            ret->self_ps = ps_sum(ret->self_ps, node->self_ps);
        }
        if (is_it && !is_within) {
            ret->total_ps = ps_sum(ret->total_ps, node->total_ps);
            if (i > 0)
                add_relative(&callers, parent->name, node);
        }
        if (!is_it && i > 0 && str_equal(parent->name, name))
            add_relative(&callees, node->name, node);
    }
    ret->callers = keep(&callers, arena, &ret->caller_count);
    ret->callees = keep(&callees, arena, &ret->callee_count);
    free(within);
}
