/* SPDX-License-Identifier: Apache-2.0 */
/* The second walk: quantiles and waits, for the rows of a page alone. */
#include <stdlib.h>

#include "analyse/device/launch.h"
#include "analyse/ops/kernels_parts.h"
#include "analyse/stats/quantile.h"
#include "trace/ps.h"

struct row_spread {
    struct quantiles *durs, *queues, *launches, *calls, *gaps;
    uint64_t starved_count;
    int64_t starved_ps;
};

struct spread_part { /* one walk over one host, on this thread */
    struct kernels_work *work;
    uint32_t at;
    struct row_spread *spreads; /* by row; empty: not of the page */
    struct launch_reader *reader;
    const struct row *row; /* of slices, where the last entry stood */
};

static struct row_spread open_spread(const struct kernel_row *row)
{
    return (struct row_spread){
        .durs =
            quantiles_create(row->count, row->count > 0 ? row->whole_ps / (int64_t)row->count : 0),
        .queues = quantiles_create(row->count, 0),
        .launches = quantiles_create(row->count, 0),
        .calls = quantiles_create(row->count, 0),
        .gaps = quantiles_create(row->count, 0),
    };
}

static void close_spread(struct row_spread *spread, struct kernel_row *row)
{
    row->p50_ps = quantiles_at(spread->durs, 50);
    row->p95_ps = quantiles_at(spread->durs, 95);
    row->stdev_ps = quantiles_stdev(spread->durs);
    row->approximate = !quantiles_exact(spread->durs);
    row->launch_count = spread->calls->count;
    row->gap_count = spread->gaps->count;
    row->queue_p50_ps = quantiles_at(spread->queues, 50);
    row->launch_p50_ps = quantiles_at(spread->launches, 50);
    row->call_p50_ps = quantiles_at(spread->calls, 50);
    row->gap_p50_ps = quantiles_at(spread->gaps, 50);
    row->starved_count = spread->starved_count;
    row->starved_ps = spread->starved_ps;
    row->spread_known = true;
    quantiles_free(spread->durs);
    quantiles_free(spread->queues);
    quantiles_free(spread->launches);
    quantiles_free(spread->calls);
    quantiles_free(spread->gaps);
}

/* Idle time before it; -1: nothing stands before it in its row. */
static int64_t add_gap(struct spread_part *part, const struct attribution *of, uint32_t index,
                       struct row_spread *spread)
{
    const struct trace *trace = part->work->selections[part->at].host->trace;
    const struct attributed *entry = ENTRY_AT(of, index);

    if (part->row == NULL || entry->slice < part->row->first_slice ||
        entry->slice - part->row->first_slice >= part->row->count)
        part->row = &trace->rows[trace_row_of(trace, entry->slice)];
    if (index == 0 || entry_slice(of, index - 1) < part->row->first_slice)
        return -1;

    const struct attributed *before = ENTRY_AT(of, index - 1);
    int64_t gap_ps = entry->start_ps - (before->start_ps + before->dur_ps);

    gap_ps = gap_ps > 0 ? gap_ps : 0;
    quantiles_add(spread->gaps, gap_ps);
    return gap_ps;
}

static void add_call(struct row_spread *spread, const struct attributed *entry,
                     const struct launch_call *call, int64_t gap_ps)
{
    int64_t launch_ps = entry->start_ps - call->start_ps;
    int64_t queue_ps = launch_ps > call->dur_ps ? launch_ps - call->dur_ps : 0;
    int64_t starved_ps = launch_starved_ps(launch_ps, queue_ps, gap_ps);

    quantiles_add(spread->queues, queue_ps);
    quantiles_add(spread->launches, launch_ps);
    quantiles_add(spread->calls, call->dur_ps);
    spread->starved_count += starved_ps > 0;
    ps_add(&spread->starved_ps, starved_ps);
}

