/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own spans of each thread. */
#include <stdlib.h>

#include "analyse/device/annotation_names.h"
#include "analyse/ops/annotations_parts.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "trace/args/args.h"
#include "trace/names/by_name.h"

enum { ANCESTORS_MAX = 64 };

/* What tells the program's spans in this trace. */
enum rule { RULE_NVTX, RULE_CATEGORY, RULE_NAME };

struct finding_marks {
    const struct trace *trace;
    struct marks *marks;
    enum rule rule;
    name_id cat, user_annotation;
};

static bool has_nvtx(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device < 0 && trace->tracks[id].slice_count > 0 &&
            str_equal(trace_name(trace, trace->tracks[id].name), STR("NVTX")))
            return true;
    }
    return false;
}

static enum rule rule_of(struct finding_marks *work)
{
    name_id cpu_op;

    if (trace_find_name(work->trace, STR("cat"), &work->cat) &&
        trace_find_name(work->trace, STR("cpu_op"), &cpu_op)) {
        if (!trace_find_name(work->trace, STR("user_annotation"), &work->user_annotation))
            work->user_annotation = 0;
        return RULE_CATEGORY;
    }
    return has_nvtx(work->trace) ? RULE_NVTX : RULE_NAME;
}

static bool type_is_annotation(const struct finding_marks *work, event_id event)
{
    type_id type = trace_type(work->trace, event);

    if (type >= work->trace->type_count || work->user_annotation == 0)
        return false;
    for (uint32_t i = 0; i < work->trace->types[type].arg_count; i++) {
        const struct arg *arg = &work->trace->type_args[work->trace->types[type].first_arg + i];

        if (arg->key == work->cat && arg->bits == work->user_annotation)
            return true;
    }
    return false;
}

static bool is_lane(const struct trace *trace, track_id track)
{
    track_id parent = trace->tracks[track].parent;

    return parent != NO_TRACK && trace->tracks[parent].kind == TRACK_THREAD;
}

/* A thread's lanes are threads below it. */
static void put_groups(struct marks *marks)
{
    const struct trace *trace = marks->trace;

    marks->groups = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof *marks->groups);
    for (track_id i = 0; i < trace->track_count; i++)
        marks->groups[i] = NO_TRACK;
    for (track_id i = 0; i < trace->track_count; i++) {
        track_id top = i;

        while (marks->groups[top] == NO_TRACK && is_lane(trace, top))
            top = trace->tracks[top].parent;
        top = marks->groups[top] == NO_TRACK ? top : marks->groups[top];
        for (track_id at = i; marks->groups[at] == NO_TRACK; at = trace->tracks[at].parent) {
            marks->groups[at] = top;
            if (!is_lane(trace, at))
                break;
        }
    }
}

static bool run_fits(const struct finding_marks *work, const struct name_run *run)
{
    const struct trace *trace = work->trace;
    const struct track *track = &trace->tracks[trace->rows[run->row].track];

    if (track->device >= 0 || track->derived || run->count == 0)
        return false;
    if (work->rule == RULE_NVTX)
        return str_equal(trace_name(trace, track->name), STR("NVTX"));
    if (work->rule == RULE_CATEGORY) {
        const slice_id *slices = trace_name_slices(trace, run);

        return slices != NULL && type_is_annotation(work, trace_slice(trace, slices[0]).event);
    }
    return !is_runtime_thread(trace_name(trace, track->name));
}

/* An op, a call of a driver, a part of a compilation: none of the program's. */
static bool slice_fits(const struct finding_marks *work, slice_id id)
{
    struct slice slice = trace_slice(work->trace, id);

    if ((slice.flags & (SLICE_INSTANT | SLICE_DERIVED)) != 0)
        return false;
    if (work->rule != RULE_NAME)
        return true;
    if (slice.kind == KIND_COMPILE)
        return false;
    for (int up = 0; slice.parent != NO_SLICE && up < ANCESTORS_MAX; up++) {
        slice = trace_slice(work->trace, slice.parent);
        if (slice.kind == KIND_COMPILE)
            return false;
    }
    return true;
}

static void add_span(struct finding_marks *work, slice_id id)
{
    struct marks *marks = work->marks;
    struct slice slice = trace_slice(work->trace, id);

    if (!slice_fits(work, id))
        return;
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity == 0 ? 256 : 2 * marks->capacity;
        marks->spans = memory_resize(marks->spans, marks->capacity, sizeof *marks->spans);
    }
    marks->spans[marks->count++] = (struct span_mark){
        .name = slice.name,
        .slice = id,
        .group = marks->groups[work->trace->rows[slice.row].track],
        .parent = NO_SPAN,
        .start_ps = slice.start_ps,
        .end_ps = slice.start_ps + slice.dur_ps,
        .first_ps = INT64_MAX,
        .last_ps = INT64_MIN,
    };
}

