/* SPDX-License-Identifier: Apache-2.0 */
/* The finish of a sink: what is open is written, then the tables, then what needs all slices. */
#include <stdlib.h>

#include "trace/ps.h"
#include "trace/sink/sink_state.h"

static bool sums_are_cut(const struct sink *sink)
{
    int64_t sum_ps = 0;

    for (track_id id = 0; id < sink->track_count; id++)
        for (uint32_t depth = 0; depth < sink->tracks[id].row_count; depth++)
            ps_add(&sum_ps, sink->tracks[id].rows[depth].dur_before);
    return ps_is_cut(sum_ps);
}

static void note_what_was_changed(struct sink *sink)
{
    uint64_t clamped_count = sink->clamped_count + sink->clamped_samples;
    uint64_t args_left_out = sink->args_left_out + sink->labels_left_out;

    if (clamped_count > 0)
        sink_note(sink, "clamped-times", NOTE_WARNING, clamped_count,
                  "Times that are negative lengths or lie more than 53 days from the others were "
                  "cut to what can be shown.");
    if (sink->too_deep_count > 0)
        sink_note(sink, "too-deep", NOTE_WARNING, sink->too_deep_count,
                  "Slices nested or overlapping more than %u deep are kept as instants in the last "
                  "row of their track.",
                  sink->budget.depth_max);
    if (sums_are_cut(sink))
        sink_note(sink, "sums-cut", NOTE_WARNING, 1,
                  "The durations come to more than 2^63 ps, 106 days, the largest sum that can be "
                  "stored: such a sum has no mean and no share.");
    if (args_left_out > 0)
        sink_note(sink, "args-left-out", NOTE_WARNING, args_left_out,
                  "Events with more than %llu args keep the first ones.",
                  (unsigned long long)sink->budget.args_per_event_max);
}

/* The first slice of every row that ever began, by its number. */
static enum status finish_flows(struct sink *sink, const struct trace *trace, struct error *err)
{
    slice_id *first_slices = memory_resize(NULL, sink->row_number_count + 1u, sizeof(slice_id));

    for (uint32_t i = 0; i < sink->row_number_count; i++)
        first_slices[i] = NO_SLICE;
    for (row_id row = 0; row < trace->row_count; row++) {
        const struct row *written = &trace->rows[row];
        first_slices[sink->tracks[written->track].rows[written->depth].number] =
            written->first_slice;
    }
    struct written_rows rows = {.first_slices = first_slices, .count = sink->row_number_count};
    enum status status = flow_writer_finish(sink->flows, trace, &rows, err);
    free(first_slices);
    return status;
}

static enum status finish_parts(struct sink *sink, const struct trace *trace, struct error *err)
{
    TRY(counter_writer_finish(sink->counters, trace, err));
    TRY(sink_write_memory_events(sink, trace));
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->finish)
            TRY(trace_parts_made[i]->finish(sink->parts[i], trace, err));
    return OK;
}

struct beside {
    const struct sink_hooks *hooks;
    const struct trace *trace;
};

static void run_beside(void *data)
{
    const struct beside *beside = data;

    beside->hooks->beside(beside->hooks->data, beside->trace);
}

/* With what the decoder's side wants to know of the slices going on beside it. */
static enum status finish_beside(struct sink *sink, const struct trace *trace)
{
    struct beside beside = {.hooks = &sink->hooks, .trace = trace};
    const bool wanted = sink->hooks.beside != NULL;

    if (wanted && sink->thread)
        sink_thread_run(sink->thread, run_beside, &beside);
    enum status status = finish_parts(sink, trace, sink->err);
    if (wanted && !sink->thread && status == OK)
        run_beside(&beside);
    sink_thread_wait(sink->thread);
    return status;
}

/* Who works beside asks what launched what. */
static enum status open_flows(struct sink *sink, struct trace *trace, struct arena *arena)
{
    TRY(sink->out.so_far(sink->out.to, &trace->parts->in, sink->err));
    return flows_open(trace, arena, sink->err);
}

static enum status finish_over(struct sink *sink, struct arena *arena)
{
    struct block_in in;
    struct trace trace;

    TRY(sink->out.so_far(sink->out.to, &in, sink->err));
    TRY(trace_open_core(in, arena, &trace, sink->err));
    TRY(args_open(in, arena, &trace.parts->args, sink->err));
    TRY(finish_flows(sink, &trace, sink->err));
    if (sink->hooks.beside != NULL)
        TRY(open_flows(sink, &trace, arena));
    return finish_beside(sink, &trace);
}

static void end_tracks(struct sink *sink)
{
    for (track_id id = 0; id < sink->track_count; id++)
        sink_take_track_end(sink, id);
    reorder_finish(sink);
}

static enum status finish(struct sink *sink)
{
    sink_settle(sink);
    if (sink_failed(sink))
        return sink->err->code;
    end_tracks(sink);
    sink_settle(sink);
    note_what_was_changed(sink);
    if (sink_failed(sink))
        return sink->err->code;
    TRY(args_writer_finish(sink->args, sink->err));
    TRY(stack_writer_finish(sink->stacks, sink->err));
    TRY(sink_write_about(sink));
    TRY(sink_write_tables(sink));

    struct arena *arena = arena_create();
    enum status status = finish_over(sink, arena);
    arena_destroy(arena);
    return status;
}

enum status sink_finish(struct sink *sink, struct error *err)
{
    enum status status = finish(sink);

    if (status != OK)
        sink_settle(sink);
    if (status != OK && err && err != sink->err && err->code == OK)
        *err = *sink->err;
    return status;
}
