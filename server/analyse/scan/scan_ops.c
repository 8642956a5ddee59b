/* SPDX-License-Identifier: Apache-2.0 */
/* Attributed ops, block by block. A window leaves nearly all of them whole or out; those it cuts
 * are put aside, and their self times come from nesting what lies around them once more.
 *
 *   window          |--------------------|
 *   op a     |--------------|               cut: its children inside are b and c
 *   op b       |---|   |-| c                b is cut too, c is whole: its stored self time holds
 */
#include <stdlib.h>

#include "analyse/scan/nest.h"
#include "analyse/scan/scan.h"
#include "analyse/stats/map64.h"
#include "base/bisect.h"
#include "trace/ps.h"

enum { BLOCK_OPS = 2048 };

bool track_is_device_work(const struct track *track)
{
    if (track->derived || track->device < 0 || track->kind == TRACK_COUNTER)
        return false;
    return track->role == ROLE_OPS || (track->role == ROLE_NONE && track->kind == TRACK_STREAM);
}

/* Where a walk stands: entries come in slice order, row after row, each along time. */
struct track_cursor {
    const struct trace *trace;
    uint32_t near; /* see selection_inside_near */
    slice_id first, end;
    track_id track;
};

static track_id cursor_track(struct track_cursor *cursor, slice_id slice)
{
    if (slice < cursor->first || slice >= cursor->end) {
        const struct row *row = &cursor->trace->rows[trace_row_of(cursor->trace, slice)];

        cursor->first = row->first_slice;
        cursor->end = row->first_slice + row->count;
        cursor->track = row->track;
    }
    return cursor->track;
}

/* No op lasts longer: what a window holds began at most so long before it. */
static int64_t longest_op(const struct attribution *attribution)
{
    int64_t longest_ps = 0;

    for (uint32_t op = 0; op < attribution->op_count; op++) {
        if (attribution->totals[op].max_ps > longest_ps)
            longest_ps = attribution->totals[op].max_ps;
    }
    return longest_ps;
}

static void touch_window(const struct attribution *attribution, struct window window,
                         int64_t longest_ps, uint8_t *touched)
{
    int64_t from_ps, to_ps;

    if (__builtin_sub_overflow(window.from_ps, longest_ps, &from_ps))
        from_ps = INT64_MIN;
    if (__builtin_add_overflow(window.to_ps, 1,
                               &to_ps)) /* instants at its end are not told apart */
        to_ps = INT64_MAX;
    for (uint32_t i = 0; i < attribution->device_count; i++) {
        int32_t device = attribution->devices[i].device;
        uint32_t end = attribution_time_from(attribution, device, to_ps);

        for (uint32_t at = attribution_time_from(attribution, device, from_ps); at < end; at++) {
            uint32_t block = entry_in_time(attribution, at) / BLOCK_OPS;

            touched[block / 8] |= (uint8_t)(1u << block % 8);
        }
    }
}

/* Blocks with an op that may lie in the windows: the order in time is read, not the ops.
 * NULL where that would save little, or is not known. */
static uint8_t *touched_blocks(const struct selection *selection)
{
    enum { FEW = 4 };
    const struct attribution *attribution = selection->host->attribution;
    const struct trace *trace = selection->host->trace;
    int64_t start_ps = trace->start_ps, rest_ps = trace->end_ps - trace->start_ps;
    int64_t most_ps = rest_ps / FEW;

    if (!selection->cut_in_time || selection->owners != NULL || attribution->totals == NULL ||
        attribution->devices == NULL)
        return NULL;
    for (uint32_t i = 0; i < selection->window_count; i++) {
        struct window window = selection->windows[i];
        int64_t from_ps = window.from_ps > start_ps ? window.from_ps : start_ps;
        int64_t to_ps = window.to_ps < trace->end_ps ? window.to_ps : trace->end_ps;

        ps_add(&rest_ps, -(to_ps > from_ps ? to_ps - from_ps : 0));
    }
    if (rest_ps < most_ps)
        return NULL;

    uint8_t *touched = memory_zeroed(attribution->entry_count / BLOCK_OPS / 8 + 1, 1);
    int64_t longest_ps = longest_op(attribution);
    for (uint32_t i = 0; i < selection->window_count; i++)
        touch_window(attribution, selection->windows[i], longest_ps, touched);
    return touched;
}

