/* SPDX-License-Identifier: Apache-2.0 */
/* The doors of the sink: what comes in is checked here, once, and handed to the file that knows
 * what to do with it (sink_state.h has the map). Slices, args and arrows go to whoever takes
 * them: sink_take.c at once, or sink_thread.c. */
#include <stdlib.h>

#include "trace/sink/sink_state.h"

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
    sink->take_tools = sink->tools;
    sink->take_tools.err = sink->take_err;
    sink->args = args_writer_create(sink->out, sink->take_err);
    sink->counters = counter_writer_create(&sink->tools);
    sink->flows = flow_writer_create(&sink->take_tools);
    sink->stacks = stack_writer_create(&sink->tools);
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->create)
            sink->parts[i] = trace_parts_made[i]->create(&sink->take_tools);
}

struct sink *sink_create(struct block_out out, const struct budget *budget, struct sink_hooks hooks,
                         const char *temporary_dir, struct error *err)
{
    struct sink *sink = memory_resize(NULL, 1, sizeof(*sink));

    *sink = (struct sink){
        .out = out, .budget = *budget, .hooks = hooks, .temporary_dir = temporary_dir, .err = err};
    sink->take_err = hooks.two_threads ? &sink->own_err : err;
    sink->names = names_create();
    sink->encoder = chunk_encoder_create();
    sink->samples = spill_create(temporary_dir, budget->spill_bytes_max);
    sink->format = "";
    sink_room(sink->types, sink->type_count, sink->type_capacity);
    sink->types[sink->type_count++] = (struct type){0};
    create_parts(sink);
    if (hooks.two_threads)
        sink->thread = sink_thread_create(sink);
    return sink;
}

void sink_destroy(struct sink *sink)
{
    if (!sink)
        return;
    sink_thread_destroy(sink->thread);
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->destroy)
            trace_parts_made[i]->destroy(sink->parts[i]);
    stack_writer_destroy(sink->stacks);
    flow_writer_destroy(sink->flows);
    counter_writer_destroy(sink->counters);
    args_writer_destroy(sink->args);
    for (uint32_t id = 0; id < sink->taken_tracks; id++) {
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
    return sink->err->code != OK || atomic_load_explicit(&sink->take_failed, memory_order_relaxed);
}

void sink_settle(struct sink *sink)
{
    sink_thread_wait(sink->thread);
    if (sink->err->code == OK && sink->take_err->code != OK)
        *sink->err = *sink->take_err;
}

