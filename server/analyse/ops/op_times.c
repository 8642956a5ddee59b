/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the slices of one op by the steps that they lie in. */
#include "analyse/ops/op_times.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/scan/scan.h"
#include "analyse/steps/restrict.h"
#include "analyse/steps/steps.h"
#include "base/bisect.h"
#include "trace/ps.h"

enum { SPREAD_SLICES_MAX = 4000000 };

struct walk { /* over one host */
    const struct selection *selection;
    const struct steps *steps;
    const uint32_t *owners;  /* by entry; NULL: time tells */
    const bool *wanted;      /* by op */
    const uint32_t *of_host; /* indices of the host's steps, by start */
    uint32_t of_host_count;
    struct op_times *times;
    struct op_in_step *in_steps;
    int64_t *durs_ps; /* of all hosts */
    size_t dur_count, dur_capacity;
};

static bool is_called(const struct selection *selection, const struct op *op)
{
    return str_equal(trace_name(selection->host->trace, op_called(op)), selection->asked->name);
}

/* By op: as tables call it; where none is called so, by the name of its kernels. */
static const bool *ops_wanted(const struct selection *selection, struct arena *arena)
{
    const struct attribution *of = selection->host->attribution;
    bool *wanted = arena_array(arena, bool, (size_t)of->op_count + 1);
    bool any = false;

    for (uint32_t i = 0; i < of->op_count; i++)
        any |= wanted[i] = is_called(selection, &of->ops[i]);
    for (uint32_t i = 0; !any && i < of->op_count; i++)
        wanted[i] = true;
    return wanted;
}

static struct op_in_step *step_at_time(const struct walk *walk, int64_t run_ps)
{
    uint32_t at =
        BISECT(0, walk->of_host_count, i, walk->steps->items[walk->of_host[i]].start_ps <= run_ps);

    if (at == 0)
        return &walk->times->outside;

    const struct step *step = &walk->steps->items[walk->of_host[at - 1]];

    return run_ps - step->start_ps < step->dur_ps ? &walk->in_steps[walk->of_host[at - 1]]
                                                  : &walk->times->outside;
}

static void keep_dur(struct walk *walk, int64_t dur_ps)
{
    if (walk->dur_count == SPREAD_SLICES_MAX)
        return;
    if (walk->dur_count == walk->dur_capacity) {
        walk->dur_capacity = walk->dur_capacity == 0 ? 256 : 2 * walk->dur_capacity;
        walk->durs_ps = memory_resize(walk->durs_ps, walk->dur_capacity, sizeof(*walk->durs_ps));
    }
    walk->durs_ps[walk->dur_count++] = dur_ps;
}

static void add(struct walk *walk, struct op_in_step *step, slice_id slice, int64_t dur_ps,
                int64_t self_ps)
{
    struct op_times *times = walk->times;

    if (times->slice_count == 0 || dur_ps > times->max_ps) {
        times->max_ps = dur_ps;
        times->longest = slice;
        times->host = walk->selection->index;
    }
    if (times->slice_count == 0 || dur_ps < times->min_ps)
        times->min_ps = dur_ps;
    times->slice_count++;
    ps_add(&times->self_ps, self_ps);
    step->count++;
    ps_add(&step->self_ps, self_ps);
    keep_dur(walk, dur_ps);
}

static void add_block(void *data, const struct op_block *block)
{
    struct walk *walk = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);
        struct op_in_step *step;

        if (block->inside_ps[i] < 0 || !walk->wanted[entry->op])
            continue;
        if (walk->owners != NULL && walk->owners[block->first + i] < walk->steps->count)
            step = &walk->in_steps[walk->owners[block->first + i]];
        else
            step = step_at_time(walk, entry->start_ps + walk->selection->host->offset_ps);
        add(walk, step, entry->slice, entry->dur_ps, block->self_ps[i]);
    }
}

static void add_slice(void *data, const struct scanned *slice)
{
    struct walk *walk = data;
    const struct host_trace *host = walk->selection->host;
    struct slice whole = trace_slice(host->trace, slice->slice);

    add(walk, step_at_time(walk, whole.start_ps + host->offset_ps), slice->slice, slice->dur_ps,
        slice->self_ps);
}

