/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of rows that are no ops: kernels and devices have those of the ops that their slices are.
 *
 *   entry ──> its part of the op's run ──> kernel's name     (by kernel)
 *                                      └─> device            (by device)
 *
 * One walk over the selection's ops; an op's cost is shared evenly by the events of its runs.
 */
#include <math.h>

#include "analyse/ops/top_parts.h"

struct slice_costs { /* of one part of the walk */
    const struct top_work *work;
    const struct top_host *host;
    const struct top_share *shares;
    struct top_cost *groups;
};

struct top_share *top_shares_of(const struct attribution *of, const struct device_spec *spec)
{
    struct top_share *shares = memory_resize(NULL, (size_t)of->op_count + 1, sizeof(*shares));

    for (uint32_t op = 0; op < of->op_count; op++) {
        const struct op_cost *cost = &of->costs[op];
        uint32_t events = of->totals[op].event_count;
        double runs = events == 0 ? 0 : (double)cost->run_count / (double)events;

        shares[op] = (struct top_share){
            .has_flops = cost_is_known((enum cost_rule)cost->flops_rule),
            .has_bytes = cost_is_known((enum cost_rule)cost->bytes_rule),
            .is_async = (cost->flags & COST_ASYNC) != 0,
            .is_of_several = cost->run_count < events,
            .is_divided = (cost->flags & COST_DIVIDED) != 0,
        };
        if (shares[op].has_flops) {
            shares[op].flops = cost->flops * runs;
            shares[op].compute_s = device_compute_s(spec, cost) * runs;
        }
        if (shares[op].has_bytes) {
            shares[op].bytes = cost->bytes * runs;
            shares[op].memory_s = shares[op].is_async ? 0 : cost->bytes * runs / spec->bytes_per_s;
        }
    }
    return shares;
}

static uint32_t group_of(const struct slice_costs *costs, const struct attribution *of,
                         const struct attributed *entry, uint32_t index)
{
    uint32_t ordinal, kernel;

    if (costs->work->by == BY_DEVICE)
        return map64_get(&costs->host->device_groups, (uint32_t)entry->device, &ordinal) ? ordinal
                                                                                         : NO_GROUP;
    kernel = entry_kernel(of, index);
    return kernel == NO_KERNEL ? NO_GROUP : of->kernels[kernel].name;
}

/* Which of its kernels does how much of an op nobody says. */
static const struct op_cost of_several = {.flops_rule = COST_SEVERAL, .bytes_rule = COST_SEVERAL};

static void add_entry(struct slice_costs *costs, const struct attribution *of,
                      const struct attributed *entry, uint32_t index, int64_t inside_ps)
{
    uint32_t group = group_of(costs, of, entry, index);
    const struct top_share *share = &costs->shares[entry->op];
    const struct op_cost *cost = &costs->host->costs[entry->op];

    if (group == NO_GROUP)
        return;

    struct top_cost *to = &costs->groups[group];
    if (costs->work->by == BY_KERNEL && share->is_of_several) {
        top_count_cost(to, &of_several);
        return;
    }

    double part = (double)tally_part(entry->dur_ps, inside_ps) / (double)TALLY_WHOLE;

    top_count_cost(to, cost);
    to->flops += share->flops * part;
    to->bytes += share->bytes * part;
    to->compute_s += share->compute_s * part;
    to->memory_s += share->memory_s * part;
}

static void see_block(void *data, const struct op_block *block)
{
    struct slice_costs *costs = data;
    const struct attribution *of = costs->host->selection->host->attribution;

    for (uint32_t i = 0; i < block->count; i++)
        if (block->inside_ps[i] >= 0)
            add_entry(costs, of, BLOCK_ENTRY(block, i), block->first + i, block->inside_ps[i]);
}

static void join(struct top_cost *to, const struct top_cost *by)
{
    if (to->flops_known == 0)
        to->flops_rule = by->flops_rule;
    if (to->bytes_known == 0)
        to->bytes_rule = by->bytes_rule;
    to->flops += by->flops;
    to->bytes += by->bytes;
    to->compute_s += by->compute_s;
    to->memory_s += by->memory_s;
    to->flops_known += by->flops_known;
    to->bytes_known += by->bytes_known;
    to->flops_unknown += by->flops_unknown;
    to->bytes_unknown += by->bytes_unknown;
    to->async_count += by->async_count;
}

static bool is_seen(const struct top_cost *cost)
{
    return cost->flops_known + cost->flops_unknown > 0;
}

/* By kernel a group has its row; by device, the rows of the host say whose they are. */
static uint32_t group_of_row(const struct top_work *work, const struct top_host *host, uint32_t row)
{
    uint32_t group;

    return &work->hosts[work->rows[row].place] == host &&
                   map64_get(&host->device_groups, (uint32_t)work->rows[row].device, &group)
               ? group
               : NO_GROUP;
}

static void give_to_rows(struct top_work *work, const struct top_host *host, uint32_t group_count,
                         const struct top_cost *groups)
{
    if (work->by == BY_KERNEL) {
        for (uint32_t group = 0; group < group_count; group++)
            if (is_seen(&groups[group]) && host->row_of[group] > 0)
                join(&work->rows[host->row_of[group] - 1].cost, &groups[group]);
        return;
    }
    for (uint32_t row = 0; row < work->row_count; row++) {
        uint32_t group = group_of_row(work, host, row);

        if (group != NO_GROUP && is_seen(&groups[group]))
            join(&work->rows[row].cost, &groups[group]);
    }
}

static void cost_host(struct top_work *work, struct top_host *host)
{
    const struct attribution *of = host->selection->host->attribution;
    uint32_t part_count = scan_op_parts(host->selection);
    uint32_t group_count =
        work->by == BY_DEVICE ? host->device_count : host->selection->host->trace->name_count;
    struct slice_costs parts[SPLIT_PARTS_MAX];
    void *data[SPLIT_PARTS_MAX];
    struct top_share *shares = top_shares_of(of, &host->spec);

    for (uint32_t i = 0; i < part_count; i++) {
        parts[i] = (struct slice_costs){.work = work, .host = host, .shares = shares};
        parts[i].groups = memory_zeroed((size_t)group_count + 1, sizeof(*parts[i].groups));
        data[i] = &parts[i];
    }
    scan_ops(host->selection, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_DUR),
             see_block, data, part_count);
    for (uint32_t i = 0; i < part_count; i++)
        give_to_rows(work, host, group_count, parts[i].groups);
    for (uint32_t i = 0; i < part_count; i++)
        free(parts[i].groups);
    free(shares);
}

void top_cost_slices(struct top_work *work)
{
    for (uint32_t i = 0; i < work->host_count; i++) {
        const struct attribution *of = work->hosts[i].selection->host->attribution;

        if (of != NULL && of->costs != NULL && of->totals != NULL)
            cost_host(work, &work->hosts[i]);
    }
}
