/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of stacks as lines of events: a call lasts from the first sample that found it to the
 * first that did not.
 *
 *   samples   10 main/step   20 main/step/matmul   30 main
 *   line      [main                                     )    "main thread (466): Python time"
 *              [step                          )
 *                           [matmul           )
 *
 * A sample stands until the next one of its thread, unless more lies between than twice what either
 * counts: that was not recorded. Samples without a time or a thread have no place here.
 */
#include <stdlib.h>

#include "export/xspace_out.h"

enum { DEPTH_MAX = 1024, EVENTS_MAX = 1 << 16, PS_PER_NS = 1000 };
/* Ids of these lines: threads and tracks have lower ones. */
static const int64_t SAMPLE_LINE_IDS = INT64_C(1) << 50;

struct call {
    int64_t start_ps, end_ps;
    name_id name, file;
    uint32_t line, depth;
};

struct sampled { /* a line on its way */
    struct plane_out *plane;
    int64_t base_ps;
    uint64_t put;
    struct call open[DEPTH_MAX];
    uint32_t depth;
    struct call *ended; /* EVENTS_MAX of them, in the order of their ends */
    uint32_t ended_count;
};

struct order_by {
    const struct trace *trace;
};

/* The first type of which it has any: of the one that took it. */
static uint32_t type_of(const struct trace *trace, uint32_t sample)
{
    const int64_t *values = trace->sample_values + (uint64_t)sample * trace->sample_type_count;
    uint32_t type = 0;

    while (type + 1 < trace->sample_type_count && values[type] == 0)
        type++;
    return values[type] == 0 ? 0 : type;
}

static int in_order(const void *a, const void *b, void *data)
{
    const struct trace *trace = ((const struct order_by *)data)->trace;
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct sample *one = &trace->samples[left], *other = &trace->samples[right];
    uint32_t types[2] = {type_of(trace, left), type_of(trace, right)};

    if (one->track != other->track)
        return one->track < other->track ? -1 : 1;
    if (types[0] != types[1])
        return types[0] < types[1] ? -1 : 1;
    if (one->at_ps != other->at_ps)
        return one->at_ps < other->at_ps ? -1 : 1;
    return left < right ? -1 : left > right;
}

void samples_sort(struct xspace_out *space)
{
    const struct trace *trace = space->trace;
    struct order_by by = {.trace = trace};

    space->samples = memory_resize(NULL, (size_t)trace->stack_sample_count + 1, sizeof(uint32_t));
    for (uint32_t index = 0; index < trace->stack_sample_count; index++) {
        const struct sample *sample = &trace->samples[index];

        if (sample->track < trace->track_count && sample->at_ps != SAMPLE_NO_TIME &&
            sample->stack != NO_STACK && space_is_inside(space, sample->at_ps))
            space->samples[space->sample_count++] = index;
    }
    qsort_r(space->samples, space->sample_count, sizeof *space->samples, in_order, &by);
}

static int by_start(const void *a, const void *b)
{
    const struct call *left = a, *right = b;

    if (left->start_ps != right->start_ps)
        return left->start_ps < right->start_ps ? -1 : 1;
    return left->depth < right->depth ? -1 : left->depth > right->depth;
}

static void put_call(struct sampled *line, const struct call *call)
{
    struct plane_out *plane = line->plane;
    struct text *event = &plane->event;

    pb_put_number(event, XEVENT_ID, names_event_id(plane, call->name, 0));
    pb_put_number(event, XEVENT_OFFSET_PS,
                  (uint64_t)space_time(plane->space, call->start_ps) - (uint64_t)line->base_ps);
    pb_put_number(event, XEVENT_DURATION_PS, (uint64_t)(call->end_ps - call->start_ps));
    if (call->file != 0)
        stat_put_name(plane, event, XEVENT_STATS, WORD_FILE, call->file);
    if (call->line != 0)
        stat_put_number(plane, event, XEVENT_STATS, WORD_LINE, call->line);
    pb_put_message(&plane->events, XLINE_EVENTS, event);
}

static enum status put_ended(struct sampled *line, struct error *err)
{
    qsort(line->ended, line->ended_count, sizeof *line->ended, by_start);
    for (uint32_t index = 0; index < line->ended_count; index++) {
        put_call(line, &line->ended[index]);
        TRY(plane_look_around(line->plane, line->put++, err));
    }
    line->ended_count = 0;
    return OK;
}

/* What is deeper ends there. */
static enum status end_calls(struct sampled *line, uint32_t depth, int64_t end_ps,
                             struct error *err)
{
    while (line->depth > depth) {
        struct call *call = &line->open[--line->depth];

        call->end_ps = end_ps;
        line->ended[line->ended_count++] = *call;
        if (line->ended_count == EVENTS_MAX)
            TRY(put_ended(line, err));
    }
    return OK;
}

/* Outermost first; how many. */
static uint32_t frames_of(const struct trace *trace, stack_id stack, stack_id ret[DEPTH_MAX])
{
    uint32_t count = 0;

    for (; stack != NO_STACK && count < DEPTH_MAX; stack = trace->stacks[stack].parent)
        ret[count++] = stack;
    for (uint32_t index = 0; index < count / 2; index++) {
        stack_id other = ret[count - 1 - index];

        ret[count - 1 - index] = ret[index];
        ret[index] = other;
    }
    return count;
}

