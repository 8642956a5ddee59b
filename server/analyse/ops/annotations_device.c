/* SPDX-License-Identifier: Apache-2.0 */
/* Which span launched what: by the call's time on its thread, else along the arrows that lead to
 * the thread which launched it. */
#include <stdlib.h>
#include <string.h>

#include "analyse/device/launched_from.h"
#include "analyse/ops/annotations_parts.h"
#include "analyse/scan/scan.h"
#include "trace/ps.h"

enum { JUMPS_MAX = 16, ASKED_OF_EXECUTION = 16 };

struct launched { /* right inside a span; then inside it or a span in it */
    int64_t self_ps;
    uint64_t count;
};

struct device_work {
    struct marks *marks;
    struct launched *launched; /* by span */
    const struct selection *selection;
    struct device_sum *by_name;
    struct device_sum *none;
    struct launch_reader *reader;
    uint32_t *of_execution; /* span */
    const struct row *row;  /* of the last call */
    uint32_t group;         /* of that row */
    uint32_t last_change;
};

static uint32_t group_of(struct device_work *work, slice_id slice)
{
    const struct trace *trace = work->marks->trace;

    if (work->row == NULL || slice < work->row->first_slice ||
        slice - work->row->first_slice >= work->row->count) {
        work->row = &trace->rows[trace_row_of(trace, slice)];
        work->group = work->marks->groups[work->row->track];
    }
    return work->group;
}

static uint32_t span_over(struct device_work *work, slice_id slice)
{
    for (int jump = 0; slice != NO_SLICE && jump < JUMPS_MAX; jump++) {
        struct launch_call call;

        if (!launch_read(work->reader, slice, &call))
            return NO_SPAN;

        uint32_t span =
            marks_at(work->marks, group_of(work, slice), call.start_ps, &work->last_change);

        if (span != NO_SPAN)
            return span;
        slice = launched_from(work->marks->trace, work->reader, slice);
    }
    return NO_SPAN;
}

/* Those whose launch is known, which alone tells; false: there are others. */
static bool follow_launches(struct device_work *work)
{
    const struct attribution *of = work->selection->host->attribution;
    bool all = true;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        slice_id launch = of->executions[i].launch;

        work->of_execution[i] = launch == NO_SLICE ? NO_SPAN : span_over(work, launch);
        all &= launch != NO_SLICE;
    }
    return all;
}

/* The first ops of an execution ran where it was launched from, those behind them anywhere. */
static void follow_executions(struct device_work *work)
{
    const struct attribution *of = work->selection->host->attribution;

    if (follow_launches(work))
        return;

    uint8_t *asked = memory_zeroed((size_t)of->execution_count + 1, 1);
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_AT(of, entry_in_time(of, i));
        uint32_t execution = entry->execution;

        if (execution == NO_EXECUTION || of->executions[execution].launch != NO_SLICE ||
            work->of_execution[execution] != NO_SPAN || asked[execution] == ASKED_OF_EXECUTION)
            continue;
        asked[execution]++;
        work->of_execution[execution] = span_over(work, entry->slice);
    }
    free(asked);
}

/* Calls come in order of time, so the next is mostly inside the same change of spans. */
static uint32_t span_at(struct device_work *work, uint32_t group, int64_t at_ps)
{
    const struct marks *marks = work->marks;
    uint32_t last = work->last_change;

    if (last >= marks->first_change[group] && last < marks->first_change[group + 1] &&
        marks->changes[last].from_ps <= at_ps &&
        (last + 1 == marks->first_change[group + 1] || marks->changes[last + 1].from_ps > at_ps))
        return marks->changes[last].span;
    return marks_at(marks, group, at_ps, &work->last_change);
}

static uint32_t span_of(struct device_work *work, const struct attributed *entry)
{
    struct launch_call call;

    if (entry->launch != NO_SLICE && launch_read(work->reader, entry->launch, &call)) {
        uint32_t span = span_at(work, group_of(work, entry->launch), call.start_ps);

        if (span != NO_SPAN)
            return span;
    }
    return entry->execution == NO_EXECUTION ? NO_SPAN : work->of_execution[entry->execution];
}

static void add_work(struct device_work *work, uint32_t span, const struct attributed *entry,
                     int64_t self_ps)
{
    int64_t end_ps = entry->start_ps + entry->dur_ps;

    if (span == NO_SPAN) {
        ps_add(&work->none->device_self_ps, self_ps);
        ps_add(&work->none->device_ps, self_ps);
        work->none->launch_count++;
        return;
    }

    struct span_mark *at = &work->marks->spans[span];

    at->first_ps = entry->start_ps < at->first_ps ? entry->start_ps : at->first_ps;
    at->last_ps = end_ps > at->last_ps ? end_ps : at->last_ps;
    ps_add(&work->launched[span].self_ps, self_ps);
    work->launched[span].count++;
    ps_add(&work->by_name[at->name].device_self_ps, self_ps);
}