static bool is_touched(const uint8_t *touched, uint32_t first, uint32_t count)
{
    uint32_t block = first / BLOCK_OPS, last = (first + count - 1) / BLOCK_OPS;

    return touched == NULL || (touched[block / 8] >> block % 8 & 1) != 0 ||
           (touched[last / 8] >> last % 8 & 1) != 0;
}

struct part {
    const struct selection *selection;
    unsigned columns; /* of each entry */
    scan_block *visit;
    void *data;
    const bool *wanted;     /* by op */
    const uint8_t *touched; /* a bit a block of BLOCK_OPS; NULL: any may be let through */
    const struct entry_range *ranges;
    uint32_t range_count;
    uint64_t begin, end; /* of the ranges' entries, one after the other */
    uint32_t *cuts;      /* entries that a window cuts, ascending */
    uint32_t cut_count, cut_capacity;
    struct entry_arrays *room;
};

static void keep_cut(struct part *part, uint32_t index)
{
    if (part->cut_count == part->cut_capacity) {
        part->cut_capacity = part->cut_capacity == 0 ? 64 : 2 * part->cut_capacity;
        part->cuts = memory_resize(part->cuts, part->cut_capacity, sizeof(*part->cuts));
    }
    part->cuts[part->cut_count++] = index;
}

/* As nearly all are where there is one window. */
static bool is_whole_in_first(const struct selection *selection, const struct attributed *entry)
{
    const struct window *window = selection->windows;

    return selection->window_count == 1 && entry->start_ps >= window->from_ps &&
           entry->start_ps < window->to_ps && entry->start_ps + entry->dur_ps <= window->to_ps;
}

/* What is inside of an op that the selection lets through, -1 else. */
static int64_t inside_of(const struct part *part, struct track_cursor *cursor,
                         const struct attributed *entry, uint32_t index)
{
    const struct selection *selection = part->selection;

    if (!part->wanted[entry->op] || !selection_has_device(selection, entry->device) ||
        (!selection->all_tracks && !selection->tracks[cursor_track(cursor, entry->slice)]))
        return -1;
    if (selection->owners != NULL)
        return selection_inside_entry(selection, entry->start_ps, entry->dur_ps, index);
    if (!selection->cut_in_time || is_whole_in_first(selection, entry))
        return entry->dur_ps;
    return selection_inside_near(selection, &cursor->near, entry->start_ps, entry->dur_ps);
}

static void walk_entries(struct part *part, struct track_cursor *cursor, uint32_t begin,
                         uint32_t end)
{
    const struct attribution *attribution = part->selection->host->attribution;
    const struct entry_arrays *entries = part->room;
    int64_t inside_ps[ENTRY_BLOCK];

    for (uint32_t first = begin, count; first < end; first += count) {
        count = ENTRY_BLOCK - first % ENTRY_BLOCK;
        count = end - first < count ? end - first : count;
        if (!is_touched(part->touched, first, count))
            continue;

        entries_in_block(attribution, part->columns, first / ENTRY_BLOCK, part->room);
        for (uint32_t i = 0; i < count; i++) {
            const struct attributed entry = entry_in(entries, first + i);

            inside_ps[i] = inside_of(part, cursor, &entry, first + i);
            if (inside_ps[i] >= 0 && inside_ps[i] != entry.dur_ps) {
                keep_cut(part, first + i);
                inside_ps[i] = -1;
            }
        }
        part->visit(part->data, &(struct op_block){entries, first, count, inside_ps,
                                                   entries->self_ps + first % ENTRY_BLOCK});
    }
}

