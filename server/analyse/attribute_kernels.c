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

#define UNTOLD INT64_MIN

struct gathering {
    const struct trace *trace;
    const struct attribution *of;
    int64_t *call_start_ps, *call_dur_ps; /* by entry; UNTOLD */
    int64_t *gap_ps;                      /* by entry; UNTOLD */
    uint32_t *order;                      /* entries by kernel */
    uint32_t *first;                      /* of each kernel, and behind the last */
    uint32_t *next;                       /* kernel of the same name, NO_KERNEL */
    uint32_t *rank;                       /* by entry: launches of its name before it */
};

static void read_calls(struct gathering *work)
{
    struct launch_reader *reader = launch_reader_create(work->trace);

    for (uint32_t at = 0; at < work->of->entry_count; at++) {
        struct launch_call call = {.start_ps = UNTOLD, .dur_ps = UNTOLD};

        if (work->of->entries[at].launch != NO_SLICE)
            launch_read(reader, work->of->entries[at].launch, &call);
        work->call_start_ps[at] = call.start_ps;
        work->call_dur_ps[at] = call.dur_ps;
    }
    launch_reader_free(reader);
}

/* Entries of a row are contiguous and in order. */
static void measure_gaps(struct gathering *work)
{
    const struct attributed *entries = work->of->entries;
    const struct row *row = NULL;
    int64_t end_ps = 0;

    for (uint32_t at = 0; at < work->of->entry_count; at++) {
        bool begins = row == NULL || entries[at].slice - row->first_slice >= row->count;

        if (begins)
            row = &work->trace->rows[trace_row_of(work->trace, entries[at].slice)];
        work->gap_ps[at] = begins                          ? UNTOLD
                           : entries[at].start_ps > end_ps ? entries[at].start_ps - end_ps
                                                           : 0;
        end_ps = entries[at].start_ps + entries[at].dur_ps;
    }
}

/* In the order in which a device runs them: what a profiler that skips launches counts. */
static void rank_launches(struct gathering *work, struct scratch *scratch)
{
    const struct attribution *of = work->of;
    uint32_t *seen = scratch_array(scratch, uint32_t, (size_t)work->trace->name_count + 1);

    for (uint32_t i = 0; i < of->entry_count; i++) {
        uint32_t at = of->by_device_time[i];

        if (of->kernel_of[at] != NO_KERNEL)
            work->rank[at] = seen[of->kernels[of->kernel_of[at]].name]++;
    }
    scratch_free(scratch, seen);
}

static void sort_by_kernel(struct gathering *work)
{
    const struct attribution *of = work->of;

    for (uint32_t at = 0; at < of->entry_count; at++) {
        if (of->kernel_of[at] != NO_KERNEL)
            work->first[of->kernel_of[at] + 1]++;
    }
    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++)
        work->first[kernel + 1] += work->first[kernel];
    for (uint32_t at = 0; at < of->entry_count; at++) {
        if (of->kernel_of[at] != NO_KERNEL)
            work->order[work->first[of->kernel_of[at]]++] = at;
    }
    for (uint32_t kernel = of->kernel_count; kernel > 0; kernel--)
        work->first[kernel] = work->first[kernel - 1];
    work->first[0] = 0;
}

static int64_t metric_of(const struct gathering *work, uint32_t at, enum metric metric)
{
    const struct attributed *entry = &work->of->entries[at];
    int64_t start_ps = work->call_start_ps[at];

    if (metric == METRIC_DUR)
        return entry->dur_ps;
    if (metric == METRIC_GAP)
        return work->gap_ps[at];
    if (start_ps == UNTOLD)
        return UNTOLD;
    if (metric == METRIC_CALL)
        return work->call_dur_ps[at];
    if (metric == METRIC_LAUNCH)
        return entry->start_ps - start_ps;

    int64_t waited_ps = entry->start_ps - (start_ps + work->call_dur_ps[at]);

    return waited_ps > 0 ? waited_ps : 0;
}

/* Of a kernel and, where `all_shapes`, those behind it of the same name. */
static struct quantiles *gather(const struct gathering *work, uint32_t kernel, bool all_shapes,
                                enum metric metric, uint64_t count, int64_t mean_ps)
{
    struct quantiles *values = quantiles_create(count, mean_ps);

    for (; kernel != NO_KERNEL; kernel = all_shapes ? work->next[kernel] : NO_KERNEL) {
        for (uint32_t i = work->first[kernel]; i < work->first[kernel + 1]; i++) {
            int64_t value_ps = metric_of(work, work->order[i], metric);

            if (value_ps != UNTOLD)
                quantiles_add(values, value_ps);
        }
    }
    return values;
}

static int64_t median(const struct gathering *work, uint32_t kernel, bool all_shapes,
                      enum metric metric, uint32_t count)
{
    if (count == 0)
        return 0;

    struct quantiles *values = gather(work, kernel, all_shapes, metric, count, 0);
    int64_t p50_ps = quantiles_at(values, 50);

    quantiles_free(values);
    return p50_ps;
}

static int64_t sum_of(int64_t left_ps, int64_t right_ps)
{
    int64_t sum_ps;

    if (__builtin_add_overflow(left_ps, right_ps, &sum_ps))
        return right_ps > 0 ? INT64_MAX : INT64_MIN;
    return sum_ps;
}