static void add_span(void *data, const struct span *span)
{
    struct walk *walk = data;
    const struct host_trace *host = walk->selection->host;
    const struct chunk *chunk = span->chunk;

    for (uint32_t at = span->first; at < span->end; at++) {
        if (span->wanted != NULL && !span->wanted[chunk->place[at]])
            continue;

        struct slice whole = trace_slice(host->trace, chunk->first_slice + at);

        add(walk, step_at_time(walk, whole.start_ps + host->offset_ps), chunk->first_slice + at,
            chunk->dur_ps[at], chunk->self_ps[at]);
    }
}

static void walk_host(struct walk *walk, bool of_ops, struct arena *arena)
{
    const struct selection *selection = walk->selection;
    uint32_t *of_host = arena_array(arena, uint32_t, (size_t)walk->steps->count + 1);
    void *data[SPLIT_PARTS_MAX] = {walk};

    walk->of_host_count = 0;
    for (uint32_t i = 0; i < walk->steps->count; i++)
        if (walk->steps->items[i].host == selection->index)
            of_host[walk->of_host_count++] = i;
    walk->of_host = of_host;
    walk->owners = walk->steps->owners == NULL ? NULL : walk->steps->owners[selection->index];
    if (!of_ops)
        scan_slices(selection, &(struct scan_visitor){.visit = add_slice,
                                                      .span = add_span,
                                                      .with_self = true,
                                                      .data = {walk},
                                                      .part_count = 1});
    if (!of_ops || selection->host->attribution == NULL)
        return;
    walk->wanted = ops_wanted(selection, arena);
    scan_ops(selection,
             ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_START) |
                 ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED),
             add_block, data, 1);
}

/* Even steps from the least to the most; even ratios where the most is many times the least. */
static void set_bounds(struct op_times *times)
{
    bool even = times->max_ps / 8 < times->min_ps;
    double first = (double)(times->min_ps > 0 ? times->min_ps : 1);
    double width = (double)(times->max_ps - times->min_ps);

    for (int i = 0; i <= OP_TIMES_BUCKETS; i++) {
        double part = (double)i / OP_TIMES_BUCKETS;

        times->bounds_ps[i] = even ? times->min_ps + (int64_t)(width * part)
                                   : (int64_t)(first * pow((double)times->max_ps / first, part));
    }
    times->bounds_ps[0] = times->min_ps;
    times->bounds_ps[OP_TIMES_BUCKETS] = times->max_ps;
}

static void fill_spread(const struct walk *walk)
{
    struct op_times *times = walk->times;

    times->has_spread = times->slice_count == walk->dur_count && times->max_ps > times->min_ps;
    if (!times->has_spread)
        return;
    set_bounds(times);
    for (size_t i = 0; i < walk->dur_count; i++)
        times->counts[BISECT(1, OP_TIMES_BUCKETS, at, times->bounds_ps[at] <= walk->durs_ps[i]) -
                      1]++;
}

enum status op_times(const struct run_traces *run, const struct restriction *restriction,
                     bool of_ops, struct arena *arena, struct op_times *ret, struct error *err)
{
    struct selection *selections;
    struct steps steps;
    uint32_t count;

    *ret = (struct op_times){.longest = NO_SLICE};
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    TRY(steps_find(run, restriction, arena, &steps, err));

    struct op_in_step *in_steps = arena_array(arena, struct op_in_step, (size_t)steps.count + 1);
    struct walk walk = {.steps = &steps, .times = ret, .in_steps = in_steps};

    for (uint32_t i = 0; i < steps.count; i++)
        in_steps[i] = (struct op_in_step){.host = steps.items[i].host,
                                          .number = steps.items[i].number,
                                          .start_ps = steps.items[i].start_ps,
                                          .dur_ps = steps.items[i].dur_ps};
    for (uint32_t i = 0; i < count; i++) {
        walk.selection = &selections[i];
        walk_host(&walk, of_ops, arena);
    }
    fill_spread(&walk);
    free(walk.durs_ps);
    ret->steps = in_steps;
    ret->step_count = steps.count;
    return OK;
}