static void walk_part(void *data, uint32_t index)
{
    struct part *part = &((struct part *)data)[index];
    struct track_cursor cursor = {.trace = part->selection->host->trace};
    uint64_t before = 0;

    part->room = memory_zeroed(1, sizeof *part->room); /* columns that are not read: 0 */

    for (uint32_t i = 0; i < part->range_count && before < part->end; i++) {
        const struct entry_range *range = &part->ranges[i];
        uint64_t count = range->end - range->first;
        uint64_t from = part->begin > before ? part->begin - before : 0;
        uint64_t to = part->end - before < count ? part->end - before : count;

        if (from < to)
            walk_entries(part, &cursor, range->first + (uint32_t)from, range->first + (uint32_t)to);
        before += count;
    }
    free(part->room);
}

/* Who is cut, and what of each is left when its children are taken out. */
struct cut_ops {
    const struct selection *selection;
    const uint32_t *cuts;
    uint32_t count;
    int64_t *inside_ps, *self_ps;
    struct map64 cut_of; /* entry -> index */
    struct map64 groups; /* who may nest: a device's track, or an ordinal of the host's threads */
    struct nest nest;
    int64_t *before_ps; /* by window: length of those in front of it */
};

/* How much of the windows lies before a moment: inside them it runs like time, outside it stands,
 * so lengths of parts are differences. */
static int64_t inside_before(const struct cut_ops *ops, int64_t at_ps)
{
    const struct selection *selection = ops->selection;
    /* the first window that ends behind it */
    uint32_t low = BISECT(0, selection->window_count, i, selection->windows[i].to_ps <= at_ps);

    if (low == selection->window_count || at_ps <= selection->windows[low].from_ps)
        return ops->before_ps[low];

    int64_t from_ps = selection->windows[low].from_ps;

    return ops->before_ps[low] + at_ps - (from_ps > -TIME_PS_MAX ? from_ps : -TIME_PS_MAX);
}

static void open_windows(struct cut_ops *ops)
{
    const struct selection *selection = ops->selection;

    ops->before_ps =
        memory_resize(NULL, (size_t)selection->window_count + 1, sizeof(*ops->before_ps));
    ops->before_ps[0] = 0;
    for (uint32_t i = 0; i < selection->window_count; i++) {
        const struct window *window = &selection->windows[i];
        int64_t from_ps = window->from_ps > -TIME_PS_MAX ? window->from_ps : -TIME_PS_MAX;
        int64_t to_ps = window->to_ps < TIME_PS_MAX ? window->to_ps : TIME_PS_MAX;

        ops->before_ps[i + 1] = ops->before_ps[i] + (to_ps > from_ps ? to_ps - from_ps : 0);
    }
}

static uint32_t group_of(struct cut_ops *ops, const struct attributed *entry)
{
    const struct trace *trace = ops->selection->host->trace;
    track_id track = trace->rows[trace_row_of(trace, entry->slice)].track;
    uint64_t key = track_is_device_work(&trace->tracks[track])
                       ? map64_pair(0, track)
                       : map64_pair(1, (uint32_t)entry->device);
    uint32_t *group = map64_at(&ops->groups, key, UINT32_MAX);

    if (*group == UINT32_MAX) {
        *group = ops->nest.group_count++;
        ops->nest.groups =
            memory_resize(ops->nest.groups, ops->nest.group_count, sizeof(*ops->nest.groups));
        ops->nest.groups[*group] = (struct nest_stack){0};
    }
    return *group;
}

/* Takes from each cut op what its children hold, over a stretch of one device's time. What begins
 * before the stretch and is open in it is not cut: it holds no one's time that is asked for. */