static void spread_block(void *data, const struct op_block *block)
{
    struct spread_part *part = data;
    struct kernels_work *work = part->work;
    const struct attribution *of = work->selections[part->at].host->attribution;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);
        uint32_t kernel = entry_kernel(of, block->first + i);
        uint32_t row = kernel == NO_KERNEL ? 0 : work->row_of[part->at][kernel];
        struct launch_call call;

        if (block->inside_ps[i] < 0 || row == 0 || part->spreads[row - 1].durs == NULL ||
            !kernels_counts(work, part->at, block->first + i))
            continue;

        struct row_spread *spread = &part->spreads[row - 1];

        quantiles_add(spread->durs, entry->dur_ps);

        int64_t gap_ps = add_gap(part, of, block->first + i, spread);

        if (launch_read(part->reader, entry->launch, &call))
            add_call(spread, entry, &call, gap_ps);
    }
}

static void spread_like(struct row_spread *to, const struct row_spread *whole)
{
    *to = (struct row_spread){
        .durs = quantiles_create_like(whole->durs),
        .queues = quantiles_create_like(whole->queues),
        .launches = quantiles_create_like(whole->launches),
        .calls = quantiles_create_like(whole->calls),
        .gaps = quantiles_create_like(whole->gaps),
    };
}

static void spread_join(struct row_spread *to, const struct row_spread *part)
{
    quantiles_take(to->durs, part->durs);
    quantiles_take(to->queues, part->queues);
    quantiles_take(to->launches, part->launches);
    quantiles_take(to->calls, part->calls);
    quantiles_take(to->gaps, part->gaps);
    to->starved_count += part->starved_count;
    ps_add(&to->starved_ps, part->starved_ps);
}

static void open_part(struct spread_part *part, struct kernels_work *work, uint32_t at,
                      const struct row_spread *spreads)
{
    *part = (struct spread_part){
        .work = work,
        .at = at,
        .spreads = memory_zeroed((size_t)work->row_count + 1, sizeof *part->spreads),
        .reader = launch_reader_create(work->selections[at].host->trace),
    };
    for (uint32_t row = 0; row < work->row_count; row++) {
        if (spreads[row].durs != NULL)
            spread_like(&part->spreads[row], &spreads[row]);
    }
}

static void close_part(struct spread_part *part, uint32_t row_count, struct row_spread *spreads)
{
    for (uint32_t row = 0; row < row_count; row++) {
        if (spreads[row].durs != NULL)
            spread_join(&spreads[row], &part->spreads[row]);
    }
    free(part->spreads);
    launch_reader_free(part->reader);
}

static void spread_host(struct kernels_work *work, uint32_t at, struct row_spread *spreads)
{
    const struct selection *selection = &work->selections[at];
    struct spread_part parts[SPLIT_PARTS_MAX];
    void *data[SPLIT_PARTS_MAX];

    if (work->row_of[at] == NULL)
        return;

    uint32_t part_count = scan_op_parts(selection);

    for (uint32_t i = 0; i < part_count; i++) {
        open_part(&parts[i], work, at, spreads);
        data[i] = &parts[i];
    }
    scan_ops(selection, ENTRY_BIT(ENTRY_LAUNCH) | ENTRY_BIT(ENTRY_START) | ENTRY_BIT(ENTRY_DUR),
             spread_block, data, part_count);
    for (uint32_t i = 0; i < part_count; i++)
        close_part(&parts[i], work->row_count, spreads);
}

void kernels_spread(struct kernels_work *work, const uint32_t *order, uint32_t first, uint32_t end)
{
    struct row_spread *spreads = memory_zeroed((size_t)work->row_count + 1, sizeof *spreads);
    bool any = false;
    for (uint32_t i = first; i < end; i++) {
        if (!work->rows[order[i]].spread_known) {
            spreads[order[i]] = open_spread(&work->rows[order[i]]);
            any = true;
        }
    }
    for (uint32_t at = 0; any && at < work->selection_count; at++)
        spread_host(work, at, spreads);
    for (uint32_t i = first; i < end; i++) {
        if (spreads[order[i]].durs != NULL)
            close_spread(&spreads[order[i]], &work->rows[order[i]]);
    }
    free(spreads);
}
