/* The doors of the sink: what comes in is checked here, once, and handed to the file that knows
 * what to do with it (sink_state.h has the map).
 */
#include <stdlib.h>

#include "trace/sink_state.h"

const struct budget budget_default = {
    .slices_max = UINT32_MAX - 1,          /* ids are 32 bits, the last one means none */
    .names_bytes_max = UINT64_C(1) << 30,  /* names are what indexing keeps in memory */
    .args_per_event_max = 4096,            /* real events have at most about a hundred */
    .tracks_max = 1 << 18,                 /* an open track costs about 1 KiB */
    .depth_max = 2048,                     /* twice Python's limit; a full row costs 151 KiB */
    .stacks_max = 1 << 24,                 /* 36 bytes each, in scratch files */
    .spill_bytes_max = UINT64_C(16) << 30, /* half a milliard slices out of order */
};

enum { CANCEL_EVENTS = 1 << 16 }; /* how often a sink that is fed looks whether it should stop */

void *sink_grown(void *array, uint32_t *capacity, size_t size)
{
    *capacity = *capacity ? *capacity * 2 : 8;
    return memory_resize(array, *capacity, size);
}

static void create_parts(struct sink *sink)
{
    sink->tools = (struct part_tools){.out = sink->out,
                                      .budget = &sink->budget,
                                      .temporary_dir = sink->temporary_dir,
                                      .err = sink->err};
    sink->args = args_writer_create(sink->out, sink->err);
    sink->counters = counter_writer_create(&sink->tools);
    sink->flows = flow_writer_create(&sink->tools);
    sink->stacks = stack_writer_create(&sink->tools);
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->create)
            sink->parts[i] = trace_parts_made[i]->create(&sink->tools);
}

struct sink *sink_create(struct block_out out, const struct budget *budget, struct sink_hooks hooks,
                         const char *temporary_dir, struct error *err)
{
    struct sink *sink = memory_resize(NULL, 1, sizeof(*sink));

    *sink = (struct sink){
        .out = out, .budget = *budget, .hooks = hooks, .temporary_dir = temporary_dir, .err = err};
    sink->names = names_create();
    sink->encoder = chunk_encoder_create();
    sink->samples = spill_create(temporary_dir, budget->spill_bytes_max);
    sink->format = "";
    sink_room(sink->types, sink->type_count, sink->type_capacity);
    sink->types[sink->type_count++] = (struct type){0};
    create_parts(sink);
    return sink;
}

void sink_destroy(struct sink *sink)
{
    if (!sink)
        return;
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->destroy)
            trace_parts_made[i]->destroy(sink->parts[i]);
    stack_writer_destroy(sink->stacks);
    flow_writer_destroy(sink->flows);
    counter_writer_destroy(sink->counters);
    args_writer_destroy(sink->args);
    for (uint32_t id = 0; id < sink->track_count; id++) {
        for (uint32_t depth = 0; depth < sink->tracks[id].row_count; depth++)
            free(sink->tracks[id].rows[depth].columns.start_ps);
        free(sink->tracks[id].rows);
        free(sink->tracks[id].stack);
    }
    spill_destroy(sink->memory_events);
    spill_destroy(sink->samples);
    sorter_destroy(sink->sorter);
    chunk_encoder_destroy(sink->encoder);
    names_destroy(sink->names);
    free(sink->tracks);
    free(sink->chunks);
    free(sink->notes);
    free(sink->properties);
    free(sink->types);
    free(sink->type_args);
    free(sink->programs);
    free(sink->instructions);
    free(sink->documents);
    free(sink);
}

bool sink_failed(const struct sink *sink)
{
    return sink->err->code != OK;
}

struct error *sink_error(struct sink *sink)
{
    return sink->err;
}

static void look_for_cancel(struct sink *sink)
{
    if (sink->hooks.cancelled && sink->hooks.cancelled(sink->hooks.data))
        fail(sink->err, ERR_CANCELLED, "reading was stopped");
}

void sink_progress(struct sink *sink, uint64_t done, uint64_t total)
{
    if (sink->hooks.progress)
        sink->hooks.progress(sink->hooks.data, done, total);
    look_for_cancel(sink);
}

name_id sink_name(struct sink *sink, struct str text)
{
    if (sink_failed(sink))
        return 0;
    if (names_bytes(sink->names) > sink->budget.names_bytes_max ||
        text.count > sink->budget.names_bytes_max - names_bytes(sink->names) ||
        names_count(sink->names) == NAME_COUNT_MAX) {
        fail(sink->err, ERR_LIMIT, "the distinct names and texts take more than %llu bytes",
             (unsigned long long)sink->budget.names_bytes_max);
        return 0;
    }
    return names_add(sink->names, text);
}

struct str sink_text(const struct sink *sink, name_id id)
{
    return id < names_count(sink->names) ? names_get(sink->names, id) : STR("");
}

