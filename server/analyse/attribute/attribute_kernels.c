/* SPDX-License-Identifier: Apache-2.0 */
/* What tables of kernels over the whole trace say, computed once.
 *
 *   host     |--call--|
 *            |        |<-- queue -->|
 *            |<------- launch ----->|
 *   stream   ...before|<--- gap --->|--kernel--|
 *
 * A device's clock and its host's differ by some microseconds, so a kernel may seem to start before
 * its call ended: it then waited for nothing; and its launch may even be less than nothing, which
 * is kept, for it tells how far the clocks are apart.
 *
 * What is measured of each launch goes to its kernel's place in an array, from which the quantiles
 * are taken at the end:
 *
 *   durations   [ kernel 0: 3 9 3 | kernel 1: 7 | kernel 2: 1 1 ]
 *   gaps        [ kernel 0: 1 2 . | kernel 1: . | kernel 2: 8 . ]    first of a row: none
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/device/launch.h"
#include "analyse/stats/quantile_set.h"

enum metric { METRIC_DUR, METRIC_QUEUE, METRIC_LAUNCH, METRIC_CALL, METRIC_GAP, METRIC_COUNT };

struct gathering {
    const struct trace *trace;
    const struct attribution *of;
    struct kernel_total *totals;
    uint32_t *place;                /* of each kernel, and behind the last */
    int64_t *values[METRIC_COUNT];  /* by place */
    uint32_t *filled[METRIC_COUNT]; /* by kernel */
    uint32_t *longest;              /* entry of each kernel */
    uint32_t *next;                 /* kernel of the same name, NO_KERNEL */
    struct quantile_set *set;
};

struct one_launch { /* of an entry */
    bool is_called, has_gap;
    int64_t queue_ps, launch_ps, call_ps, gap_ps;
};

/* Streams that stand idle, and whose next kernel was launched late: the host kept them waiting. */
static void add_starved(struct kernel_total *total, const struct one_launch *launch)
{
    if (!launch->is_called || !launch->has_gap)
        return;

    int64_t starved_ps = launch_starved_ps(launch->launch_ps, launch->queue_ps, launch->gap_ps);

    total->starved_count += starved_ps > 0;
    total->starved_ps = sum_of(total->starved_ps, starved_ps);
}

static void add_total(struct gathering *work, uint32_t at, uint32_t kernel,
                      const struct one_launch *launch)
{
    const struct attributed *entry = ENTRY_AT(work->of, at);
    struct kernel_total *total = &work->totals[kernel];

    if (total->count == 0 || entry->dur_ps > total->max_ps) {
        total->max_ps = entry->dur_ps;
        total->longest = entry->slice;
        work->longest[kernel] = at;
    }
    if (total->count == 0) {
        total->kernel = kernel;
        total->first = entry->slice; /* entries come by slice */
        total->min_ps = entry->dur_ps;
    }
    total->min_ps = entry->dur_ps < total->min_ps ? entry->dur_ps : total->min_ps;
    total->count++;
    total->graph_count += entry->graph != GRAPH_NONE;
    total->launch_count += launch->is_called;
    total->gap_count += launch->has_gap;
    total->total_ps = sum_of(total->total_ps, entry->dur_ps);
    total->self_ps = sum_of(total->self_ps, entry->self_ps);
    add_starved(total, launch);
}

static void add_value(struct gathering *work, uint32_t kernel, enum metric metric, int64_t value)
{
    work->values[metric][work->place[kernel] + work->filled[metric][kernel]++] = value;
}

static void add_values(struct gathering *work, uint32_t kernel, int64_t dur_ps,
                       const struct one_launch *launch)
{
    add_value(work, kernel, METRIC_DUR, dur_ps);
    if (launch->has_gap)
        add_value(work, kernel, METRIC_GAP, launch->gap_ps);
    if (!launch->is_called)
        return;
    add_value(work, kernel, METRIC_QUEUE, launch->queue_ps);
    add_value(work, kernel, METRIC_LAUNCH, launch->launch_ps);
    add_value(work, kernel, METRIC_CALL, launch->call_ps);
}

static struct one_launch launch_of(struct launch_reader *reader, const struct attributed *entry)
{
    struct one_launch launch = {0};
    struct launch_call call;