static void nest_stretch(struct cut_ops *ops, int32_t device, int64_t from_ps, int64_t to_ps)
{
    const struct attribution *attribution = ops->selection->host->attribution;

    for (uint32_t i = 0; i < ops->nest.group_count; i++)
        ops->nest.groups[i].count = 0;
    for (uint32_t i = attribution_time_from(attribution, device, from_ps);
         i < attribution->entry_count; i++) {
        uint32_t index = entry_in_time(attribution, i), parent, cut;
        const struct attributed *entry = ENTRY_AT(attribution, index);
        int64_t end_ps = entry->start_ps + entry->dur_ps, covered_ps;

        if (entry->device != device || entry->start_ps >= to_ps)
            return;
        if (selection_inside(ops->selection, entry->start_ps, entry->dur_ps) >= 0 &&
            nest_push(&ops->nest, group_of(ops, entry), index, end_ps,
                      inside_before(ops, entry->start_ps), inside_before(ops, end_ps), &parent,
                      &covered_ps) &&
            map64_get(&ops->cut_of, parent, &cut))
            ps_add(&ops->self_ps[cut], -covered_ps);
    }
}

static int by_device_start(const void *left, const void *right, void *data)
{
    const struct attribution *of = data;
    const struct attributed *a = ENTRY_AT(of, *(const uint32_t *)left);
    const struct attributed *b = ENTRY_AT(of, *(const uint32_t *)right);

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

/* Stretches of time that cut ops span, joined where they overlap. */
static void nest_cuts(struct cut_ops *ops)
{
    const struct attribution *of = ops->selection->host->attribution;
    uint32_t *order = memory_resize(NULL, ops->count, sizeof(*order));

    memcpy(order, ops->cuts, ops->count * sizeof(*order));
    qsort_r(order, ops->count, sizeof(*order), by_device_start, (void *)(uintptr_t)of);
    for (uint32_t i = 0, next; i < ops->count; i = next) {
        const struct attributed *first = ENTRY_AT(of, order[i]);
        int64_t to_ps = first->start_ps + first->dur_ps;

        for (next = i + 1; next < ops->count; next++) {
            const struct attributed *entry = ENTRY_AT(of, order[next]);

            if (entry->device != first->device || entry->start_ps > to_ps)
                break;
            if (entry->start_ps + entry->dur_ps > to_ps)
                to_ps = entry->start_ps + entry->dur_ps;
        }
        nest_stretch(ops, first->device, first->start_ps, to_ps);
    }
    free(order);
}

/* The cut ones come as blocks of one op. */
static void give_cuts(const struct selection *selection, const uint32_t *cuts, uint32_t count,
                      scan_block *visit, void *data)
{
    const struct attribution *of = selection->host->attribution;
    struct cut_ops ops = {.selection = selection, .cuts = cuts, .count = count};
    struct entry_arrays *room = memory_zeroed(1, sizeof *room);

    ops.inside_ps = memory_resize(NULL, count, sizeof(*ops.inside_ps));
    ops.self_ps = memory_resize(NULL, count, sizeof(*ops.self_ps));
    for (uint32_t i = 0; i < count; i++) {
        const struct attributed *entry = ENTRY_AT(of, cuts[i]);

        ops.inside_ps[i] =
            selection_inside_entry(selection, entry->start_ps, entry->dur_ps, cuts[i]);
        ops.self_ps[i] = ops.inside_ps[i];
        *map64_at(&ops.cut_of, cuts[i], 0) = i;
    }
    open_windows(&ops);
    nest_cuts(&ops);
    for (uint32_t i = 0; i < count; i++) {
        entries_lay(ENTRY_AT(of, cuts[i]), ENTRY_ALL, 1, cuts[i] % ENTRY_BLOCK, room);
        visit(data, &(struct op_block){room, cuts[i], 1, &ops.inside_ps[i], &ops.self_ps[i]});
    }
    free(room);
    nest_free(&ops.nest);
    map64_free(&ops.cut_of);
    map64_free(&ops.groups);
    free(ops.before_ps);
    free(ops.inside_ps);
    free(ops.self_ps);
}

/* Per op: does the selection let it through? */
static bool *wanted_ops(const struct selection *selection)
{
    const struct attribution *attribution = selection->host->attribution;
    bool *wanted = memory_resize(NULL, attribution->op_count, sizeof(*wanted));

    for (uint32_t i = 0; i < attribution->op_count; i++)
        wanted[i] = selection_has_op(selection, &attribution->ops[i]);
    return wanted;
}

uint32_t scan_op_parts(const struct selection *selection)
{
    const struct attribution *attribution = selection->host->attribution;

    return attribution == NULL ? 1 : split_count(attribution->entry_count);
}

/* All cut ops of the parts, ascending; how many. */
static uint32_t join_cuts(struct part *parts, uint32_t part_count, uint32_t **ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < part_count; i++)
        count += parts[i].cut_count;
    *ret = memory_resize(NULL, count, sizeof(**ret));
    count = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        if (parts[i].cut_count > 0)
            memcpy(*ret + count, parts[i].cuts, parts[i].cut_count * sizeof(**ret));
        count += parts[i].cut_count;
        free(parts[i].cuts);
    }
    return count;
}

