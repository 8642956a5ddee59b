/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of attributed ops: each weighs something at its path. */
#include <math.h>
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "analyse/hlo/cost.h"
#include "analyse/stats/tally.h"
#include "trace/ps.h"

struct share { /* what one op has of one node */
    uint32_t op, path, node;
    uint64_t parts; /* of its events: TALLY_WHOLE each */
    int64_t self_ps;
};

struct ops_walk {
    struct growth *growth;
    struct paths paths;
    uint32_t *share_of;           /* by op, plus one: the one used last */
    struct map64 share_of_launch; /* (op, node of its call) -> share, plus one */
    struct share *shares;
    uint32_t share_count, share_capacity;
};

/* Below its path; at the path itself where no level is left. */
static uint32_t own_node(struct growth *growth, uint32_t path, uint32_t index)
{
    const struct host_trace *host = growth->selection->host;
    const struct op *op = &host->attribution->ops[index];

    return growth->tree.nodes[path].level < growth->depth
               ? tree_child(&growth->tree, path, trace_name(host->trace, op->name), op->kind)
               : path;
}

static uint32_t add_share(struct ops_walk *walk, uint32_t op, uint32_t path)
{
    if (walk->share_count == walk->share_capacity) {
        walk->share_capacity = walk->share_capacity == 0 ? 256 : 2 * walk->share_capacity;
        walk->shares = memory_resize(walk->shares, walk->share_capacity, sizeof(*walk->shares));
    }
    walk->shares[walk->share_count] =
        (struct share){.op = op, .path = path, .node = own_node(walk->growth, path, op)};
    return ++walk->share_count;
}

/* Of an op and the call that launched it. */
static uint32_t share_of_launch(struct ops_walk *walk, uint32_t op, uint32_t path)
{
    uint32_t *share = map64_at(&walk->share_of_launch, map64_pair(op, path), 0);

    if (*share == 0)
        *share = add_share(walk, op, path);
    return *share;
}

static uint32_t share_of_entry(struct ops_walk *walk, const struct attributed *entry)
{
    struct growth *growth = walk->growth;
    uint32_t *share = &walk->share_of[entry->op];

    if (growth->by == FLAME_HOST) {
        uint32_t path = path_of_launch(growth, &walk->paths, entry);

        if (*share == 0 || walk->shares[*share - 1].path != path)
            *share = share_of_launch(walk, entry->op, path);
    } else if (*share == 0) {
        *share = add_share(walk, entry->op, path_of_op(growth, &walk->paths, entry->op));
    }
    return *share - 1;
}

/* Whole times, or parts of events of which close_shares makes costs. */
static void weigh(const struct growth *growth, const struct attributed *entry, int64_t inside_ps,
                  int64_t self_ps, struct share *share, struct tree_node *at)
{
    switch (growth->weight) {
    case WEIGHT_SELF:
        ps_add(&at->self_ps, self_ps);
        break;
    case WEIGHT_TIME:
        ps_add(&at->self_ps, inside_ps);
        break;
    case WEIGHT_COUNT:
        ps_add(&at->self_ps,
               entry->first && (growth->selection->owners != NULL ||
                                selection_begins_inside(growth->selection, entry->start_ps)));
        break;
    default:
        share->parts += tally_part(entry->dur_ps, inside_ps);
        ps_add(&share->self_ps, self_ps);
    }
}

static void add_ops(void *data, const struct op_block *block)
{
    struct ops_walk *walk = data;
    struct growth *growth = walk->growth;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] < 0)
            continue;

        uint32_t index = share_of_entry(walk, entry); /* may move the shares */
        struct share *share = &walk->shares[index];
        struct tree_node *at = &growth->tree.nodes[share->node];

        weigh(growth, entry, block->inside_ps[i], block->self_ps[i], share, at);
        at->count += entry->first;
        tree_seen(&growth->tree, share->node, entry->start_ps + growth->selection->host->offset_ps);
    }
}

static int64_t rounded(double value)
{
    return value < 9e18 ? (int64_t)llround(value) : (int64_t)9e18;
}

/* As the table of ops counts: an op's cost is of one run, and each of its events has its part of
 * its runs, one that a window cuts what lies inside. */
static void close_shares(struct ops_walk *walk)
{
    struct growth *growth = walk->growth;
    const struct attribution *attribution = growth->selection->host->attribution;
    bool is_flops = growth->weight == WEIGHT_FLOPS;

    for (uint32_t i = 0; i < walk->share_count; i++) {
        const struct share *share = &walk->shares[i];
        const struct op_cost *cost = &attribution->costs[share->op];
        uint32_t events = attribution->totals[share->op].event_count;
        double runs = events == 0 ? 0
                                  : (double)share->parts / (double)TALLY_WHOLE *
                                        ((double)cost->run_count / (double)events);

        if (cost_is_known((enum cost_rule)(is_flops ? cost->flops_rule : cost->bytes_rule))) {
            int64_t *sum = &growth->tree.nodes[share->node].self_ps;

            growth->has_costs = true;
            if (__builtin_add_overflow(*sum, rounded((is_flops ? cost->flops : cost->bytes) * runs),
                                       sum))
                *sum = INT64_MAX;
        } else {
            growth->unknown_count++;
            ps_add(&growth->unknown_ps, share->self_ps);
        }
    }
}

void grow_from_ops(struct growth *growth)
{
    const struct attribution *attribution = growth->selection->host->attribution;
    struct ops_walk walk = {.growth = growth};

    if (attribution == NULL)
        return;
    if (growth->weight > WEIGHT_COUNT &&
        (attribution->costs == NULL || attribution->totals == NULL))
        return; /* told as unknown */
    walk.share_of = memory_zeroed((size_t)attribution->op_count + 1, sizeof(*walk.share_of));
    paths_open(&walk.paths, growth);
    scan_ops(
        growth->selection,
        ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_FLAGS) | ENTRY_BIT(ENTRY_START) |
            ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED) |
            (growth->by == FLAME_HOST ? ENTRY_BIT(ENTRY_EXECUTION) | ENTRY_BIT(ENTRY_LAUNCH) : 0),
        add_ops, (void *const[]){&walk}, 1);
    if (growth->weight > WEIGHT_COUNT)
        close_shares(&walk);
    paths_close(&walk.paths);
    map64_free(&walk.share_of_launch);
    free(walk.share_of);
    free(walk.shares);
}
