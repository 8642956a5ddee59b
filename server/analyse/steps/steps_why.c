/* SPDX-License-Identifier: Apache-2.0 */
/* Compares slow steps of a host with usual ones, op by op and slice by slice. */
#include "analyse/steps/steps_why.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/device_line.h"
#include "trace/ps.h"

enum {
    USUAL_MAX = 15,
    COLUMNS_MAX = WHY_STEPS_MAX + USUAL_MAX,
    NAMES_MAX = 65536,
    SLICES_MAX = 1000000,  /* of a host's thread, over all steps looked at: shallow rows first */
    EXPLAINS_SHARE = 4,    /* of what the step took longer: a quarter */
    INNERMOST_PERCENT = 80 /* of what the best explains */
};

struct looked { /* a step looked at */
    const struct step *step;
    uint32_t index; /* of the step */
    bool usual, slow;
};

struct shares { /* time by column and op, or name and depth: a call inside its like counts once */
    struct map64 ordinals;
    uint64_t *keys;
    uint32_t *depths;
    int64_t (*cells_ps)[COLUMNS_MAX];
    uint32_t count, capacity;
};

static void shares_free(struct shares *shares)
{
    map64_free(&shares->ordinals);
    free(shares->keys);
    free(shares->depths);
    free(shares->cells_ps);
}

static void shares_add(struct shares *shares, uint64_t key, uint32_t depth, uint32_t column,
                       int64_t ps)
{
    uint32_t *ordinal = map64_at(&shares->ordinals, key, UINT32_MAX);

    if (*ordinal == UINT32_MAX) {
        if (shares->count == NAMES_MAX)
            return;
        if (shares->count == shares->capacity) {
            shares->capacity = shares->capacity == 0 ? 64 : 2 * shares->capacity;
            shares->keys = memory_resize(shares->keys, shares->capacity, sizeof(*shares->keys));
            shares->depths =
                memory_resize(shares->depths, shares->capacity, sizeof(*shares->depths));
            shares->cells_ps =
                memory_resize(shares->cells_ps, shares->capacity, sizeof(*shares->cells_ps));
        }
        *ordinal = shares->count++;
        shares->keys[*ordinal] = key;
        shares->depths[*ordinal] = 0;
        memset(shares->cells_ps[*ordinal], 0, sizeof(shares->cells_ps[*ordinal]));
    }
    if (depth > shares->depths[*ordinal])
        shares->depths[*ordinal] = depth;
    ps_add(&shares->cells_ps[*ordinal][column], ps);
}

static int64_t usual_of(const struct shares *shares, uint32_t ordinal, const struct looked *columns,
                        uint32_t count)
{
    int64_t values_ps[COLUMNS_MAX];
    uint32_t usual = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (columns[i].usual)
            values_ps[usual++] = shares->cells_ps[ordinal][i];
    }
    return median_of(values_ps, usual);
}

/* Self time of the host's ops that begin in each step. */
static void add_ops(const struct host_trace *host, const struct host_devices *devices,
                    const struct looked *columns, uint32_t count, struct shares *shares)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < count; i++) {
        int64_t from_ps = columns[i].step->start_ps - host->offset_ps;

        for (uint32_t device = 0; device < devices->count; device++) {
            int32_t ordinal = devices->devices[device];
            uint32_t end =
                attribution_time_from(attribution, ordinal, from_ps + columns[i].step->dur_ps);

            if (!devices->counted[device])
                continue;
            for (uint32_t at = attribution_time_from(attribution, ordinal, from_ps); at < end;
                 at++) {
                const struct attributed *entry =
                    ENTRY_AT(attribution, entry_in_time(attribution, at));

                shares_add(shares, entry->op, 0, i, entry->self_ps);
            }
        }
    }
    for (uint32_t i = 0; i < shares->count && devices->counted_count > 1; i++) {
        for (uint32_t column = 0; column < count; column++)
            shares->cells_ps[i][column] /= devices->counted_count;
    }
}

