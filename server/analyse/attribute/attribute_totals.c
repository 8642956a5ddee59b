/* SPDX-License-Identifier: Apache-2.0 */
/* What tables over the whole trace say, computed once: 48 bytes of every entry need not be read for
 * it again.
 *
 *   entries ──> totals of each op
 *           ──> durations by op  [ op 0: 3 9 3 | op 1: 7 | op 2: 1 1 ]
 *                                        └── rows join ops ──┘ ──> p50, p95, deviation of a row
 *           ──> by time ──> hull and union of each device
 *
 * The rows are those of analyse/ops/top.h, and so is the way to their quantiles: both answer alike.
 */
#include <stdlib.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/hlo/cost.h"
#include "analyse/ops/top.h"
#include "analyse/stats/quantile_set.h"

/* Of more ops no spreads are kept: their rows would be private memory. */
enum { SPREAD_OPS_MAX = 1 << 15 };

/* Buckets of fewer durations are as soon counted as kept. */
enum { COUNTED_MIN = 1024 };

static void add_to_total(struct op_total *total, const struct attributed *entry)
{
    if (total->event_count == 0)
        *total = (struct op_total){.first = entry->slice, .min_ps = INT64_MAX};
    total->event_count++;
    total->count += entry->first;
    total->total_ps = sum_of(total->total_ps, entry->dur_ps);
    total->self_ps = sum_of(total->self_ps, entry->self_ps);
    total->min_ps = entry->dur_ps < total->min_ps ? entry->dur_ps : total->min_ps;
    total->max_ps = entry->dur_ps > total->max_ps ? entry->dur_ps : total->max_ps;
}

static void make_totals(struct scratch *scratch, struct attribution *of)
{
    struct op_total *totals = scratch_array(scratch, struct op_total, of->op_count);
    uint8_t *seen = scratch_array(scratch, uint8_t, of->execution_count / 8 + 1);

    for (uint32_t op = 0; op < of->op_count; op++)
        totals[op].first = NO_SLICE;
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_AT(of, i);
        uint32_t execution = entry->execution;
        bool again = execution != NO_EXECUTION && (seen[execution / 8] >> execution % 8 & 1) != 0;

        add_to_total(&totals[entry->op], entry);
        totals[entry->op].module_count += !again;
        if (execution != NO_EXECUTION)
            seen[execution / 8] |= (uint8_t)(1u << execution % 8);
    }
    scratch_free(scratch, seen);
    of->totals = totals;
}

static void make_devices(struct scratch *scratch, struct attribution *of)
{
    struct device_total *devices = NULL, *now = NULL;
    uint32_t count = 0, capacity = 0;

    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_AT(of, entry_in_time(of, i));
        int64_t end_ps = entry->start_ps + entry->dur_ps;

        if (now == NULL || now->device != entry->device) {
            if (count == capacity) {
                capacity = capacity == 0 ? 16 : 2 * capacity;
                devices = scratch_resize(scratch, devices, capacity, sizeof(*devices));
            }
            now = &devices[count++];
            *now = (struct device_total){
                .device = entry->device, .start_ps = entry->start_ps, .end_ps = entry->start_ps};
        }
        if (end_ps > now->end_ps) {
            now->busy_ps +=
                end_ps - (entry->start_ps > now->end_ps ? entry->start_ps : now->end_ps);
            now->end_ps = end_ps;
        }
    }
    of->devices = devices;
    of->device_count = count;
}

struct counted { /* an op's durations, in `buckets`; count 0: not yet */
    size_t first;
    uint32_t count;
    struct value_sums sums;
};

struct spreading {
    struct scratch *scratch;
    const struct attribution *of;
    int64_t *durs_ps;         /* by op */
    uint64_t *first_dur;      /* of each op, and behind the last */
    uint32_t *first_op;       /* by op: of its row */
    uint32_t *order;          /* ops by row, then id */
    struct op_spread *of_op;  /* of rows of one op; event_count 0: not known yet */
    struct quantile_set *set; /* of the row that is measured */
    struct counted *counted;  /* by op */
    struct bucket_count *buckets;
    size_t bucket_count, bucket_capacity;
    struct op_spread *spread; /* all that were made */
    uint32_t count;
};

static void sort_durs(struct spreading *work)
{
    const struct attribution *of = work->of;

    for (uint32_t op = 0; op < of->op_count; op++)
        work->first_dur[op + 1] = work->first_dur[op] + of->totals[op].event_count;
    for (uint32_t i = 0; i < of->entry_count; i++)
        work->durs_ps[work->first_dur[entry_op(of, i)]++] = entry_at(of, i).dur_ps;
    for (uint32_t op = of->op_count; op > 0; op--)
        work->first_dur[op] = work->first_dur[op - 1];
    work->first_dur[0] = 0;
}

