/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one side of a comparison: its steps or captures, and each op's time in them. */
#include "analyse/compare/diff_parts.h"

#include <stdlib.h>

#include "analyse/scan/scan.h"
#include "analyse/steps/steps_doubt.h"
#include "base/bisect.h"
#include "trace/ps.h"

enum { SERIES_MAX = 1 << 20 };

struct gather { /* what one part of a walk adds up */
    const struct host_trace *host;
    const struct host_devices *devices;
    const uint32_t *item_of;
    const struct window *windows; /* of the host's steps, by start */
    const uint32_t *step_of;      /* and which step each is */
    uint32_t window_count, step_count;
    const uint32_t *owners;     /* by entry; NULL: windows tell */
    const uint32_t *of_ordinal; /* and which step each is */
    uint32_t near;    /* the window of the last entry: the next one's is mostly the same */
    int64_t *self_ps; /* by op */
    uint64_t *counts;
    int64_t *series; /* by item and step; NULL */
    int64_t *events; /* likewise */
};

struct walk { /* of one host */
    struct gather parts[SPLIT_PARTS_MAX];
    uint32_t part_count;
};

static bool is_counted(const struct host_devices *devices, int32_t device)
{
    uint32_t low = BISECT(0, devices->count, i, devices->devices[i] < device);

    return low < devices->count && devices->devices[low] == device && devices->counted[low];
}

static bool is_window_at(const struct gather *gather, uint32_t at, int64_t at_ps)
{
    return at < gather->window_count && gather->windows[at].from_ps <= at_ps &&
           (at + 1 == gather->window_count || gather->windows[at + 1].from_ps > at_ps);
}

/* The last window that begins at or before a moment, else the first. */
static uint32_t window_at(const struct gather *gather, int64_t at_ps)
{
    if (is_window_at(gather, gather->near, at_ps))
        return gather->near;
    if (is_window_at(gather, gather->near + 1, at_ps))
        return gather->near + 1;
    return BISECT(1, gather->window_count, i, gather->windows[i].from_ps <= at_ps) - 1;
}

static uint32_t step_of_entry(struct gather *gather, const struct attributed *entry, uint32_t index)
{
    if (gather->owners != NULL && gather->owners[index] != NO_OWNER)
        return gather->of_ordinal[gather->owners[index]];
    gather->near = window_at(gather, entry->start_ps);
    return gather->step_of[gather->near];
}

static void add_block(void *data, const struct op_block *block)
{
    struct gather *gather = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] < 0 || !is_counted(gather->devices, entry->device))
            continue;
        ps_add(&gather->self_ps[entry->op], block->self_ps[i]);
        gather->counts[entry->op]++;
        if (gather->series == NULL)
            continue;

        uint32_t step = step_of_entry(gather, entry, block->first + i);

        if (step == NO_OWNER)
            continue;

        size_t at = (size_t)gather->item_of[entry->op] * gather->step_count + step;

        gather->series[at] += block->self_ps[i];
        gather->events[at]++;
    }
}

/* Steps may have been left out since owners were told. */
static const uint32_t *by_ordinal(const struct steps *steps, struct arena *arena)
{
    uint32_t *ret = arena_array(arena, uint32_t, (size_t)steps->ordinal_count + 1);

    memset(ret, 0xFF, ((size_t)steps->ordinal_count + 1) * sizeof(*ret));
    for (uint32_t i = 0; i < steps->count; i++)
        ret[steps->items[i].ordinal] = i;
    return ret;
}

/* The windows of a host's steps, and which steps they are. */
static void put_windows(const struct steps *steps, uint32_t host_index,
                        const struct host_trace *host, struct arena *arena, struct gather *ret)
{
    struct window *windows = arena_array(arena, struct window, steps->count);
    uint32_t *step_of = arena_array(arena, uint32_t, steps->count);

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != host_index)
            continue;
        windows[ret->window_count].from_ps = step->start_ps - host->offset_ps;
        windows[ret->window_count].to_ps = step->start_ps - host->offset_ps + step->dur_ps;
        step_of[ret->window_count++] = i;
    }
    ret->windows = windows;
    ret->step_of = step_of;
    if (steps->owners != NULL) {
        ret->owners = steps->owners[host_index];
        ret->of_ordinal = by_ordinal(steps, arena);
    }
}

