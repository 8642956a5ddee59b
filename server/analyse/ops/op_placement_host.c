/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts' threads tell: the ops of TensorFlow's executor, and calls back into Python. */
#include <stdlib.h>

#include "analyse/hlo/callbacks.h"
#include "analyse/ops/op_placement_parts.h"
#include "analyse/scan/scan.h"
#include "trace/args/args.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

/* What no device can do: input, texts, files, and what hands values over. */
static bool may_move(struct str name)
{
    static const char *const words[] = {
        "iterator", "dataset",   "_send",        "_recv",   "summary",         "decode",   "encode",
        "^parse",   "^read",     "^write",       "^save",   "^merge",          "^restore", "shard",
        "string",   "regex",     "^print",       "^assert", "^_arg",           "^_ret",    "^no",
        "^const",   "varhandle", "^placeholder", "pyfunc",  "^train_function", "^memcpy",  NULL};

    return !name_has_word(name, words);
}

enum ran_by { BY_NOBODY, BY_TENSORFLOW, BY_XLA };

struct host_ops { /* by name */
    uint8_t *by;  /* enum ran_by; BY_NOBODY: it is no op */
    struct place_sum *sums;
};

static const char *why_there(enum place place, enum ran_by by)
{
    return place == PLACE_CALLBACK ? "it calls back into Python"
           : by == BY_XLA          ? "its program runs on the host's processor"
                                   : "TensorFlow placed it on the host";
}

static void add_slice(struct host_ops *ops, name_id name, int64_t self_ps)
{
    if (ops->by[name] == BY_NOBODY)
        return;
    ps_add(&ops->sums[name].self_ps, self_ps);
    ops->sums[name].count++;
}

static void visit_slice(void *data, const struct scanned *slice)
{
    add_slice(data, slice->name, slice->self_ps);
}

static void visit_span(void *data, const struct span *span)
{
    const struct chunk *chunk = span->chunk;

    for (uint32_t at = span->first; at < span->end; at++) {
        uint32_t place = chunk->place[at];

        if (span->wanted == NULL || span->wanted[place])
            add_slice(data, chunk->dictionary_name[place], chunk->self_ps[at]);
    }
}

struct host_keys { /* 0: the trace has no such arg */
    name_id is_eager;
    name_id hlo_op, ordinal;
};

static struct host_keys keys_of(const struct trace *trace)
{
    struct host_keys keys = {0};

    if (!trace_find_name(trace, STR("is_eager"), &keys.is_eager))
        keys.is_eager = 0;
    if (!trace_find_name(trace, STR("hlo_op"), &keys.hlo_op) ||
        !trace_find_name(trace, STR("device_ordinal"), &keys.ordinal))
        keys.hlo_op = keys.ordinal = 0;
    return keys;
}

/* TensorFlow's executor says of each of its ops whether it ran eagerly, XLA's CPU client of its own
 * on which of its devices: calls that launch ops elsewhere say neither. */
static enum ran_by ran_by(const struct trace *trace, const struct name_run *run,
                          const struct host_keys *keys, struct arena *arena)
{
    const struct track *track = &trace->tracks[trace->rows[run->row].track];
    const slice_id *slices = trace_name_slices(trace, run);
    struct arg *args;
    bool hlo_op = false, ordinal = false;

    if (track->device >= 0 || track->derived || slices == NULL || run->count == 0)
        return BY_NOBODY;

    uint32_t count = trace_args(trace, trace_slice(trace, slices[0]).event, arena, &args);

    for (uint32_t i = 0; i < count; i++) {
        if (keys->is_eager != 0 && args[i].key == keys->is_eager)
            return BY_TENSORFLOW;
        hlo_op |= keys->hlo_op != 0 && args[i].key == keys->hlo_op;
        ordinal |= keys->ordinal != 0 && args[i].key == keys->ordinal;
    }
    return hlo_op && ordinal ? BY_XLA : BY_NOBODY;
}

/* Where a host is without devices its XLA ops are those of one: attributed, and told already. */
static bool find_host_ops(const struct host_trace *host, struct host_ops *ops)
{
    const struct trace *trace = host->trace;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    struct host_keys keys = keys_of(trace);
    bool any = false;

    if (!op_placement_has_devices(trace))
        keys.hlo_op = keys.ordinal = 0;
    if (keys.is_eager == 0 && keys.hlo_op == 0)
        return false;

    struct arena *arena = arena_create();

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count && ops->by[stats[i].name] == BY_NOBODY; run++)
            ops->by[stats[i].name] = (uint8_t)ran_by(trace, &runs[run], &keys, arena);
        any |= ops->by[stats[i].name] != BY_NOBODY;
    }
    arena_destroy(arena);
    return any;
}

