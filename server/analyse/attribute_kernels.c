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
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute_parts.h"
#include "analyse/launch.h"
#include "analyse/quantile.h"

enum metric { METRIC_DUR, METRIC_QUEUE, METRIC_LAUNCH, METRIC_CALL, METRIC_GAP, METRIC_COUNT };

/* What begins within this after its call ended waited for nothing but the call. */
#define SOON_PS INT64_C(20000000)

struct gathered { /* of one kernel, or of all of one name */
    struct quantiles *values[METRIC_COUNT];
};

struct gathering {
    const struct trace *trace;
    const struct attribution *of;
    struct kernel_total *totals;
    struct gathered *gathered;
    uint32_t *longest; /* entry of each kernel */
    uint32_t *next;    /* kernel of the same name, NO_KERNEL */
};

struct one_launch { /* of an entry */
    bool is_called, has_gap;
    int64_t queue_ps, launch_ps, call_ps, gap_ps;
};

static int64_t sum_of(int64_t left_ps, int64_t right_ps)
{
    int64_t sum_ps;

    if (__builtin_add_overflow(left_ps, right_ps, &sum_ps))
        return right_ps > 0 ? INT64_MAX : INT64_MIN;
    return sum_ps;
}

static void gathered_open(struct gathered *gathered, uint32_t count)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        gathered->values[metric] = quantiles_create(count, 0);
}

static void gathered_close(struct gathered *gathered)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        quantiles_free(gathered->values[metric]);
}

/* Streams that stand idle, and whose next kernel was launched late: the host kept them waiting. */
static void add_starved(struct kernel_total *total, const struct one_launch *launch)
{
    if (!launch->is_called || !launch->has_gap || launch->launch_ps <= 0 ||
        launch->queue_ps > SOON_PS || launch->queue_ps >= launch->gap_ps)
        return;
    total->starved_count++;
    total->starved_ps = sum_of(total->starved_ps, launch->gap_ps - launch->queue_ps);
}

