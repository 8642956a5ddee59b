/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of kernels: stored where the whole of one trace is asked for, else summed. */
#include <stdlib.h>

#include "analyse/ops/kernels_parts.h"
#include "base/names.h"
#include "trace/ps.h"

static const struct attribution *attribution_at(const struct kernels_work *work, uint32_t at)
{
    return work->selections[at].host->attribution;
}

const struct kernel *kernel_of_row(const struct kernels_work *work, const struct kernel_row *row)
{
    return &work->run->hosts[row->host].attribution->kernels[row->kernel];
}

/* "gemm|128,1,1|256,1,1|32|16|49152": what tells variants apart, on every host. */
static struct str key_of(const struct kernels_work *work, const struct trace *trace,
                         const struct kernel *kernel)
{
    struct str name = trace_name(trace, kernel->name);

    if (!work->by_variant)
        return name.count > 0 ? name : STR("(empty)");
    return str_format(work->arena, "%.*s|%u,%u,%u|%u,%u,%u|%u|%u|%u", STR_ARG(name),
                      kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
                      kernel->block[1], kernel->block[2], kernel->registers,
                      kernel->static_shared_bytes, kernel->dynamic_shared_bytes);
}

static struct kernel_row *row_of_kernel(struct kernels_work *work, uint32_t at, uint32_t index)
{
    const struct selection *selection = &work->selections[at];
    const struct kernel *kernel = &selection->host->attribution->kernels[index];
    struct str key = key_of(work, selection->host->trace, kernel);
    uint32_t row = names_add(work->keys, key) - 1; /* id 0 is "", which is no key */

    if (row == work->row_count) {
        if (row == work->row_capacity) {
            work->row_capacity = row == 0 ? 256 : 2 * row;
            work->rows = memory_resize(work->rows, work->row_capacity, sizeof *work->rows);
        }
        work->rows[work->row_count++] = (struct kernel_row){
            .host = selection->index,
            .kernel = index,
            .key = key,
            .name = trace_name(selection->host->trace, kernel->name),
            .min_ps = INT64_MAX,
            .longest = NO_SLICE,
        };
    }
    work->row_of[at][index] = row + 1;
    return &work->rows[row];
}

static void add_total(struct kernel_row *row, const struct kernel_total *total)
{
    row->variant_count++;
    row->count += total->count;
    row->graph_count += total->graph_count;
    row->launch_count += total->launch_count;
    row->gap_count += total->gap_count;
    row->starved_count += total->starved_count;
    ps_add(&row->starved_ps, total->starved_ps);
    ps_add(&row->total_ps, total->total_ps);
    ps_add(&row->self_ps, total->self_ps);
    ps_add(&row->whole_ps, total->total_ps);
    row->min_ps = total->min_ps < row->min_ps ? total->min_ps : row->min_ps;
    if (total->max_ps > row->max_ps || row->longest == NO_SLICE) {
        row->max_ps = total->max_ps;
        row->longest = total->longest;
        row->longest_skip = total->longest_skip;
    }
}

static void take_spread(struct kernel_row *row, const struct kernel_total *total)
{
    row->p50_ps = total->p50_ps;
    row->p95_ps = total->p95_ps;
    row->stdev_ps = total->stdev_ps;
    row->queue_p50_ps = total->queue_p50_ps;
    row->launch_p50_ps = total->launch_p50_ps;
    row->call_p50_ps = total->call_p50_ps;
    row->gap_p50_ps = total->gap_p50_ps;
    row->approximate = total->approximate != 0;
    row->spread_known = true;
}

static bool has_name(const struct kernels_work *work, uint32_t at, const struct kernel *kernel)
{
    return !work->names.by_name ||
           selection_has_name(&work->names,
                              trace_name(work->selections[at].host->trace, kernel->name));
}

/* Asked for by name alone, stored totals still answer. */
static bool is_stored(const struct selection *selection)
{
    const struct restriction *asked = selection->asked;

    return !selection->cut_in_time && selection->all_tracks && asked->device_count == 0 &&
           asked->module.count == 0 && asked->scope.count == 0;
}

static void add_stored(struct kernels_work *work, uint32_t at)
{
    const struct attribution *of = attribution_at(work, at);
    const struct kernel_total *spreads = work->by_variant ? of->kernel_totals : of->kernel_by_name;
    uint32_t spread_count = work->by_variant ? of->kernel_count : of->kernel_name_count;

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        if (has_name(work, at, &of->kernels[kernel]))
            add_total(row_of_kernel(work, at, kernel), &of->kernel_totals[kernel]);
    }
    for (uint32_t i = 0; work->selection_count == 1 && i < spread_count; i++) {
        uint32_t row = work->row_of[at][spreads[i].kernel];

        if (row != 0 && work->rows[row - 1].count == spreads[i].count)
            take_spread(&work->rows[row - 1], &spreads[i]);
    }
}