bool op_placement_add_host_ops(struct op_placement_work *work, const struct selection *selection)
{
    const struct trace *trace = selection->host->trace;
    struct host_ops ops = {.by = memory_zeroed((size_t)trace->name_count + 1, 1),
                           .sums = memory_zeroed((size_t)trace->name_count + 1, sizeof *ops.sums)};
    const struct scan_visitor visitor = {.visit = visit_slice,
                                         .span = visit_span,
                                         .with_self = true,
                                         .data = {&ops},
                                         .part_count = 1};
    bool any, calls_back = false;
    any = find_host_ops(selection->host, &ops);
    if (any) {
        work->host_known = true;
        scan_slices(selection, &visitor);
    }
    for (uint32_t name = 0; any && name < trace->name_count; name++) {
        struct str text = trace_name(trace, name);
        enum place place = is_callback_name(text) ? PLACE_CALLBACK : PLACE_HOST;

        if (ops.by[name] == BY_NOBODY)
            continue;
        calls_back |= place == PLACE_CALLBACK;
        if (ops.sums[name].count == 0)
            continue;
        work->any = true;
        op_placement_add_time(work, place, ops.sums[name]);
        if (place == PLACE_CALLBACK || ops.by[name] == BY_XLA || may_move(text))
            op_placement_add_movable(work, text, place, why_there(place, (enum ran_by)ops.by[name]),
                                     ops.sums[name]);
    }
    free(ops.by);
    free(ops.sums);
    return calls_back;
}

struct intervals {
    struct window *items;
    uint32_t count, capacity;
};

static void add_interval(struct intervals *to, struct window window)
{
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 64 : 2 * to->capacity;
        to->items = memory_resize(to->items, to->capacity, sizeof *to->items);
    }
    to->items[to->count++] = window;
}

static int by_from(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

/* What of the union lies inside the selection. */
static struct place_sum join_intervals(const struct selection *selection, struct intervals *all)
{
    struct place_sum sum = {0};
    int64_t to_ps = INT64_MIN;

    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, by_from);
    for (uint32_t i = 0; i < all->count; i++) {
        int64_t from_ps = all->items[i].from_ps > to_ps ? all->items[i].from_ps : to_ps;

        if (all->items[i].to_ps <= from_ps)
            continue;
        to_ps = all->items[i].to_ps;

        int64_t inside_ps = selection_inside(selection, from_ps, to_ps - from_ps);

        ps_add(&sum.self_ps, inside_ps > 0 ? inside_ps : 0);
        sum.count += inside_ps > 0;
    }
    return sum;
}

/* Where devices are apart from the host, its threads tell of callbacks. */
void op_placement_add_callbacks(struct op_placement_work *work, const struct selection *selection)
{
    const struct trace *trace = selection->host->trace;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    struct intervals all = {0};
    struct str longest = STR("");
    int64_t longest_ps = -1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        struct str name = trace_name(trace, stats[i].name);

        if (!is_callback_name(name))
            continue;

        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count; run++) {
            track_id track = trace->rows[runs[run].row].track;
            const slice_id *slices = trace_name_slices(trace, &runs[run]);

            if (trace->tracks[track].device >= 0 || trace->tracks[track].derived ||
                !selection->tracks[track])
                continue;
            for (uint32_t at = 0; slices != NULL && at < runs[run].count; at++) {
                struct slice slice = trace_slice(trace, slices[at]);

                add_interval(&all, (struct window){slice.start_ps, slice.start_ps + slice.dur_ps});
            }
            if (stats[i].total_ps > longest_ps) {
                longest_ps = stats[i].total_ps;
                longest = name;
            }
        }
    }

    struct place_sum sum = join_intervals(selection, &all);

    if (sum.count > 0) {
        work->any = true;
        op_placement_add_time(work, PLACE_CALLBACK, sum);
        op_placement_add_movable(work, longest, PLACE_CALLBACK, "it calls back into Python", sum);
    }
    free(all.items);
}