static enum status take_sample(struct sampled *line, const struct sample *sample, struct error *err)
{
    const struct trace *trace = line->plane->space->trace;
    stack_id frames[DEPTH_MAX];
    uint32_t count = frames_of(trace, sample->stack, frames), same = 0;

    while (same < count && same < line->depth) {
        const struct frame *frame = &trace->stacks[frames[same]].frame;
        const struct call *call = &line->open[same];

        if (call->file != frame->file ||
            call->name != (frame->function != 0 ? frame->function : frame->module))
            break;
        same++;
    }
    TRY(end_calls(line, same, sample->at_ps, err));
    for (; line->depth < count; line->depth++) {
        const struct frame *frame = &trace->stacks[frames[line->depth]].frame;

        line->open[line->depth] =
            (struct call){.start_ps = sample->at_ps,
                          .name = frame->function != 0 ? frame->function : frame->module,
                          .file = frame->file,
                          .line = frame->line,
                          .depth = line->depth};
    }
    return OK;
}

/* What it counts, as a time; INT64_MAX where its type is none. */
static int64_t span_ps(const struct trace *trace, uint32_t index, uint32_t type)
{
    int64_t value = trace->sample_values[(uint64_t)index * trace->sample_type_count + type], ps;

    if (!str_equal(trace_name(trace, trace->sample_types[type].unit), STR("nanoseconds")) ||
        __builtin_mul_overflow(value, 2 * PS_PER_NS, &ps))
        return INT64_MAX;
    return ps / 2;
}

/* Until when a sample stands: the next one's time, unless neither covers half of what is
 * between. */
static int64_t end_of(const struct trace *trace, const uint32_t *samples, uint32_t left,
                      uint32_t type)
{
    int64_t at_ps = trace->samples[samples[0]].at_ps, span = span_ps(trace, samples[0], type);
    int64_t next_ps = left > 1 ? trace->samples[samples[1]].at_ps : INT64_MAX, gap_ps, end_ps;
    int64_t next_span = left > 1 ? span_ps(trace, samples[1], type) : 0;

    if (left > 1 && !__builtin_sub_overflow(next_ps, at_ps, &gap_ps) &&
        gap_ps / 2 <= (next_span > span ? next_span : span))
        return next_ps;
    if (span == INT64_MAX || __builtin_add_overflow(at_ps, span, &end_ps))
        return at_ps;
    return end_ps < next_ps ? end_ps : next_ps;
}

static enum status take_samples(struct sampled *line, const uint32_t *samples, uint32_t count,
                                uint32_t type, struct error *err)
{
    const struct trace *trace = line->plane->space->trace;

    for (uint32_t index = 0; index < count; index++) {
        int64_t end_ps = end_of(trace, samples + index, count - index, type);

        TRY(take_sample(line, &trace->samples[samples[index]], err));
        if (index + 1 == count || end_ps < trace->samples[samples[index + 1]].at_ps)
            TRY(end_calls(line, 0, end_ps, err));
        if (line->depth == 0)
            TRY(put_ended(line, err));
    }
    return put_ended(line, err);
}

static enum status put_line(struct plane_out *plane, const uint32_t *samples, uint32_t count,
                            uint32_t type, struct error *err)
{
    struct xspace_out *space = plane->space;
    const struct trace *trace = space->trace;
    const struct sample *first = &trace->samples[samples[0]];
    struct str name =
        str_format(space->arena, "%.*s: %.*s", STR_ARG(plane_line_name(plane, first->track)),
                   STR_ARG(trace_name(trace, trace->sample_types[type].name)));
    struct sampled *line = memory_resize(NULL, 1, sizeof *line);
    struct line_out *out = plane_add_line(plane);

    *line = (struct sampled){
        .plane = plane, .put = 1, .ended = memory_resize(NULL, EVENTS_MAX, sizeof(struct call))};
    line->base_ps = plane_put_head(
        plane, SAMPLE_LINE_IDS + (int64_t)first->track * trace->sample_type_count + type, name,
        first->at_ps);
    enum status status = take_samples(line, samples, count, type, err);

    if (status == OK)
        status = plane_keep(plane, &plane->events, err);
    plane_end_line(plane, out);
    free(line->ended);
    free(line);
    return status;
}

enum status plane_put_samples(struct plane_out *plane, track_id root, struct error *err)
{
    const struct xspace_out *space = plane->space;
    const struct trace *trace = space->trace;

    for (uint32_t from = 0, end; from < space->sample_count; from = end) {
        track_id track = trace->samples[space->samples[from]].track;
        uint32_t type = type_of(trace, space->samples[from]);

        for (end = from + 1; end < space->sample_count &&
                             trace->samples[space->samples[end]].track == track &&
                             type_of(trace, space->samples[end]) == type;)
            end++;
        if (space->roots[track] == root)
            TRY(put_line(plane, space->samples + from, end - from, type, err));
    }
    return OK;
}
