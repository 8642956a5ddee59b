/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a flame graph: nodes by parent and name, sums from the leaves up, pruning to a
 * node limit. */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "base/hash.h"
#include "trace/ps.h"

static uint32_t add_node(struct flame_tree *tree, uint32_t parent, struct str name, enum kind kind)
{
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity == 0 ? 256 : 2 * tree->capacity;
        tree->nodes = memory_resize(tree->nodes, tree->capacity, sizeof(*tree->nodes));
    }
    tree->nodes[tree->count] = (struct tree_node){
        .name = name,
        .kind = kind,
        .parent = parent,
        .level = tree->count > 0 ? tree->nodes[parent].level + 1 : 0,
        .first_ps = FLAME_NO_TIME,
    };
    return tree->count++;
}

void tree_open(struct flame_tree *tree, struct str name)
{
    *tree = (struct flame_tree){.texts = names_create()};
    add_node(tree, 0, name, KIND_OTHER);
}

void tree_close(struct flame_tree *tree)
{
    names_destroy(tree->texts);
    map64_free(&tree->child_of);
    free(tree->nodes);
}

uint32_t tree_child(struct flame_tree *tree, uint32_t parent, struct str name, enum kind kind)
{
    uint32_t *node, known;
    name_id text;

    if (tree->count >= FLAME_NODES_GROWN_MAX)
        return names_find(tree->texts, name, &text) &&
                       map64_get(&tree->child_of, map64_pair(parent, text), &known)
                   ? known
                   : parent;
    node = map64_at(&tree->child_of, map64_pair(parent, names_add(tree->texts, name)), UINT32_MAX);
    if (*node == UINT32_MAX)
        *node = add_node(tree, parent, name, kind);
    return *node;
}

void tree_seen(struct flame_tree *tree, uint32_t node, int64_t at_ps)
{
    int64_t *first_ps = &tree->nodes[node].first_ps;

    if (*first_ps == FLAME_NO_TIME || at_ps < *first_ps)
        *first_ps = at_ps;
}

static int by_total(const void *left, const void *right, void *data)
{
    const struct tree_node *nodes = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (nodes[a].total_ps != nodes[b].total_ps)
        return nodes[a].total_ps > nodes[b].total_ps ? -1 : 1;
    return str_compare(nodes[a].name, nodes[b].name);
}

/* The earliest first; what has no time of its own comes last. */
static int by_first(const void *left, const void *right, void *data)
{
    const struct tree_node *nodes = data;
    int64_t a = nodes[*(const uint32_t *)left].first_ps,
            b = nodes[*(const uint32_t *)right].first_ps;

    if (a == b)
        return by_total(left, right, data);
    if (a == FLAME_NO_TIME || b == FLAME_NO_TIME)
        return a == FLAME_NO_TIME ? 1 : -1;
    return a < b ? -1 : 1;
}

/* A node's kind is that of its widest child, so that colours tell something higher up too. */
void tree_total(struct flame_tree *tree)
{
    int64_t *widest_ps = memory_zeroed(tree->count, sizeof(*widest_ps));
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].total_ps = tree->nodes[i].self_ps;
    for (uint32_t i = tree->count; i-- > 1;) {
        struct tree_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];

        parent->total_ps = ps_sum(parent->total_ps, node->total_ps);
        if (node->first_ps != FLAME_NO_TIME)
            tree_seen(tree, node->parent, node->first_ps);
        if (node->total_ps > widest_ps[node->parent] && parent->self_ps < node->total_ps) {
            widest_ps[node->parent] = node->total_ps;
            parent->kind = node->kind;
        }
    }
    free(widest_ps);
}

/* Nodes that stay: the widest ones, and those above them: a parent is narrower than its child only
 * where values are negative. */
static bool *choose(const struct flame_tree *tree, uint32_t limit)
{
    uint32_t *order = memory_resize(NULL, tree->count, sizeof(*order));
    bool *chosen = memory_resize(NULL, tree->count, sizeof(*chosen));

    for (uint32_t i = 0; i < tree->count; i++) {
        order[i] = i;
        chosen[i] = false;
    }
    qsort_r(order, tree->count, sizeof(*order), by_total, tree->nodes);
    for (uint32_t i = 0; i < tree->count && i < limit; i++) {
        for (uint32_t at = order[i]; !chosen[at]; at = tree->nodes[at].parent)
            chosen[at] = true;
    }
    chosen[0] = true;
    free(order);
    return chosen;
}