/* Names of ops and kernels, which calls on the host bear too. */
static bool *names_of_work(const struct trace *trace, const struct attribution *of)
{
    bool *names = memory_zeroed((size_t)trace->name_count + 1, sizeof *names);
    for (uint32_t i = 0; of != NULL && i < of->kernel_count; i++)
        names[of->kernels[i].name] = true;
    for (uint32_t i = 0; of != NULL && i < of->op_count; i++)
        names[of->ops[i].name] = true;
    return names;
}

static void take_names(struct finding_marks *work, const struct attribution *of)
{
    const struct trace *trace = work->trace;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    bool *of_work = work->rule == RULE_NAME ? names_of_work(trace, of) : NULL;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        if (stats[i].count == 0 ||
            (work->rule == RULE_NAME &&
             (of_work[stats[i].name] || !is_annotation_name(trace_name(trace, stats[i].name)))))
            continue;
        for (uint32_t run = 0; run < run_count; run++) {
            const slice_id *slices =
                run_fits(work, &runs[run]) ? trace_name_slices(trace, &runs[run]) : NULL;

            for (uint32_t at = 0; slices != NULL && at < runs[run].count; at++)
                add_span(work, slices[at]);
        }
    }
    free(of_work);
}

static bool span_before(const struct span_mark *a, const struct span_mark *b)
{
    if (a->group != b->group)
        return a->group < b->group;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    return a->end_ps != b->end_ps ? a->end_ps > b->end_ps : a->name < b->name;
}

SORT_DEFINE(sort_spans, struct span_mark, span_before)

static void add_change(struct marks *marks, int64_t from_ps, uint32_t span)
{
    if (marks->change_count == marks->change_capacity) {
        marks->change_capacity = marks->change_capacity == 0 ? 512 : 2 * marks->change_capacity;
        marks->changes =
            memory_resize(marks->changes, marks->change_capacity, sizeof *marks->changes);
    }
    marks->changes[marks->change_count++] = (struct innermost){from_ps, span};
}

struct open_spans {
    uint32_t *items;
    uint32_t count;
};

/* Those that end by then, innermost first; what lies beneath and ended before goes with them. */
static void close_spans(struct marks *marks, struct open_spans *open, int64_t until_ps)
{
    while (open->count > 0 && marks->spans[open->items[open->count - 1]].end_ps <= until_ps) {
        int64_t end_ps = marks->spans[open->items[--open->count]].end_ps;

        while (open->count > 0 && marks->spans[open->items[open->count - 1]].end_ps <= end_ps)
            open->count--;
        add_change(marks, end_ps, open->count > 0 ? open->items[open->count - 1] : NO_SPAN);
    }
}

static void open_span(struct marks *marks, struct open_spans *open, uint32_t index)
{
    if (open->count > 0)
        marks->spans[index].parent = open->items[open->count - 1];
    open->items[open->count++] = index;
    add_change(marks, marks->spans[index].start_ps, index);
}

static void lay_out(struct marks *marks)
{
    struct open_spans open = {.items =
                                  memory_resize(NULL, (size_t)marks->count + 1, sizeof(uint32_t))};
    uint32_t at = 0;

    for (uint32_t group = 0; group < marks->group_count; group++) {
        marks->first_change[group] = marks->change_count;
        for (; at < marks->count && marks->spans[at].group == group; at++) {
            close_spans(marks, &open, marks->spans[at].start_ps);
            open_span(marks, &open, at);
        }
        close_spans(marks, &open, INT64_MAX);
        open.count = 0;
    }
    marks->first_change[marks->group_count] = marks->change_count;
    free(open.items);
}

void marks_find(const struct trace *trace, const struct attribution *of, struct marks *ret)
{
    struct finding_marks work = {.trace = trace, .marks = ret};

    *ret = (struct marks){.trace = trace, .group_count = trace->track_count};
    ret->first_change = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof(uint32_t));
    put_groups(ret);
    work.rule = rule_of(&work);
    take_names(&work, of);
    if (ret->count > 1)
        sort_spans(ret->spans, ret->count);
    lay_out(ret);
}

void marks_free(struct marks *marks)
{
    free(marks->spans);
    free(marks->changes);
    free(marks->first_change);
    free(marks->groups);
}

uint32_t marks_at(const struct marks *marks, uint32_t group, int64_t at_ps, uint32_t *ret_change)
{
    uint32_t low = BISECT(marks->first_change[group], marks->first_change[group + 1], i,
                          marks->changes[i].from_ps <= at_ps);

    if (low == marks->first_change[group])
        return NO_SPAN;
    *ret_change = low - 1;
    return marks->changes[low - 1].span;
}