track_id sink_track(struct sink *sink, struct sink_track given)
{
    if (sink_failed(sink))
        return 0;
    if (sink->track_count == sink->budget.tracks_max) {
        fail(sink->err, ERR_LIMIT, "the file has more than %u tracks", sink->budget.tracks_max);
        return 0;
    }
    name_id name = sink_name(sink, given.name);
    sink_room(sink->tracks, sink->track_count, sink->track_capacity);
    struct open_track *track = &sink->tracks[sink->track_count];
    memset(track, 0, sizeof(*track));
    track->track.parent = given.parent < sink->track_count ? given.parent : NO_TRACK;
    track->track.name = name;
    track->track.kind = (uint8_t)given.kind;
    track->track.role = (uint8_t)given.role;
    track->track.derived = given.derived;
    track->track.device = given.device;
    track->track.source_id = given.source_id;
    return sink->track_count++;
}

/* NULL, with a failure, where there is no such track: a decoder's mistake told as what it is. */
static struct open_track *track_of(struct sink *sink, track_id id)
{
    if (sink_failed(sink))
        return NULL;
    if (id < sink->track_count)
        return &sink->tracks[id];
    fail(sink->err, ERR_INVALID, "there is no track %u", id);
    return NULL;
}

void sink_track_rename(struct sink *sink, track_id id, struct str name)
{
    struct open_track *track = track_of(sink, id);

    if (track)
        track->track.name = sink_name(sink, name);
}

void sink_close_track(struct sink *sink, struct open_track *track)
{
    for (uint32_t depth = 0; depth < track->row_count; depth++)
        open_row_end(sink, track, depth);
    free(track->stack);
    track->stack = NULL;
    track->stack_count = track->stack_capacity = 0;
    for (uint32_t i = 0; trace_parts_made[i] && !sink_failed(sink); i++)
        if (trace_parts_made[i]->track_end)
            trace_parts_made[i]->track_end(sink->parts[i], (track_id)(track - sink->tracks));
}

void sink_track_end(struct sink *sink, track_id id)
{
    struct open_track *track = track_of(sink, id);

    if (!track || track->ended)
        return;
    track->ended = true;
    if (!track->reordered)
        sink_close_track(sink, track);
}

/* Times within TIME_PS_MAX and no length below zero: sums along a row then fit. */
static void clamp(struct sink *sink, struct laid_slice *slice)
{
    if (slice->start_ps > TIME_PS_MAX)
        slice->start_ps = TIME_PS_MAX;
    if (slice->start_ps < -TIME_PS_MAX)
        slice->start_ps = -TIME_PS_MAX;
    if (slice->dur_ps < 0)
        slice->dur_ps = 0;
    if (slice->dur_ps > TIME_PS_MAX - slice->start_ps)
        slice->dur_ps = TIME_PS_MAX - slice->start_ps;
    slice->flags |= SLICE_CLAMPED;
    sink->clamped_count++;
}

static bool is_within(const struct laid_slice *slice)
{
    return slice->start_ps >= -TIME_PS_MAX && slice->start_ps <= TIME_PS_MAX &&
           slice->dur_ps >= 0 && slice->dur_ps <= TIME_PS_MAX - slice->start_ps;
}

static void lay(struct sink *sink, struct open_track *track, struct laid_slice *slice)
{
    if (!track->reordered && track->row_count > 0 &&
        (slice->start_ps < track->last_start_ps ||
         (slice->start_ps == track->last_start_ps && slice->dur_ps > track->last_dur_ps)))
        reorder_track(sink, track);
    track->last_start_ps = slice->start_ps;
    track->last_dur_ps = slice->dur_ps;
    sink->last_start_ps = slice->start_ps;
    if (track->reordered)
        reorder_slice(sink, (track_id)(track - sink->tracks), slice);
    else
        nest_slice(sink, track, slice);
}

event_id sink_slice(struct sink *sink, struct sink_slice given)
{
    struct open_track *track = track_of(sink, given.track);
    struct laid_slice slice = {.start_ps = given.start_ps,
                               .dur_ps = given.dur_ps,
                               .named = named_of(given.name, given.kind),
                               .event = (event_id)sink->event_count,
                               .flags = given.flags};

    if (!track)
        return 0;
    if (track->ended) {
        fail(sink->err, ERR_INVALID, "a slice came after the end of its track %u", given.track);
        return 0;
    }
    if (sink->event_count == sink->budget.slices_max) {
        fail(sink->err, ERR_LIMIT, "the file has more than %llu events",
             (unsigned long long)sink->budget.slices_max);
        return 0;
    }
    if (sink->event_count % CANCEL_EVENTS == 0)
        look_for_cancel(sink);
    if (!is_within(&slice))
        clamp(sink, &slice);
    if (slice.flags & SLICE_INSTANT)
        slice.dur_ps = 0;
    if (slice.dur_ps == 0)
        slice.flags |= SLICE_INSTANT;
    if (track->track.derived)
        slice.flags |= SLICE_DERIVED;
    sink->event_count++;
    sink->event_args = 0;
    args_writer_event(sink->args, given.type);
    lay(sink, track, &slice);
    return slice.event;
}