    if (entry->launch == NO_SLICE || !launch_read(reader, entry->launch, &call))
        return launch;
    launch.is_called = true;
    launch.call_ps = call.dur_ps;
    launch.launch_ps = entry->start_ps - call.start_ps;
    launch.queue_ps = launch.launch_ps > call.dur_ps ? launch.launch_ps - call.dur_ps : 0;
    return launch;
}

/* Entries of a row are contiguous and in order. */
static void gather(struct gathering *work)
{
    const struct attribution *of = work->of;
    struct launch_reader *reader = launch_reader_create(work->trace);
    const struct row *row = NULL;
    int64_t end_ps = 0;

    for (uint32_t at = 0; at < of->entry_count; at++) {
        const struct attributed *entry = ENTRY_AT(of, at);
        bool begins = row == NULL || entry->slice - row->first_slice >= row->count;

        if (begins)
            row = &work->trace->rows[trace_row_of(work->trace, entry->slice)];
        if (entry_kernel(of, at) != NO_KERNEL) {
            struct one_launch launch = launch_of(reader, entry);

            launch.has_gap = !begins;
            launch.gap_ps = entry->start_ps > end_ps ? entry->start_ps - end_ps : 0;
            add_total(work, at, entry_kernel(of, at), &launch);
            add_values(work, entry_kernel(of, at), entry->dur_ps, &launch);
        }
        end_ps = entry->start_ps + entry->dur_ps;
    }
    launch_reader_free(reader);
}

/* In the order in which a device runs them: what a profiler that skips launches counts. */
static void rank_longest(struct gathering *work, struct scratch *scratch)
{
    const struct attribution *of = work->of;
    uint32_t *seen = scratch_array(scratch, uint32_t, (size_t)work->trace->name_count + 1);

    for (uint32_t i = 0; i < of->entry_count; i++) {
        uint32_t at = entry_in_time(of, i), kernel = entry_kernel(of, at);

        if (kernel == NO_KERNEL)
            continue;

        uint32_t rank = seen[of->kernels[kernel].name]++;

        if (work->longest[kernel] == at)
            work->totals[kernel].longest_skip = rank;
    }
    scratch_free(scratch, seen);
}

/* Of one kernel, or of it and those of its name behind it. */
static void begin_metric(struct gathering *work, enum metric metric, uint32_t first,
                         bool whole_name)
{
    quantile_set_begin(work->set);
    for (uint32_t kernel = first; kernel != NO_KERNEL;
         kernel = whole_name ? work->next[kernel] : NO_KERNEL)
        quantile_set_add(work->set, work->values[metric] + work->place[kernel],
                         work->filled[metric][kernel]);
}

static int64_t median(struct gathering *work, enum metric metric, uint32_t first, bool whole_name)
{
    begin_metric(work, metric, first, whole_name);
    return quantile_set_at(work->set, 50);
}

static void take_quantiles(struct gathering *work, uint32_t first, bool whole_name,
                           struct kernel_total *ret)
{
    begin_metric(work, METRIC_DUR, first, whole_name);
    ret->approximate = !quantile_set_exact(work->set);
    ret->p50_ps = quantile_set_at(work->set, 50);
    ret->p95_ps = quantile_set_at(work->set, 95);
    ret->stdev_ps = quantile_set_stdev(work->set, 0);
    ret->queue_p50_ps = median(work, METRIC_QUEUE, first, whole_name);
    ret->launch_p50_ps = median(work, METRIC_LAUNCH, first, whole_name);
    ret->call_p50_ps = median(work, METRIC_CALL, first, whole_name);
    ret->gap_p50_ps = median(work, METRIC_GAP, first, whole_name);
}

/* Links kernels of one name in order, and returns how many names there are. */
static uint32_t join_names(struct gathering *work, struct scratch *scratch, bool *is_first)
{
    const struct attribution *of = work->of;
    uint32_t *last = scratch_array(scratch, uint32_t, (size_t)work->trace->name_count + 1);
    uint32_t count = 0;

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        uint32_t *before = &last[of->kernels[kernel].name];

        work->next[kernel] = NO_KERNEL;
        is_first[kernel] = *before == 0;
        count += *before == 0;
        if (*before != 0)
            work->next[*before - 1] = kernel;
        *before = kernel + 1;
    }
    scratch_free(scratch, last);
    return count;
}