static void fork_part(struct walk *walk, uint32_t part, const struct gather *like,
                      size_t series_count, struct arena *arena)
{
    uint32_t op_count = like->host->attribution->op_count;

    walk->parts[part] = *like;
    walk->parts[part].self_ps = arena_array(arena, int64_t, op_count);
    walk->parts[part].counts = arena_array(arena, uint64_t, op_count);
    if (series_count > 0) {
        walk->parts[part].series = arena_array(arena, int64_t, series_count);
        walk->parts[part].events = arena_array(arena, int64_t, series_count);
    }
}

/* A host's devices as one. */
static void join_parts(const struct walk *walk, size_t series_count, struct measured *ret)
{
    const struct gather *first = &walk->parts[0];
    int64_t lanes = first->devices->counted_count > 0 ? first->devices->counted_count : 1;
    uint32_t op_count = first->host->attribution->op_count;

    for (uint32_t op = 0; op < op_count; op++) {
        int64_t self_ps = 0;
        uint64_t count = 0;

        for (uint32_t part = 0; part < walk->part_count; part++) {
            ps_add(&self_ps, walk->parts[part].self_ps[op]);
            count += walk->parts[part].counts[op];
        }
        if (first->item_of[op] == UINT32_MAX)
            continue;
        ps_add(&ret->sums[first->item_of[op]].self_ps, self_ps / lanes);
        ret->sums[first->item_of[op]].count += (double)count / (double)lanes;
    }
    for (uint32_t part = 0; part < walk->part_count; part++) {
        for (size_t i = 0; i < series_count; i++) {
            ret->series[i] += walk->parts[part].series[i] / lanes;
            ret->events[i] += walk->parts[part].events[i];
        }
    }
}

/* What the attribution holds of each op, where that is all that is asked. */
static bool sum_stored(const struct selection *selection, struct walk *walk, bool with_series)
{
    const struct attribution *attribution = selection->host->attribution;
    const struct gather *gather = &walk->parts[0];

    if (with_series || attribution->totals == NULL || !selection_is_whole(selection) ||
        gather->devices->counted_count < gather->devices->count || gather->devices->dropped > 0)
        return false;
    for (uint32_t op = 0; op < attribution->op_count; op++) {
        gather->self_ps[op] = attribution->totals[op].self_ps;
        gather->counts[op] = attribution->totals[op].event_count;
    }
    return true;
}

static void measure_host(const struct selection *selection, const struct steps *steps,
                         struct arena *arena, struct measured *ret)
{
    struct host_devices devices = host_devices_among(
        selection->host, steps->works == NULL ? NULL : steps->works[selection->index], arena);
    size_t series_count = ret->series == NULL ? 0 : (size_t)ret->ops.count * ret->step_count;
    struct walk walk = {.part_count = scan_op_parts(selection)};
    struct gather like = {.host = selection->host,
                          .devices = &devices,
                          .item_of = ret->ops.item_of[selection->index],
                          .step_count = ret->step_count};
    void *data[SPLIT_PARTS_MAX];

    put_windows(steps, selection->index, selection->host, arena, &like);
    if (like.window_count == 0)
        return;

    struct arena *room = arena_create(); /* of the parts: a run may have many hosts */

    for (uint32_t part = 0; part < walk.part_count; part++) {
        fork_part(&walk, part, &like, series_count, room);
        data[part] = &walk.parts[part];
    }
    if (!sum_stored(selection, &walk, series_count > 0))
        scan_ops(selection,
                 ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_START) |
                     ENTRY_BIT(ENTRY_COVERED),
                 add_block, data, walk.part_count);
    join_parts(&walk, series_count, ret);
    arena_destroy(room);
}