/* A span comes behind the one that it is in. */
static void add_to_parents(struct device_work *work)
{
    struct span_mark *spans = work->marks->spans;

    for (uint32_t i = work->marks->count; i-- > 0;) {
        if (spans[i].parent == NO_SPAN)
            continue;

        struct span_mark *parent = &spans[spans[i].parent];
        struct launched *all = &work->launched[spans[i].parent];

        parent->first_ps =
            spans[i].first_ps < parent->first_ps ? spans[i].first_ps : parent->first_ps;
        parent->last_ps = spans[i].last_ps > parent->last_ps ? spans[i].last_ps : parent->last_ps;
        ps_add(&all->self_ps, work->launched[i].self_ps);
        all->count += work->launched[i].count;
    }
}

/* What a span of the same name around it has already is not counted again: of each name only the
 * outermost. Those around the span at hand are the chain of its parents. */
static void add_to_names(struct device_work *work)
{
    const struct marks *marks = work->marks;
    uint32_t *around = memory_zeroed((size_t)marks->trace->name_count + 1, sizeof *around);
    uint32_t last = NO_SPAN;
    for (uint32_t i = 0; i < marks->count; i++) {
        const struct span_mark *span = &marks->spans[i];
        struct device_sum *sum = &work->by_name[span->name];

        for (; last != span->parent; last = marks->spans[last].parent)
            around[marks->spans[last].name]--;
        if (around[span->name]++ == 0) {
            ps_add(&sum->device_ps, work->launched[i].self_ps);
            sum->launch_count += work->launched[i].count;
        }
        last = i;
    }
    free(around);
}

static void add_block(void *data, const struct op_block *block)
{
    struct device_work *work = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] >= 0)
            add_work(work, span_of(work, entry), entry, block->self_ps[i]);
    }
}

/* Where the program marked nothing, no span launched anything. */
static void add_rest(void *data, const struct op_block *block)
{
    struct device_work *work = data;

    for (uint32_t i = 0; i < block->count; i++) {
        if (block->inside_ps[i] >= 0)
            add_work(work, NO_SPAN, BLOCK_ENTRY(block, i), block->self_ps[i]);
    }
}

void marks_add_device(struct marks *marks, const struct selection *selection,
                      struct device_sum *by_name, struct device_sum *ret_none)
{
    const struct attribution *of = selection->host->attribution;
    struct device_work work = {
        .marks = marks, .selection = selection, .by_name = by_name, .none = ret_none};
    void *data[1] = {&work};

    if (of == NULL || of->entry_count == 0)
        return;
    if (marks->count == 0) {
        scan_ops(selection, ENTRY_BIT(ENTRY_COVERED), add_rest, data, 1);
        return;
    }
    work.reader = launch_reader_create(marks->trace);
    work.of_execution = memory_resize(NULL, (size_t)of->execution_count + 1, sizeof(uint32_t));
    work.launched = memory_zeroed(marks->count, sizeof *work.launched);
    follow_executions(&work);
    scan_ops(selection,
             ENTRY_BIT(ENTRY_EXECUTION) | ENTRY_BIT(ENTRY_LAUNCH) | ENTRY_BIT(ENTRY_START) |
                 ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED),
             add_block, data, 1);
    add_to_parents(&work);
    add_to_names(&work);
    for (uint32_t i = 0; i < marks->count; i++) {
        marks->spans[i].device_ps = work.launched[i].self_ps;
        marks->spans[i].launch_count = work.launched[i].count;
    }
    free(work.launched);
    free(work.of_execution);
    launch_reader_free(work.reader);
}

/* By span: is it, or one around it, of that name? */
static bool *spans_inside(const struct marks *marks, name_id name)
{
    bool *inside = memory_resize(NULL, marks->count, sizeof *inside);

    for (uint32_t i = 0; i < marks->count; i++) {
        const struct span_mark *span = &marks->spans[i];

        inside[i] = span->name == name || (span->parent != NO_SPAN && inside[span->parent]);
    }
    return inside;
}

uint32_t *marks_launched_by(struct marks *marks, const struct selection *selection)
{
    const struct attribution *of = selection->host->attribution;
    struct device_work work = {.marks = marks, .selection = selection};
    uint32_t *ret = memory_resize(NULL, (size_t)of->entry_count + 1, sizeof *ret);
    struct entry_reader reader;

    if (marks->count == 0) {
        for (uint32_t i = 0; i < of->entry_count; i++)
            ret[i] = NO_SPAN;
        return ret;
    }
    work.reader = launch_reader_create(marks->trace);
    work.of_execution = memory_resize(NULL, (size_t)of->execution_count + 1, sizeof(uint32_t));
    follow_executions(&work);
    entry_reader_open(&reader, of, ENTRY_ALL);
    for (uint32_t i = 0; i < of->entry_count; i++)
        ret[i] = span_of(&work, ENTRY_READ(&reader, i));
    free(work.of_execution);
    launch_reader_free(work.reader);
    return ret;
}

void marks_launched_inside(struct marks *marks, const struct selection *selection, struct str name,
                           uint8_t *bits)
{
    const struct attribution *of = selection->host->attribution;
    name_id id;

    if (!trace_find_name(marks->trace, name, &id) || marks->count == 0)
        return;

    uint32_t *launched_by = marks_launched_by(marks, selection);
    bool *inside = spans_inside(marks, id);

    for (uint32_t i = 0; i < of->entry_count; i++) {
        if (launched_by[i] != NO_SPAN && inside[launched_by[i]])
            bits[i / 8] |= (uint8_t)(1u << i % 8);
    }
    free(inside);
    free(launched_by);
}