/* The slices of one row that begin in the step. */
static void add_row(const struct trace *trace, const struct row *row, uint32_t first, uint32_t end,
                    const struct step *step, int64_t from_ps, uint32_t column,
                    struct shares *shares)
{
    struct slice_group group = {0};

    for (uint32_t at = first; at < end; at++) {
        if (at == first || at - group.first >= group.count) {
            row_group(trace, row, at, &group);
            if (at - group.first >= group.count) /* damaged: reads as empty */
                return;
        }

        uint32_t i = at - group.first;

        if (group.start_ps[i] >= from_ps && group.dur_ps[i] > 0 &&
            group.dur_ps[i] <= step->dur_ps && row->first_slice + at != step->slice)
            shares_add(shares, map64_pair(row->depth, group.name[i]), row->depth, column,
                       group.dur_ps[i]);
    }
}

static void add_thread(const struct host_trace *host, track_id thread, const struct looked *columns,
                       uint32_t count, struct shares *shares)
{
    const struct trace *trace = host->trace;
    const struct track *track = &trace->tracks[thread];
    uint64_t looked_at = 0;

    for (uint32_t i = 0; i < track->row_count && looked_at < SLICES_MAX; i++) {
        const struct row *row = &trace->rows[track->first_row + i];

        for (uint32_t column = 0; column < count; column++) {
            const struct step *step = columns[column].step;
            int64_t from_ps = step->start_ps - host->offset_ps;
            uint32_t first, end;

            row_window(trace, row, from_ps, from_ps + step->dur_ps, &first, &end);
            add_row(trace, row, first, end, step, from_ps, column, shares);
            looked_at += end - first;
        }
    }
}

/* The op that took longest more than usual. */
static struct step_why best_op(const struct host_trace *host, const struct shares *ops,
                               const struct looked *columns, uint32_t count, uint32_t column)
{
    struct step_why best = {.is_op = true};

    for (uint32_t i = 0; i < ops->count; i++) {
        int64_t usual_ps = usual_of(ops, i, columns, count);

        if (ops->cells_ps[i][column] - usual_ps <= best.longer_ps)
            continue;
        best.longer_ps = ops->cells_ps[i][column] - usual_ps;
        best.usual_ps = usual_ps;
        best.name = trace_name(host->trace, host->attribution->ops[(uint32_t)ops->keys[i]].name);
    }
    return best;
}

/* How little a name says of what took long: a frame of Python less than a span, and what waits
 * least, for it waits for what took long. */
static int vagueness(struct str name)
{
    if (doing_of(KIND_HOST, name) == DOING_WAIT)
        return 2;
    return str_starts(name, STR("$")) ? 1 : 0;
}

/* Of slices inside each other the innermost that explains nearly all, of those that say most. */
static struct step_why best_slice(const struct host_trace *host, const struct shares *slices,
                                  const struct looked *columns, uint32_t count, uint32_t column)
{
    struct step_why best = {0};
    int64_t most_ps = 0;
    uint32_t depth = 0;
    int vague = 0;

    for (uint32_t i = 0; i < slices->count; i++) {
        int64_t longer_ps = slices->cells_ps[i][column] - usual_of(slices, i, columns, count);

        most_ps = longer_ps > most_ps ? longer_ps : most_ps;
    }
    for (uint32_t i = 0; i < slices->count; i++) {
        int64_t usual_ps = usual_of(slices, i, columns, count);
        int64_t longer_ps = slices->cells_ps[i][column] - usual_ps;
        struct str name = trace_name(host->trace, (name_id)(uint32_t)slices->keys[i]);
        int now = vagueness(name);

        if (longer_ps <= 0 || longer_ps / INNERMOST_PERCENT < most_ps / 100)
            continue;
        if (best.name.count > 0 && (now > vague || (now == vague && slices->depths[i] < depth)))
            continue;
        best = (struct step_why){.name = name, .longer_ps = longer_ps, .usual_ps = usual_ps};
        depth = slices->depths[i];
        vague = now;
    }
    return best;
}