struct error *sink_error(struct sink *sink)
{
    if (sink_failed(sink))
        sink_settle(sink);
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

uint32_t sink_name_count(const struct sink *sink)
{
    return names_count(sink->names);
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
    struct track track;
    memset(&track, 0, sizeof(track)); /* padding too: a record of the segment */
    track.parent = given.parent < sink->track_count ? given.parent : NO_TRACK;
    track.name = sink_name(sink, given.name);
    track.kind = (uint8_t)given.kind;
    track.role = (uint8_t)given.role;
    track.derived = given.derived;
    track.device = given.device;
    track.source_id = given.source_id;
    if (sink->thread)
        sink_thread_track(sink->thread, &track);
    else
        sink_take_track(sink, &track);
    return sink->track_count++;
}

/* False, with a failure, where there is no such track: a decoder's mistake told as what it is. */
static bool has_track(struct sink *sink, track_id id)
{
    if (sink_failed(sink))
        return false;
    if (id < sink->track_count)
        return true;
    fail(sink->err, ERR_INVALID, "there is no track %u", id);
    return false;
}

void sink_track_rename(struct sink *sink, track_id id, struct str name)
{
    if (!has_track(sink, id))
        return;
    if (sink->thread)
        sink_thread_rename(sink->thread, id, sink_name(sink, name));
    else
        sink_take_rename(sink, id, sink_name(sink, name));
}

void sink_track_end(struct sink *sink, track_id id)
{
    if (!has_track(sink, id))
        return;
    if (sink->thread)
        sink_thread_track_end(sink->thread, id);
    else
        sink_take_track_end(sink, id);
}

void sink_args(struct sink *sink, const struct arg *args, uint32_t count)
{
    if (sink_failed(sink) || sink->event_count == 0)
        return;
    if (sink->thread)
        sink_thread_args(sink->thread, args, count);
    else
        sink_take_args(sink, args, count);
}

event_id sink_slice_args(struct sink *sink, const struct sink_slice *slice, const struct arg *args,
                         uint32_t count)
{
    if (!has_track(sink, slice->track))
        return 0;
    if (sink->event_count == sink->budget.slices_max) {
        fail(sink->err, ERR_LIMIT, "the file has more than %llu events",
             (unsigned long long)sink->budget.slices_max);
        return 0;
    }
    if (sink->event_count % CANCEL_EVENTS == 0)
        look_for_cancel(sink);
    event_id event = (event_id)sink->event_count++;
    if (sink->thread) {
        sink_thread_slice(sink->thread, slice);
        sink_thread_args(sink->thread, args, count);
    } else {
        sink_take_slice(sink, slice);
        sink_take_args(sink, args, count);
    }
    return event;
}

event_id sink_slice(struct sink *sink, struct sink_slice given)
{
    return sink_slice_args(sink, &given, NULL, 0);
}

void sink_arg(struct sink *sink, struct arg arg)
{
    sink_args(sink, &arg, 1);
}

void sink_flow(struct sink *sink, enum flow_end end, name_id kind, uint64_t id)
{
    struct given_flow given = {.end = end, .kind = kind, .id = id};

    if (sink_failed(sink) || sink->event_count == 0 || sink->hooks.taker != NULL)
        return;
    if (sink->thread)
        sink_thread_flow(sink->thread, &given);
    else
        sink_take_flow(sink, &given);
}

void sink_flow_at(struct sink *sink, enum flow_end end, name_id kind, uint64_t id, track_id track,
                  int64_t at_ps, bool next)
{
    struct given_flow given = {.end = end,
                               .kind = kind,
                               .id = id,
                               .timed = true,
                               .next = next,
                               .track = track,
                               .at_ps = at_ps};

    if (!has_track(sink, track) || sink->hooks.taker != NULL)
        return;
    if (sink->thread)
        sink_thread_flow(sink->thread, &given);
    else
        sink_take_flow(sink, &given);
}

void sink_include(struct sink *sink, int64_t at_ps)
{
    if (!sink->has_samples)
        sink->sample_start_ps = sink->sample_end_ps = at_ps;
    sink->has_samples = true;
    sink->sample_start_ps = at_ps < sink->sample_start_ps ? at_ps : sink->sample_start_ps;
    sink->sample_end_ps = at_ps > sink->sample_end_ps ? at_ps : sink->sample_end_ps;
}

/* The time of a sample, within TIME_PS_MAX. */
static int64_t sample_time(struct sink *sink, int64_t at_ps)
{
    if (at_ps > TIME_PS_MAX || at_ps < -TIME_PS_MAX) {
        at_ps = at_ps < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
        sink->clamped_samples++;
    }
    sink_include(sink, at_ps);
    return at_ps;
}

void sink_counter(struct sink *sink, track_id track, int64_t at_ps, double value)
{
    if (!has_track(sink, track))
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
    if (sink_failed(sink) || (sample.track != NO_TRACK && !has_track(sink, sample.track)))
        return;
    if (sample.at_ps != SAMPLE_NO_TIME)
        sample.at_ps = sample_time(sink, sample.at_ps);
    if (label_count > sink->budget.args_per_event_max) {
        sink->labels_left_out += label_count - sink->budget.args_per_event_max;
        label_count = (uint32_t)sink->budget.args_per_event_max;
    }
    stack_writer_sample(sink->stacks, sample, values, labels, label_count);
}