struct cut_tree { /* level by level, so that children are contiguous */
    const struct flame_tree *tree;
    const uint32_t *first_child, *children; /* by parent: positions in children */
    const bool *chosen;
    struct flame_node *to;
    uint32_t *from; /* of each node in `to`; UINT32_MAX: "(other)" */
    uint32_t count;
};

/* The same path of names has the same key in every run. */
static uint64_t key_below(uint64_t parent, struct str name)
{
    uint64_t own = hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
    const uint64_t both[2] = {parent, own};

    return hash64((struct bytes){.at = (const uint8_t *)both, .count = sizeof both});
}

static void put_node(struct cut_tree *cut, uint32_t index, uint64_t key)
{
    const struct tree_node *node = &cut->tree->nodes[index];

    cut->from[cut->count] = index;
    cut->to[cut->count++] = (struct flame_node){
        .name = node->name,
        .kind = node->kind,
        .total_ps = node->total_ps,
        .self_ps = node->self_ps,
        .count = node->count,
        .first_ps = node->first_ps,
        .key = key,
        .file = node->file,
        .line = node->line,
    };
}

static void put_children(struct cut_tree *cut, uint32_t parent)
{
    uint32_t index = cut->from[parent];
    struct flame_node other = {.name = STR("(other)"),
                               .kind = KIND_OTHER,
                               .first_ps = FLAME_NO_TIME,
                               .key = key_below(cut->to[parent].key, STR("(other)"))};

    if (index == UINT32_MAX)
        return;
    cut->to[parent].first_child = cut->count;
    for (uint32_t i = cut->first_child[index]; i < cut->first_child[index + 1]; i++) {
        const struct tree_node *child = &cut->tree->nodes[cut->children[i]];

        if (cut->chosen[cut->children[i]]) {
            put_node(cut, cut->children[i], key_below(cut->to[parent].key, child->name));
        } else {
            other.total_ps = ps_sum(other.total_ps, child->total_ps);
            other.count += child->count;
        }
    }
    other.self_ps = other.total_ps;
    if (other.count > 0 || other.total_ps != 0) {
        cut->from[cut->count] = UINT32_MAX;
        cut->to[cut->count++] = other;
    }
    cut->to[parent].child_count = cut->count - cut->to[parent].first_child;
}

/* Children by parent, in the order asked for. */
static uint32_t *list_children(const struct flame_tree *tree, bool by_time, uint32_t *first_child)
{
    uint32_t *children = memory_resize(NULL, tree->count, sizeof(*children));

    memset(first_child, 0, ((size_t)tree->count + 2) * sizeof(*first_child));
    for (uint32_t i = 1; i < tree->count; i++)
        first_child[tree->nodes[i].parent + 2]++;
    for (uint32_t i = 2; i <= tree->count; i++)
        first_child[i] += first_child[i - 1];
    for (uint32_t i = 1; i < tree->count; i++)
        children[first_child[tree->nodes[i].parent + 1]++] = i;
    for (uint32_t i = 0; i < tree->count; i++)
        qsort_r(children + first_child[i], first_child[i + 1] - first_child[i], sizeof(*children),
                by_time ? by_first : by_total, tree->nodes);
    return children;
}

const struct flame_node *tree_prune(const struct flame_tree *tree, uint32_t limit, bool by_time,
                                    struct arena *arena, uint32_t *ret_count)
{
    uint32_t *first_child = memory_resize(NULL, (size_t)tree->count + 2, sizeof(*first_child));
    uint32_t kept = 0;

    uint32_t *children = list_children(tree, by_time, first_child);
    bool *chosen = choose(tree, limit);

    for (uint32_t i = 0; i < tree->count; i++)
        kept += chosen[i];

    struct cut_tree cut = {
        .tree = tree,
        .first_child = first_child,
        .children = children,
        .chosen = chosen,
        .to = arena_array(arena, struct flame_node, 2 * (size_t)kept),
        .from = memory_resize(NULL, 2 * (size_t)kept, sizeof(uint32_t)),
    };

    put_node(&cut, 0, 0); /* runs have names of their own: the root's is no part of a key */
    for (uint32_t i = 0; i < cut.count; i++)
        put_children(&cut, i);
    free(cut.from);
    free(chosen);
    free(children);
    free(first_child);
    *ret_count = cut.count;
    return cut.to;
}