/* Numbers as ranges: steps come by start, mostly one number after another. */
static void ask_for(const struct steps *steps, struct arena *arena, struct restriction *ret)
{
    int64_t *ranges = arena_array(arena, int64_t, 2 * (size_t)steps->count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        int64_t number = steps->items[i].number;
        int64_t last = count > 0 ? ranges[2 * count - 1] : number;

        if (count > 0 && (number == last || (last < INT64_MAX && number == last + 1))) {
            ranges[2 * count - 1] = number;
            continue;
        }
        ranges[2 * count] = ranges[2 * count + 1] = number;
        count++;
    }
    ret->steps = ranges;
    ret->step_range_count = count;
}

static void sum_steps(const struct steps *steps, struct arena *arena, struct measured *ret)
{
    int64_t total_ps = 0, kinds_ps[KIND_COUNT + 1] = {0}, doing_ps[DOING_COUNT] = {0};

    ret->step_count = steps->count;
    ret->durs_ps = arena_array(arena, int64_t, steps->count);
    ret->numbers = arena_array(arena, int64_t, steps->count);
    for (uint32_t i = 0; i < steps->count; i++) {
        ret->numbers[i] = steps->items[i].number;
        ret->durs_ps[i] = steps->items[i].dur_ps;
        ps_add(&total_ps, steps->items[i].dur_ps);
        for (int kind = 0; kind <= KIND_COUNT; kind++)
            ps_add(&kinds_ps[kind], steps->items[i].time.kinds_ps[kind]);
        for (int doing = 0; doing < DOING_COUNT; doing++)
            ps_add(&doing_ps[doing], steps->items[i].time.doing_ps[doing]);
    }
    ret->told.mean_ps = total_ps / steps->count;
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        ret->told.kinds_ps[kind] = kinds_ps[kind] / steps->count;
    for (int doing = 0; doing < DOING_COUNT; doing++)
        ret->told.doing_ps[doing] = doing_ps[doing] / steps->count;
}

/* Without those that warm up or are cut off, unless they were asked for or are all there is. */
static void leave_out_warmup(const struct diff_side *side, struct steps *steps,
                             struct diff_measured *told)
{
    uint32_t kept = 0;

    if (side->restriction->step_range_count > 0 ||
        steps->warmup_count + steps->cut_count >= steps->count)
        return;
    for (uint32_t i = 0; i < steps->count; i++) {
        if (step_counts(steps, &steps->items[i]))
            steps->items[kept++] = steps->items[i];
        else if (steps->items[i].warmup)
            told->warmup_count++;
        else
            told->cut_count++;
    }
    steps->count = kept;
    steps->warmup_count = steps->cut_count = 0;
}

/* Each host's capture as one step. */
static void take_captures(const struct diff_side *side, struct arena *arena, struct steps *ret)
{
    const struct restriction *asked = side->restriction;

    *ret = (struct steps){.items = arena_array(arena, struct step, side->run->host_count)};
    for (uint32_t i = 0; i < side->run->host_count; i++) {
        const struct host_trace *host = &side->run->hosts[i];
        int64_t start_ps = host->trace->start_ps + host->offset_ps;
        int64_t end_ps = host->trace->end_ps + host->offset_ps;

        if (asked->has_window && asked->start_ps > start_ps)
            start_ps = asked->start_ps;
        if (asked->has_window && asked->end_ps < end_ps)
            end_ps = asked->end_ps;
        if (end_ps <= start_ps)
            continue;
        ret->items[ret->count++] = (struct step){.host = i,
                                                 .start_ps = start_ps,
                                                 .dur_ps = end_ps - start_ps,
                                                 .time = breakdown_of(host, start_ps, end_ps)};
    }
}

/* Nothing is kept of steps that were doubted. */
static bool steps_are_kept(const struct diff_side *side, struct arena *arena)
{
    struct bytes bytes;

    return side->keeper != NULL && side->keeper->get(side->keeper->data, true, arena, &bytes);
}