static void add_shape(struct kernel_total *to, const struct kernel_total *shape)
{
    if (shape->max_ps > to->max_ps) {
        to->max_ps = shape->max_ps;
        to->longest = shape->longest;
        to->longest_skip = shape->longest_skip;
    }
    to->min_ps = shape->min_ps < to->min_ps ? shape->min_ps : to->min_ps;
    to->first = shape->first < to->first ? shape->first : to->first;
    to->count += shape->count;
    to->graph_count += shape->graph_count;
    to->launch_count += shape->launch_count;
    to->gap_count += shape->gap_count;
    to->starved_count += shape->starved_count;
    to->total_ps = sum_of(to->total_ps, shape->total_ps);
    to->self_ps = sum_of(to->self_ps, shape->self_ps);
    to->starved_ps = sum_of(to->starved_ps, shape->starved_ps);
}

/* Of all launch shapes of a name, from the first of them on. */
static struct kernel_total total_of_name(struct gathering *work, uint32_t first)
{
    struct kernel_total total = work->totals[first];

    if (work->next[first] == NO_KERNEL)
        return total;
    for (uint32_t kernel = work->next[first]; kernel != NO_KERNEL; kernel = work->next[kernel])
        add_shape(&total, &work->totals[kernel]);
    take_quantiles(work, first, true, &total);
    return total;
}

static void make_totals(struct gathering *work, struct scratch *scratch, struct attribution *of)
{
    bool *is_first = scratch_array(scratch, bool, of->kernel_count);
    uint32_t name_count = join_names(work, scratch, is_first), name = 0;
    struct kernel_total *by_name = scratch_array(scratch, struct kernel_total, name_count);

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++)
        take_quantiles(work, kernel, false, &work->totals[kernel]);
    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        if (is_first[kernel])
            by_name[name++] = total_of_name(work, kernel);
    }
    scratch_free(scratch, is_first);
    of->kernel_totals = work->totals;
    of->kernel_by_name = by_name;
    of->kernel_name_count = name_count;
}

static void find_places(struct gathering *work)
{
    const struct attribution *of = work->of;

    for (uint32_t at = 0; at < of->entry_count; at++) {
        if (entry_kernel(of, at) != NO_KERNEL)
            work->place[entry_kernel(of, at) + 1]++;
    }
    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++)
        work->place[kernel + 1] += work->place[kernel];
}

/* Where no call is known, none is measured. */
static bool has_launches(const struct attribution *of)
{
    for (uint32_t at = 0; at < of->entry_count; at++) {
        if (entry_at(of, at).launch != NO_SLICE)
            return true;
    }
    return false;
}

static void make_room(struct gathering *work, struct scratch *scratch)
{
    size_t count = work->place[work->of->kernel_count];
    bool called = has_launches(work->of);

    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        bool of_call = metric != METRIC_DUR && metric != METRIC_GAP;

        work->filled[metric] = scratch_array(scratch, uint32_t, work->of->kernel_count);
        work->values[metric] = scratch_array(scratch, int64_t, called || !of_call ? count : 0);
    }
}

static void free_room(struct gathering *work, struct scratch *scratch)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        scratch_free(scratch, work->filled[metric]);
        scratch_free(scratch, work->values[metric]);
    }
}

void kernels_make(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    if (of->kernel_count == 0)
        return;

    struct gathering work = {
        .trace = trace,
        .of = of,
        .totals = scratch_array(scratch, struct kernel_total, of->kernel_count),
        .place = scratch_array(scratch, uint32_t, (size_t)of->kernel_count + 1),
        .longest = scratch_array(scratch, uint32_t, of->kernel_count),
        .next = scratch_array(scratch, uint32_t, of->kernel_count),
        .set = quantile_set_create(),
    };

    find_places(&work);
    make_room(&work, scratch);
    gather(&work);
    rank_longest(&work, scratch);
    make_totals(&work, scratch, of);
    free_room(&work, scratch);
    quantile_set_destroy(work.set);
    scratch_free(scratch, work.place);
    scratch_free(scratch, work.longest);
    scratch_free(scratch, work.next);
}