static int slowest_first(const void *left, const void *right)
{
    const struct looked *a = left, *b = right;

    if (a->step->outlier != b->step->outlier)
        return a->step->outlier ? -1 : 1;
    if (a->step->dur_ps != b->step->dur_ps)
        return a->step->dur_ps > b->step->dur_ps ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The slow steps of a host, and usual ones, evenly spread. */
static uint32_t choose(const struct steps *steps, uint32_t host, int64_t median_ps,
                       struct looked ret[COLUMNS_MAX])
{
    struct looked *slow = memory_resize(NULL, steps->count, sizeof(*slow));
    struct looked *usual = memory_resize(NULL, steps->count, sizeof(*usual));
    uint32_t slow_count = 0, usual_count = 0, count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != host || step->warmup || step->cut)
            continue;
        if (step->outlier || step->dur_ps > median_ps + median_ps / 20)
            slow[slow_count++] = (struct looked){.step = step, .index = i, .slow = true};
        else
            usual[usual_count++] = (struct looked){.step = step, .index = i, .usual = true};
    }
    if (slow_count > 0)
        qsort(slow, slow_count, sizeof(*slow), slowest_first);
    for (uint32_t i = 0; i < slow_count && i < WHY_STEPS_MAX && usual_count > 0; i++)
        ret[count++] = slow[i];

    uint32_t taken = usual_count < USUAL_MAX ? usual_count : USUAL_MAX;

    for (uint32_t i = 0; i < taken && slow_count > 0; i++)
        ret[count++] = usual[(uint64_t)i * usual_count / taken];
    free(usual);
    free(slow);
    return count;
}

static void explain_host(const struct run_traces *run, uint32_t index, const struct steps *steps,
                         int64_t median_ps, struct arena *arena, struct step_why *ret)
{
    const struct host_trace *host = &run->hosts[index];
    struct host_devices devices = steps_devices_of(run, steps, index, arena);
    struct looked columns[COLUMNS_MAX];
    uint32_t count = choose(steps, index, median_ps, columns);
    struct shares ops = {0}, slices = {0};

    if (count == 0)
        return;

    track_id thread = steps_question(host, index, steps, &devices, arena)->thread;

    add_ops(host, &devices, columns, count, &ops);
    if (thread != NO_TRACK)
        add_thread(host, thread, columns, count, &slices);
    for (uint32_t i = 0; i < count; i++) {
        if (!columns[i].slow)
            continue;

        int64_t delta_ps = columns[i].step->dur_ps - median_ps;
        struct step_why op = best_op(host, &ops, columns, count, i);
        struct step_why slice = best_slice(host, &slices, columns, count, i);
        struct step_why *why = &ret[columns[i].index];

        if (op.longer_ps >= delta_ps / EXPLAINS_SHARE && op.name.count > 0)
            *why = op;
        else if (slice.longer_ps >= delta_ps / EXPLAINS_SHARE && slice.name.count > 0)
            *why = slice;
        else
            why->reason = "no op or slice of the stepping thread explains a quarter of it";
    }
    shares_free(&ops);
    shares_free(&slices);
}

struct step_why *steps_why(const struct run_traces *run, const struct steps *steps,
                           const int64_t *medians_ps, struct arena *arena)
{
    struct step_why *ret = arena_array(arena, struct step_why, steps->count);

    for (uint32_t i = 0; i < steps->count; i++)
        ret[i].reason = steps->items[i].warmup ? "warm-up steps are not compared"
                        : steps->items[i].cut  ? "the recording ended within it"
                                               : "not among the host's 32 slowest, or within "
                                                 "5 % of the median";
    for (uint32_t host = 0; host < run->host_count; host++) {
        if (medians_ps[host] >= 0)
            explain_host(run, host, steps, medians_ps[host], arena, ret);
    }
    return ret;
}