void sink_args(struct sink *sink, const struct arg *args, uint32_t count)
{
    if (sink_failed(sink) || sink->event_count == 0)
        return;

    uint64_t room = sink->budget.args_per_event_max - sink->event_args;

    if (count > room) {
        sink->args_left_out += count - room;
        count = (uint32_t)room;
    }
    sink->event_args += count;
    args_writer_args(sink->args, args, count);
}

void sink_arg(struct sink *sink, struct arg arg)
{
    sink_args(sink, &arg, 1);
}

void sink_flow(struct sink *sink, enum flow_end end, name_id kind, uint64_t id)
{
    if (!sink_failed(sink) && sink->event_count > 0)
        flow_writer_end(sink->flows, end, kind, id, (event_id)(sink->event_count - 1),
                        sink->last_start_ps, sink->last_place);
}

void sink_flow_at(struct sink *sink, enum flow_end end, name_id kind, uint64_t id, track_id track,
                  int64_t at_ps, bool next)
{
    if (track_of(sink, track))
        flow_writer_at(sink->flows, end, kind, id, track, at_ps, next);
}

/* The time of a sample, within TIME_PS_MAX; the hull of them grows. */
static int64_t sample_time(struct sink *sink, int64_t at_ps)
{
    if (at_ps > TIME_PS_MAX || at_ps < -TIME_PS_MAX) {
        at_ps = at_ps < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
        sink->clamped_count++;
    }
    if (!sink->has_samples)
        sink->sample_start_ps = sink->sample_end_ps = at_ps;
    sink->has_samples = true;
    sink->sample_start_ps = at_ps < sink->sample_start_ps ? at_ps : sink->sample_start_ps;
    sink->sample_end_ps = at_ps > sink->sample_end_ps ? at_ps : sink->sample_end_ps;
    return at_ps;
}

void sink_counter(struct sink *sink, track_id track, int64_t at_ps, double value)
{
    if (!track_of(sink, track))
        return;
    at_ps = sample_time(sink, at_ps);
    sink->sample_count++;
    counter_writer_sample(sink->counters, track, at_ps, value);
}

stack_id sink_stack(struct sink *sink, stack_id parent, struct frame frame)
{
    return sink_failed(sink) ? NO_STACK : stack_writer_stack(sink->stacks, parent, frame);
}

uint32_t sink_sample_type(struct sink *sink, name_id name, name_id unit)
{
    return sink_failed(sink)
               ? 0
               : stack_writer_type(sink->stacks, (struct sample_type){.name = name, .unit = unit});
}

void sink_sample(struct sink *sink, struct sample sample, const int64_t *values,
                 const struct arg *labels, uint32_t label_count)
{
    if (sink_failed(sink) || (sample.track != NO_TRACK && !track_of(sink, sample.track)))
        return;
    if (sample.at_ps != SAMPLE_NO_TIME)
        sample.at_ps = sample_time(sink, sample.at_ps);
    if (label_count > sink->budget.args_per_event_max) {
        sink->args_left_out += label_count - sink->budget.args_per_event_max;
        label_count = (uint32_t)sink->budget.args_per_event_max;
    }
    stack_writer_sample(sink->stacks, sample, values, labels, label_count);
}

static void note_what_was_changed(struct sink *sink)
{
    if (sink->clamped_count > 0)
        sink_note(sink, "clamped-times", NOTE_WARNING, sink->clamped_count,
                  "Times that are negative lengths or lie more than 53 days from the others were "
                  "cut to what can be shown.");
    if (sink->too_deep_count > 0)
        sink_note(sink, "too-deep", NOTE_WARNING, sink->too_deep_count,
                  "Slices nested or overlapping more than %u deep are kept as instants in the last "
                  "row of their track.",
                  sink->budget.depth_max);
    if (sink->args_left_out > 0)
        sink_note(sink, "args-left-out", NOTE_WARNING, sink->args_left_out,
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
    TRY(finish_flows(sink, trace, err));
    TRY(sink_write_memory_events(sink, trace));
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->finish)
            TRY(trace_parts_made[i]->finish(sink->parts[i], trace, err));
    return OK;
}

static enum status finish_over(struct sink *sink, struct arena *arena)
{
    struct block_in in;
    struct trace trace;

    TRY(sink->out.so_far(sink->out.to, &in, sink->err));
    TRY(trace_open_core(in, arena, &trace, sink->err));
    return finish_parts(sink, &trace, sink->err);
}

static enum status finish(struct sink *sink)
{
    for (track_id id = 0; id < sink->track_count && !sink_failed(sink); id++) {
        if (!sink->tracks[id].ended && !sink->tracks[id].reordered)
            sink_close_track(sink, &sink->tracks[id]);
        sink->tracks[id].ended = true;
    }
    reorder_finish(sink);
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

    if (status != OK && err && err != sink->err && err->code == OK)
        *err = *sink->err;
    return status;
}