static void keep_buckets(struct spreading *work, uint32_t op, const struct value_sums *sums)
{
    size_t needed = work->bucket_count + SIGNED_BUCKETS;

    if (quantile_set_count(work->set) < COUNTED_MIN)
        return;
    if (needed > work->bucket_capacity) {
        work->bucket_capacity = needed + needed / 2;
        work->buckets = scratch_resize(work->scratch, work->buckets, work->bucket_capacity,
                                       sizeof *work->buckets);
    }
    work->counted[op] = (struct counted){
        .first = work->bucket_count,
        .count = quantile_set_buckets(work->set, work->buckets + work->bucket_count),
        .sums = *sums,
    };
    work->bucket_count += work->counted[op].count;
}

static void add_op(struct spreading *work, uint32_t op)
{
    const struct counted *counted = &work->counted[op];
    const int64_t *durs_ps = work->durs_ps + work->first_dur[op];
    uint64_t count = work->first_dur[op + 1] - work->first_dur[op];

    if (counted->count == 0)
        quantile_set_add(work->set, durs_ps, count);
    else
        quantile_set_add_counted(work->set, durs_ps, count, work->buckets + counted->first,
                                 counted->count, &counted->sums);
}

static struct op_spread measure(struct spreading *work, const uint32_t *ops, uint32_t count)
{
    int64_t total_ps = 0;

    quantile_set_begin(work->set);
    for (uint32_t i = 0; i < count; i++) {
        add_op(work, ops[i]);
        total_ps = sum_of(total_ps, work->of->totals[ops[i]].total_ps);
    }
    if (count == 1) {
        uint64_t first = work->first_dur[ops[0]];
        struct value_sums sums =
            value_sums_of(work->durs_ps + first, work->first_dur[ops[0] + 1] - first);

        quantile_set_tell(work->set, &sums);
        keep_buckets(work, ops[0], &sums);
    }

    uint64_t event_count = quantile_set_count(work->set);

    return (struct op_spread){
        .event_count = (uint32_t)event_count,
        .approximate = !quantile_set_exact(work->set),
        .p50_ps = quantile_set_at(work->set, 50),
        .p95_ps = quantile_set_at(work->set, 95),
        .stdev_ps = quantile_set_stdev(work->set, total_ps / (int64_t)event_count),
    };
}

static int by_row(const void *left, const void *right, void *data)
{
    const uint32_t *first_op = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (first_op[a] != first_op[b])
        return first_op[a] < first_op[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static void spread_rows(struct spreading *work, const struct host_trace *host, enum top_by by)
{
    uint32_t op_count = work->of->op_count;

    top_first_ops(host, by, work->first_op);
    for (uint32_t op = 0; op < op_count; op++)
        work->order[op] = op;
    qsort_r(work->order, op_count, sizeof(*work->order), by_row, work->first_op);
    for (uint32_t i = 0, end; i < op_count; i = end) {
        uint32_t op = work->first_op[work->order[i]];

        if (op == NO_OP) /* they come last */
            break;
        for (end = i + 1; end < op_count && work->first_op[work->order[end]] == op; end++)
            ;

        bool known = end == i + 1 && work->of_op[op].event_count > 0;
        struct op_spread *spread = &work->spread[work->count++];

        *spread = known ? work->of_op[op] : measure(work, &work->order[i], end - i);
        if (end == i + 1)
            work->of_op[op] = *spread;
        spread->by = by;
        spread->op = op;
    }
}

static void make_spreads(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    const struct host_trace host = {.trace = trace, .attribution = of};
    size_t op_count = of->op_count;
    struct spreading work = {
        .scratch = scratch,
        .of = of,
        .durs_ps = scratch_array(scratch, int64_t, of->entry_count),
        .first_dur = scratch_array(scratch, uint64_t, op_count + 1),
        .first_op = scratch_array(scratch, uint32_t, op_count),
        .order = scratch_array(scratch, uint32_t, op_count),
        .of_op = scratch_array(scratch, struct op_spread, op_count),
        .set = quantile_set_create(),
        .counted = scratch_array(scratch, struct counted, op_count),
        .spread = scratch_array(scratch, struct op_spread, SPREAD_BY_COUNT * op_count),
    };

    sort_durs(&work);
    for (int by = 0; by < SPREAD_BY_COUNT; by++)
        spread_rows(&work, &host, (enum top_by)by);
    scratch_free(scratch, work.durs_ps);
    scratch_free(scratch, work.first_dur);
    scratch_free(scratch, work.first_op);
    scratch_free(scratch, work.order);
    scratch_free(scratch, work.of_op);
    scratch_free(scratch, work.counted);
    scratch_free(scratch, work.buckets);
    quantile_set_destroy(work.set);
    of->spreads = work.spread;
    of->spread_count = work.count;
}

void totals_make(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    if (of->op_count == 0)
        return;
    make_totals(scratch, of);
    costs_make(trace, scratch, of);
    make_devices(scratch, of);
    if (of->op_count <= SPREAD_OPS_MAX)
        make_spreads(trace, scratch, of);
}