enum status diff_has_steps(const struct diff_side *side, struct arena *arena, bool *ret,
                           struct str *ret_why, struct error *err)
{
    struct steps steps;

    TRY(steps_find(side->run, side->restriction, arena, &steps, err));
    *ret = steps.count > 0;
    *ret_why = STR("");
    if (!*ret || !steps_may_be_doubted(side->restriction) || steps_are_kept(side, arena))
        return OK;
    steps_breakdown(side->run, &steps);
    *ret_why = steps_doubt(side->run, &steps, arena);
    *ret = ret_why->count == 0;
    return OK;
}

static enum status take_steps(const struct diff_side *side, bool by_steps, unsigned wanted,
                              struct arena *arena, struct steps *ret, struct measured *measured,
                              struct error *err)
{
    if (!by_steps) {
        take_captures(side, arena, ret);
        measured->told.basis = STR("the capture");
        return ret->count > 0 ? OK
                              : fail(err, ERR_NOT_FOUND, "nothing of run \"%.*s\" is in the window",
                                     STR_ARG(side->run->name));
    }
    TRY(steps_find(side->run, side->restriction, arena, ret, err));
    leave_out_warmup(side, ret, &measured->told);
    if ((wanted & DIFF_TIME) != 0)
        steps_breakdown(side->run, ret);
    measured->told.step_count = ret->count;
    measured->told.basis = ret->rule_text;
    return OK;
}

static enum status measure_ops(const struct diff_side *side, const struct steps *steps,
                               struct arena *arena, struct measured *ret, struct error *err)
{
    struct restriction restriction = *side->restriction;
    struct selection *selections;
    uint32_t count;

    if (ret->by_steps)
        ask_for(steps, arena, &restriction);
    ret->sums = arena_array(arena, struct diff_sums, ret->ops.count);
    if (ret->by_steps && (uint64_t)ret->ops.count * ret->step_count <= SERIES_MAX) {
        ret->series = arena_array(arena, int64_t, (size_t)ret->ops.count * ret->step_count);
        ret->events = arena_array(arena, int64_t, (size_t)ret->ops.count * ret->step_count);
    }
    TRY(restrict_run(side->run, &restriction, arena, &selections, &count, err));
    for (uint32_t i = 0; i < count; i++) {
        if (selections[i].host->attribution != NULL)
            measure_host(&selections[i], steps, arena, ret);
    }
    return OK;
}

static bool is_kept(const struct diff_side *side, struct arena *arena, struct measured *ret)
{
    const struct measured empty = *ret;
    struct bytes bytes;

    if (side->keeper->get(side->keeper->data, ret->by_steps, arena, &bytes) &&
        diff_unpack(bytes, arena, ret))
        return true;
    *ret = empty;
    return false;
}

static void keep(const struct diff_side *side, const struct measured *measured)
{
    struct text text = {0};

    diff_pack(measured, &text);
    side->keeper->put(side->keeper->data, measured->by_steps,
                      (struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
    text_free(&text);
}

static enum status measure(const struct diff_side *side, bool by_steps, unsigned wanted,
                           struct arena *arena, struct measured *ret, struct error *err)
{
    struct steps steps;

    TRY(take_steps(side, by_steps, wanted, arena, &steps, ret, err));
    sum_steps(&steps, arena, ret);
    return (wanted & DIFF_OPS) != 0 ? measure_ops(side, &steps, arena, ret, err) : OK;
}

enum status diff_measure(const struct diff_side *side, bool by_steps, unsigned wanted,
                         struct arena *arena, struct measured *ret, struct error *err)
{
    bool keeps = side->keeper != NULL && (wanted & DIFF_OPS) != 0;

    *ret = (struct measured){.by_steps = by_steps};
    if ((wanted & DIFF_OPS) != 0)
        match_run(side->run, arena, &ret->ops);
    if (keeps && is_kept(side, arena, ret))
        return OK;
    TRY(measure(side, by_steps, wanted, arena, ret, err));
    if (keeps && wanted == DIFF_ALL)
        keep(side, ret);
    return OK;
}
