/* SPDX-License-Identifier: Apache-2.0 */
/* What the doors let through: tracks, slices, args and arrows, in the order they were given.
 * Runs on the decoder's thread, or on the sink's own (sink_thread.c); a failure stays in
 * take_err. */
#include <stdlib.h>

#include "trace/sink/sink_state.h"

static bool has_failed(const struct sink *sink)
{
    return sink->take_err->code != OK;
}

void sink_take_track(struct sink *sink, const struct track *track)
{
    sink_room(sink->tracks, sink->taken_tracks, sink->track_capacity);
    struct open_track *open = &sink->tracks[sink->taken_tracks++];
    memset(open, 0, sizeof(*open));
    open->track = *track;
    if (sink->hooks.taker != NULL)
        sink->hooks.taker->track(sink->hooks.taker->to, sink->taken_tracks - 1, track);
}

void sink_take_rename(struct sink *sink, track_id track, name_id name)
{
    sink->tracks[track].track.name = name;
}

void sink_close_track(struct sink *sink, struct open_track *track)
{
    for (uint32_t depth = 0; depth < track->row_count; depth++)
        open_row_end(sink, track, depth);
    free(track->stack);
    track->stack = NULL;
    track->stack_count = track->stack_capacity = 0;
    for (uint32_t i = 0; trace_parts_made[i] && !has_failed(sink); i++)
        if (trace_parts_made[i]->track_end)
            trace_parts_made[i]->track_end(sink->parts[i], (track_id)(track - sink->tracks));
}

void sink_take_track_end(struct sink *sink, track_id id)
{
    struct open_track *track = &sink->tracks[id];

    if (has_failed(sink) || track->ended)
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
    else if (!track->reordered && track->track.role == ROLE_HOST &&
             nest_is_made_way_for(track, slice))
        reorder_track(sink, track);
    track->last_start_ps = slice->start_ps;
    track->last_dur_ps = slice->dur_ps;
    sink->last_start_ps = slice->start_ps;
    if (track->reordered)
        reorder_slice(sink, (track_id)(track - sink->tracks), slice);
    else
        nest_slice(sink, track, slice, NULL);
}

static void hand_over(struct sink *sink, const struct sink_slice *given,
                      const struct laid_slice *slice)
{
    const struct slice_taker *taker = sink->hooks.taker;
    struct sink_slice checked = *given;

    checked.start_ps = slice->start_ps;
    checked.dur_ps = slice->dur_ps;
    checked.flags = slice->flags;
    sink_include(sink, slice->start_ps);
    sink_include(sink, slice->start_ps + slice->dur_ps);
    taker->slice(taker->to, &checked, sink->take_err);
}

void sink_take_slice(struct sink *sink, const struct sink_slice *given)
{
    struct open_track *track = &sink->tracks[given->track];
    struct laid_slice slice = {.start_ps = given->start_ps,
                               .dur_ps = given->dur_ps,
                               .named = named_of(given->name, given->kind),
                               .event = (event_id)sink->taken_events,
                               .flags = given->flags};

    if (has_failed(sink))
        return;
    if (track->ended) {
        fail(sink->take_err, ERR_INVALID, "a slice came after the end of its track %u",
             given->track);
        return;
    }
    if (!is_within(&slice))
        clamp(sink, &slice);
    if (slice.flags & SLICE_INSTANT)
        slice.dur_ps = 0;
    if (slice.dur_ps == 0)
        slice.flags |= SLICE_INSTANT;
    if (track->track.derived)
        slice.flags |= SLICE_DERIVED;
    sink->taken_events++;
    sink->event_args = 0;
    if (sink->hooks.taker != NULL) {
        hand_over(sink, given, &slice);
        return;
    }
    args_writer_event(sink->args, given->type);
    lay(sink, track, &slice);
}

void sink_take_args(struct sink *sink, const struct arg *args, uint32_t count)
{
    uint64_t room = sink->budget.args_per_event_max - sink->event_args;

    if (has_failed(sink) || count == 0)
        return;
    if (count > room) {
        sink->args_left_out += count - room;
        count = (uint32_t)room;
    }
    sink->event_args += count;
    if (sink->hooks.taker != NULL)
        sink->hooks.taker->args(sink->hooks.taker->to, args, count);
    else
        args_writer_args(sink->args, args, count);
}

void sink_take_flow(struct sink *sink, const struct given_flow *given)
{
    if (has_failed(sink))
        return;
    if (given->timed)
        flow_writer_at(sink->flows, given->end, given->kind, given->id, given->track, given->at_ps,
                       given->next);
    else
        flow_writer_end(sink->flows, given->end, given->kind, given->id,
                        (event_id)(sink->taken_events - 1), sink->last_start_ps, sink->last_place);
}