static void scan_ranges(const struct selection *selection, const struct entry_range *ranges,
                        uint32_t range_count, const uint8_t *touched, unsigned columns,
                        scan_block *visit, void *const data[], uint32_t part_count)
{
    const bool in_time = selection->cut_in_time || selection->owners != NULL;
    struct part parts[SPLIT_PARTS_MAX];
    bool *wanted = wanted_ops(selection);
    uint64_t entry_count = 0;
    uint32_t *cuts;

    for (uint32_t i = 0; i < range_count; i++)
        entry_count += ranges[i].end - ranges[i].first;
    for (uint32_t i = 0; i < part_count; i++)
        parts[i] = (struct part){
            .selection = selection,
            .columns = columns | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE) |
                       ENTRY_BIT(ENTRY_DUR) | (in_time ? ENTRY_BIT(ENTRY_START) : 0) |
                       (selection->all_tracks ? 0 : ENTRY_BIT(ENTRY_SLICE)),
            .visit = visit,
            .data = data[i],
            .wanted = wanted,
            .touched = touched,
            .ranges = ranges,
            .range_count = range_count,
            .begin = split_begin(entry_count, i, part_count),
            .end = split_begin(entry_count, i + 1, part_count),
        };
    split_run(part_count, walk_part, parts);

    uint32_t count = join_cuts(parts, part_count, &cuts);

    if (count > 0)
        give_cuts(selection, cuts, count, visit, data[0]);
    free(cuts);
    free(wanted);
}

void scan_ops_in(const struct selection *selection, const struct entry_range *ranges,
                 uint32_t range_count, unsigned columns, scan_block *visit, void *const data[],
                 uint32_t part_count)
{
    scan_ranges(selection, ranges, range_count, NULL, columns, visit, data, part_count);
}

void scan_ops(const struct selection *selection, unsigned columns, scan_block *visit,
              void *const data[], uint32_t part_count)
{
    const struct attribution *attribution = selection->host->attribution;

    if (attribution == NULL || attribution->entry_count == 0)
        return;

    const struct entry_range all = {.end = attribution->entry_count};
    uint8_t *touched = touched_blocks(selection);

    scan_ranges(selection, &all, 1, touched, columns, visit, data, part_count);
    free(touched);
}

/* A device that tells its modules' executions is no GPU, but one whose ops are its own units. */
static bool has_modules(const struct trace *trace, int32_t device)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->role == ROLE_MODULES && !track->derived && track->device == device &&
            track->slice_count > 0)
            return true;
    }
    return false;
}

bool track_runs_kernels(const struct trace *trace, track_id id)
{
    const struct track *track = &trace->tracks[id];

    return track_is_device_work(track) && track->kind == TRACK_STREAM && !track->derived &&
           track->slice_count > 0 && !has_modules(trace, track->device);
}