/* What begins within this after its call ended waited for nothing but the call. */
#define SOON_PS INT64_C(20000000)

/* An idle stream whose next kernel was launched late: the host kept it waiting. */
static void add_starved(const struct gathering *work, uint32_t at, struct kernel_total *total)
{
    int64_t start_ps = work->of->entries[at].start_ps, gap_ps = work->gap_ps[at];
    int64_t called_ps = work->call_start_ps[at];

    if (called_ps == UNTOLD || gap_ps == UNTOLD || gap_ps == 0 || called_ps >= start_ps)
        return;

    int64_t queued_ps = start_ps - (called_ps + work->call_dur_ps[at]);

    queued_ps = queued_ps > 0 ? queued_ps : 0;
    if (queued_ps > SOON_PS || queued_ps >= gap_ps)
        return;
    total->starved_count++;
    total->starved_ps = sum_of(total->starved_ps, gap_ps - queued_ps);
}

static void add_launches(const struct gathering *work, uint32_t kernel, struct kernel_total *total)
{
    for (uint32_t i = work->first[kernel]; i < work->first[kernel + 1]; i++) {
        uint32_t at = work->order[i];
        const struct attributed *entry = &work->of->entries[at];

        if (total->count == 0 || entry->dur_ps > total->max_ps) {
            total->max_ps = entry->dur_ps;
            total->longest = entry->slice;
            total->longest_skip = work->rank[at];
        }
        if (total->count == 0 || entry->dur_ps < total->min_ps)
            total->min_ps = entry->dur_ps;
        if (entry->slice < total->first)
            total->first = entry->slice;
        total->count++;
        total->graph_count += entry->graph != GRAPH_NONE;
        total->launch_count += work->call_start_ps[at] != UNTOLD;
        total->gap_count += work->gap_ps[at] != UNTOLD;
        add_starved(work, at, total);
        total->total_ps = sum_of(total->total_ps, entry->dur_ps);
        total->self_ps = sum_of(total->self_ps, entry->self_ps);
    }
}

static struct kernel_total total_of(const struct gathering *work, uint32_t kernel, bool all_shapes)
{
    struct kernel_total total = {.kernel = kernel, .first = NO_SLICE, .longest = NO_SLICE};

    for (uint32_t each = kernel; each != NO_KERNEL;
         each = all_shapes ? work->next[each] : NO_KERNEL)
        add_launches(work, each, &total);

    struct quantiles *durs = gather(work, kernel, all_shapes, METRIC_DUR, total.count,
                                    total.count > 0 ? total.total_ps / total.count : 0);

    total.approximate = !quantiles_exact(durs);
    total.p50_ps = quantiles_at(durs, 50);
    total.p95_ps = quantiles_at(durs, 95);
    total.stdev_ps = quantiles_stdev(durs);
    quantiles_free(durs);
    total.queue_p50_ps = median(work, kernel, all_shapes, METRIC_QUEUE, total.launch_count);
    total.launch_p50_ps = median(work, kernel, all_shapes, METRIC_LAUNCH, total.launch_count);
    total.call_p50_ps = median(work, kernel, all_shapes, METRIC_CALL, total.launch_count);
    total.gap_p50_ps = median(work, kernel, all_shapes, METRIC_GAP, total.gap_count);
    return total;
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

static void make_totals(struct gathering *work, struct scratch *scratch, struct attribution *of)
{
    struct kernel_total *totals = scratch_array(scratch, struct kernel_total, of->kernel_count);
    bool *is_first = scratch_array(scratch, bool, of->kernel_count);
    uint32_t name_count = join_names(work, scratch, is_first), name = 0;
    struct kernel_total *by_name = scratch_array(scratch, struct kernel_total, name_count);

    for (uint32_t kernel = 0; kernel < of->kernel_count; kernel++) {
        totals[kernel] = total_of(work, kernel, false);
        if (is_first[kernel] && work->next[kernel] == NO_KERNEL)
            by_name[name++] = totals[kernel];
        else if (is_first[kernel])
            by_name[name++] = total_of(work, kernel, true);
    }
    scratch_free(scratch, is_first);
    of->kernel_totals = totals;
    of->kernel_by_name = by_name;
    of->kernel_name_count = name_count;
}

void kernels_make(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    size_t entries = of->entry_count;

    if (of->kernel_count == 0)
        return;

    struct gathering work = {
        .trace = trace,
        .of = of,
        .call_start_ps = scratch_array(scratch, int64_t, entries),
        .call_dur_ps = scratch_array(scratch, int64_t, entries),
        .gap_ps = scratch_array(scratch, int64_t, entries),
        .order = scratch_array(scratch, uint32_t, entries),
        .first = scratch_array(scratch, uint32_t, (size_t)of->kernel_count + 1),
        .next = scratch_array(scratch, uint32_t, of->kernel_count),
        .rank = scratch_array(scratch, uint32_t, entries),
    };

    read_calls(&work);
    measure_gaps(&work);
    rank_launches(&work, scratch);
    sort_by_kernel(&work);
    make_totals(&work, scratch, of);
    scratch_free(scratch, work.call_start_ps);
    scratch_free(scratch, work.call_dur_ps);
    scratch_free(scratch, work.gap_ps);
    scratch_free(scratch, work.order);
    scratch_free(scratch, work.first);
    scratch_free(scratch, work.next);
    scratch_free(scratch, work.rank);
}