static void add_total(struct gathering *work, uint32_t at, uint32_t kernel,
                      const struct one_launch *launch)
{
    const struct attributed *entry = &work->of->entries[at];
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

static void add_values(struct gathered *to, int64_t dur_ps, const struct one_launch *launch)
{
    quantiles_add(to->values[METRIC_DUR], dur_ps);
    if (launch->has_gap)
        quantiles_add(to->values[METRIC_GAP], launch->gap_ps);
    if (!launch->is_called)
        return;
    quantiles_add(to->values[METRIC_QUEUE], launch->queue_ps);
    quantiles_add(to->values[METRIC_LAUNCH], launch->launch_ps);
    quantiles_add(to->values[METRIC_CALL], launch->call_ps);
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
        const struct attributed *entry = &of->entries[at];
        bool begins = row == NULL || entry->slice - row->first_slice >= row->count;

        if (begins)
            row = &work->trace->rows[trace_row_of(work->trace, entry->slice)];
        if (of->kernel_of[at] != NO_KERNEL) {
            struct one_launch launch = launch_of(reader, entry);

            launch.has_gap = !begins;
            launch.gap_ps = entry->start_ps > end_ps ? entry->start_ps - end_ps : 0;
            add_total(work, at, of->kernel_of[at], &launch);
            add_values(&work->gathered[of->kernel_of[at]], entry->dur_ps, &launch);
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
        uint32_t at = of->by_device_time[i], kernel = of->kernel_of[at];

        if (kernel == NO_KERNEL)
            continue;

        uint32_t rank = seen[of->kernels[kernel].name]++;

        if (work->longest[kernel] == at)
            work->totals[kernel].longest_skip = rank;
    }
    scratch_free(scratch, seen);
}

static int64_t median(const struct gathered *of, enum metric metric, uint32_t count)
{
    return count == 0 ? 0 : quantiles_at(of->values[metric], 50);
}

static void take_quantiles(struct kernel_total *total, const struct gathered *of)
{
    total->approximate = !quantiles_exact(of->values[METRIC_DUR]);
    total->p50_ps = quantiles_at(of->values[METRIC_DUR], 50);
    total->p95_ps = quantiles_at(of->values[METRIC_DUR], 95);
    total->stdev_ps = quantiles_stdev(of->values[METRIC_DUR]);
    total->queue_p50_ps = median(of, METRIC_QUEUE, total->launch_count);
    total->launch_p50_ps = median(of, METRIC_LAUNCH, total->launch_count);
    total->call_p50_ps = median(of, METRIC_CALL, total->launch_count);
    total->gap_p50_ps = median(of, METRIC_GAP, total->gap_count);
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

/* Few values are kept one by one, many in a histogram. */
static void join_values(struct quantiles *to, const struct quantiles *part)
{
    if (to->buckets == NULL || part->buckets != NULL) {
        quantiles_join(to, part);
        return;
    }
    for (uint64_t i = 0; i < part->count; i++)
        quantiles_add(to, part->values[i]);
}

/* Of all launch shapes of a name, from the first of them on. */
static struct kernel_total total_of_name(const struct gathering *work, uint32_t first)
{
    struct kernel_total total = work->totals[first];
    struct gathered all;

    if (work->next[first] == NO_KERNEL)
        return total;
    for (uint32_t kernel = work->next[first]; kernel != NO_KERNEL; kernel = work->next[kernel])
        add_shape(&total, &work->totals[kernel]);
    gathered_open(&all, total.count);
    for (uint32_t kernel = first; kernel != NO_KERNEL; kernel = work->next[kernel]) {
        for (int metric = 0; metric < METRIC_COUNT; metric++)
            join_values(all.values[metric], work->gathered[kernel].values[metric]);
    }
    take_quantiles(&total, &all);
    gathered_close(&all);
    return total;
}

static void make_totals(struct gathering *work, struct scratch *scratch, struct attribution *of)
{
    bool *is_first = scratch_array(scratch, bool, of->kernel_count);
    uint32_t name_count = join_names(work, scratch, is_first), name = 0;
    struct kernel_total *by_name = scratch_array(scratch, struct kernel_total, name_count);

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        if (is_first[kernel])
            by_name[name++] = total_of_name(work, kernel);
    }
    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        take_quantiles(&work->totals[kernel], &work->gathered[kernel]);
        gathered_close(&work->gathered[kernel]);
    }
    for (uint32_t i = 0; i < name_count; i++) { /* those of one shape have that one's */
        if (work->next[by_name[i].kernel] == NO_KERNEL)
            by_name[i] = work->totals[by_name[i].kernel];
    }
    scratch_free(scratch, is_first);
    of->kernel_totals = work->totals;
    of->kernel_by_name = by_name;
    of->kernel_name_count = name_count;
}

static void open_kernels(struct gathering *work, struct scratch *scratch)
{
    const struct attribution *of = work->of;
    uint32_t *count = scratch_array(scratch, uint32_t, of->kernel_count);

    for (uint32_t at = 0; at < of->entry_count; at++) {
        if (of->kernel_of[at] != NO_KERNEL)
            count[of->kernel_of[at]]++;
    }
    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++)
        gathered_open(&work->gathered[kernel], count[kernel]);
    scratch_free(scratch, count);
}

void kernels_make(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    if (of->kernel_count == 0)
        return;

    struct gathering work = {
        .trace = trace,
        .of = of,
        .totals = scratch_array(scratch, struct kernel_total, of->kernel_count),
        .gathered = scratch_array(scratch, struct gathered, of->kernel_count),
        .longest = scratch_array(scratch, uint32_t, of->kernel_count),
        .next = scratch_array(scratch, uint32_t, of->kernel_count),
    };

    open_kernels(&work, scratch);
    gather(&work);
    rank_longest(&work, scratch);
    make_totals(&work, scratch, of);
    scratch_free(scratch, work.gathered);
    scratch_free(scratch, work.longest);
    scratch_free(scratch, work.next);
}