struct sum_part {
    const struct kernels_work *work;
    uint32_t at;
    const struct selection *selection;
    struct kernel_total *totals; /* by kernel; count 0: none yet */
};

static void sum_block(void *data, const struct op_block *block)
{
    struct sum_part *part = data;
    const struct attribution *of = part->selection->host->attribution;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);
        uint32_t kernel = entry_kernel(of, block->first + i);
        struct kernel_total *total;

        if (block->inside_ps[i] < 0 || kernel == NO_KERNEL ||
            !kernels_counts(part->work, part->at, block->first + i))
            continue;
        total = &part->totals[kernel];
        if (total->count == 0)
            *total = (struct kernel_total){.min_ps = INT64_MAX, .longest = NO_SLICE};
        total->count++;
        total->graph_count += entry->graph != GRAPH_NONE;
        total->launch_count += entry->launch != NO_SLICE;
        ps_add(&total->total_ps, block->inside_ps[i]);
        ps_add(&total->self_ps, block->self_ps[i]);
        ps_add(&total->p50_ps, entry->dur_ps); /* the sum of whole ones, until it is a row's */
        total->min_ps = entry->dur_ps < total->min_ps ? entry->dur_ps : total->min_ps;
        if (entry->dur_ps > total->max_ps || total->longest == NO_SLICE) {
            total->max_ps = entry->dur_ps;
            total->longest = entry->slice;
        }
    }
}

/* What the parts of a walk saw of one kernel. */
static void join_total(struct kernel_total *to, const struct kernel_total *part)
{
    if (part->count == 0)
        return;
    if (to->count == 0) {
        *to = *part;
        return;
    }
    to->count += part->count;
    to->graph_count += part->graph_count;
    to->launch_count += part->launch_count;
    ps_add(&to->total_ps, part->total_ps);
    ps_add(&to->self_ps, part->self_ps);
    ps_add(&to->p50_ps, part->p50_ps);
    to->min_ps = part->min_ps < to->min_ps ? part->min_ps : to->min_ps;
    if (part->max_ps > to->max_ps) {
        to->max_ps = part->max_ps;
        to->longest = part->longest;
    }
}

/* Totals of the selection by kernel, to be freed. */
static struct kernel_total *sum_selection(const struct kernels_work *work, uint32_t at)
{
    const struct selection *selection = &work->selections[at];
    uint32_t kernel_count = selection->host->attribution->kernel_count;
    uint32_t part_count = scan_op_parts(selection);
    struct sum_part parts[SPLIT_PARTS_MAX];
    void *data[SPLIT_PARTS_MAX];

    for (uint32_t i = 0; i < part_count; i++) {
        parts[i] =
            (struct sum_part){.work = work,
                              .at = at,
                              .selection = selection,
                              .totals = memory_zeroed(kernel_count, sizeof(struct kernel_total))};
        data[i] = &parts[i];
    }
    scan_ops(selection,
             ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_FLAGS) | ENTRY_BIT(ENTRY_LAUNCH) |
                 ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED),
             sum_block, data, part_count);
    for (uint32_t i = 1; i < part_count; i++) {
        for (uint32_t kernel = 0; kernel < kernel_count; kernel++)
            join_total(&parts[0].totals[kernel], &parts[i].totals[kernel]);
        free(parts[i].totals);
    }
    return parts[0].totals;
}

static void add_summed(struct kernels_work *work, uint32_t at)
{
    const struct attribution *of = attribution_at(work, at);
    struct kernel_total *totals = sum_selection(work, at);

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        struct kernel_total *total = &totals[kernel];

        if (total->count == 0 || !has_name(work, at, &of->kernels[kernel]))
            continue;

        struct kernel_row *row = row_of_kernel(work, at, kernel);

        total->longest_skip = of->kernel_totals[kernel].longest_skip;
        ps_add(&row->whole_ps, total->p50_ps - total->total_ps);
        add_total(row, total);
    }
    free(totals);
}

void kernels_sum(struct kernels_work *work)
{
    work->row_of = arena_array(work->arena, uint32_t *, work->selection_count + 1);
    for (uint32_t at = 0; at < work->selection_count; at++) {
        const struct attribution *of = attribution_at(work, at);

        if (of == NULL || of->kernel_count == 0)
            continue;
        work->row_of[at] = arena_array(work->arena, uint32_t, of->kernel_count);
        if (work->inside == NULL && is_stored(&work->selections[at]))
            add_stored(work, at);
        else
            add_summed(work, at);
    }
}
