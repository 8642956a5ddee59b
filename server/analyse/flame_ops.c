/* The tree of attributed ops: each weighs something at its path. */
#include <math.h>
#include <stdlib.h>

#include "analyse/flame_parts.h"

struct ops_walk {
    struct growth *growth;
    struct paths paths;
    uint32_t *node_of;           /* by op, plus one */
    struct map64 node_of_launch; /* (op, node of its call) -> node */
};

bool flame_begins_inside(const struct selection *selection, int64_t at_ps)
{
    uint32_t low = 0, high = selection->window_count;

    if (!selection->cut_in_time)
        return true;
    while (low < high) { /* the first window that ends behind it */
        uint32_t middle = low + (high - low) / 2;

        if (selection->windows[middle].to_ps <= at_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low < selection->window_count && selection->windows[low].from_ps <= at_ps;
}

/* Below its path; at the path itself where no level is left. */
static uint32_t own_node(struct growth *growth, uint32_t path, uint32_t index)
{
    const struct host_trace *host = growth->selection->host;
    const struct op *op = &host->attribution->ops[index];

    return growth->tree.nodes[path].level < growth->depth
               ? tree_child(&growth->tree, path, trace_name(host->trace, op->name), op->kind)
               : path;
}

static uint32_t node_of_entry(struct ops_walk *walk, const struct attributed *entry)
{
    struct growth *growth = walk->growth;

    if (growth->by == FLAME_HOST) {
        uint32_t path = path_of_launch(growth, &walk->paths, entry);
        uint32_t *node = map64_at(&walk->node_of_launch, map64_pair(entry->op, path), 0);

        if (*node == 0)
            *node = own_node(growth, path, entry->op) + 1;
        return *node - 1;
    }
    if (walk->node_of[entry->op] == 0)
        walk->node_of[entry->op] =
            own_node(growth, path_of_op(growth, &walk->paths, entry->op), entry->op) + 1;
    return walk->node_of[entry->op] - 1;
}

static int64_t weigh(struct growth *growth, const struct attributed *entry, int64_t inside_ps,
                     int64_t self_ps)
{
    (void)growth;
    switch (growth->weight) {
    case WEIGHT_SELF:
        return self_ps;
    case WEIGHT_TIME:
        return inside_ps;
    default:
        return entry->first && flame_begins_inside(growth->selection, entry->start_ps);
    }
}

static void add_ops(void *data, const struct op_block *block)
{
    struct ops_walk *walk = data;
    struct growth *growth = walk->growth;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = &block->entries[block->first + i];

        if (block->inside_ps[i] < 0)
            continue;

        uint32_t node = node_of_entry(walk, entry);
        struct tree_node *at = &growth->tree.nodes[node];

        at->self_ps += weigh(growth, entry, block->inside_ps[i], block->self_ps[i]);
        at->count += entry->first;
        tree_seen(&growth->tree, node, entry->start_ps + growth->selection->host->offset_ps);
    }
}

void grow_from_ops(struct growth *growth)
{
    const struct attribution *attribution = growth->selection->host->attribution;
    struct ops_walk walk = {.growth = growth};

    if (attribution == NULL)
        return;
    walk.node_of = calloc((size_t)attribution->op_count + 1, sizeof(*walk.node_of));
    if (walk.node_of == NULL)
        abort(); /* out of memory: as base/arena.h says */
    paths_open(&walk.paths, growth);
    scan_ops(growth->selection, add_ops, (void *const[]){&walk}, 1);
    paths_close(&walk.paths);
    map64_free(&walk.node_of_launch);
    free(walk.node_of);
}
