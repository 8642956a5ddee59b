/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks that turned out to be unsorted, or to hold slices that make way for later ones (nest.c).
 *
 * Their slices, also those whose chunks are written already, go through the sorter and are nested
 * again at the finish, each with the next ones in sight; the chunks written too early stay in the
 * file as bytes nobody points at.
 */
#include <stdlib.h>

#include "trace/sink/sink_state.h"

static void put(struct sink *sink, const struct unsorted *slice)
{
    if (sink->take_err->code == OK && sorter_put(sink->sorter, slice, sink->take_err) != OK)
        return; /* the failure stays in sink->take_err */
}

static void put_columns(struct sink *sink, track_id track, const struct open_columns *columns,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct unsorted slice = {.start_ps = columns->start_ps[i],
                                 .dur_ps = columns->dur_ps[i],
                                 .track = track,
                                 .named = columns->named[i],
                                 .event = columns->event[i],
                                 .flags = columns->flags[i] & ~(uint32_t)SLICE_PARTIAL};
        put(sink, &slice);
    }
}

/* The open columns are free for unpacking once their own slices are in the sorter. */
static void put_row(struct sink *sink, track_id track, struct open_row *row)
{
    put_columns(sink, track, &row->columns, row->count);
    for (uint32_t chunk = row->first_chunk; chunk != NO_CHUNK && sink->take_err->code == OK;
         chunk = sink->chunks[chunk].next) {
        const struct chunk_entry *entry = &sink->chunks[chunk].entry;
        struct bytes data;

        if (sink->out.view(sink->out.to, entry->offset, entry->size, &data, sink->take_err) != OK)
            return;
        chunk_decode(entry, data.at, &row->columns);
        put_columns(sink, track, &row->columns, entry->count);
    }
}

void reorder_track(struct sink *sink, struct open_track *track)
{
    const track_id id = (track_id)(track - sink->tracks);

    if (!sink->sorter)
        sink->sorter = sorter_create(sink->temporary_dir, sink->budget.spill_bytes_max);
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        put_row(sink, id, &track->rows[depth]);
        free(track->rows[depth].columns.start_ps);
    }
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->track_restart)
            trace_parts_made[i]->track_restart(sink->parts[i], id);
    track->row_count = 0;
    track->stack_count = 0;
    track->reordered = true;
}

void reorder_slice(struct sink *sink, track_id track, const struct laid_slice *slice)
{
    struct unsorted unsorted = {.start_ps = slice->start_ps,
                                .dur_ps = slice->dur_ps,
                                .track = track,
                                .named = slice->named,
                                .event = slice->event,
                                .flags = slice->flags};

    put(sink, &unsorted);
    sink->last_place = (struct slice_place){.row = NO_ROW};
}

enum { AHEAD = 64 }; /* slices that are looked at before one is laid */

struct ahead {
    struct laid_slice slices[AHEAD];
    uint32_t first, count;
};

static const struct laid_slice *ahead_at(const struct ahead *ahead, uint32_t at)
{
    return &ahead->slices[(ahead->first + at) % AHEAD];
}

/* What the first one makes way for; NULL. */
static const struct laid_slice *next_of_first(const struct ahead *ahead)
{
    const struct laid_slice *slice = ahead_at(ahead, 0);
    const int64_t end_ps = slice->start_ps + slice->dur_ps;

    for (uint32_t at = 1; at < ahead->count && ahead_at(ahead, at)->start_ps < end_ps; at++)
        if (nest_makes_way(slice, ahead_at(ahead, at)))
            return ahead_at(ahead, at);
    return NULL;
}

static void lay_first(struct sink *sink, struct open_track *track, struct ahead *ahead)
{
    const bool is_thread = track->track.role == ROLE_HOST;
    const struct laid_slice *next = is_thread ? next_of_first(ahead) : NULL;

    nest_slice(sink, track, &ahead->slices[ahead->first], next);
    ahead->first = (ahead->first + 1) % AHEAD;
    ahead->count--;
}

static void lay_all(struct sink *sink, struct open_track *track, struct ahead *ahead)
{
    while (ahead->count > 0 && sink->take_err->code == OK)
        lay_first(sink, track, ahead);
    sink_close_track(sink, track);
}

void reorder_finish(struct sink *sink)
{
    track_id last = NO_TRACK;
    struct ahead ahead = {.count = 0};

    if (!sink->sorter || sorter_start(sink->sorter, sink->take_err) != OK)
        return;
    for (struct unsorted slice; sorter_next(sink->sorter, &slice, sink->take_err);) {
        if (last != slice.track && last != NO_TRACK)
            lay_all(sink, &sink->tracks[last], &ahead);
        last = slice.track;
        if (ahead.count == AHEAD)
            lay_first(sink, &sink->tracks[last], &ahead);
        ahead.slices[(ahead.first + ahead.count++) % AHEAD] =
            (struct laid_slice){.start_ps = slice.start_ps,
                                .dur_ps = slice.dur_ps,
                                .named = slice.named,
                                .event = slice.event,
                                .flags = (uint8_t)slice.flags};
        if (sink->take_err->code != OK)
            return;
    }
    if (last != NO_TRACK)
        lay_all(sink, &sink->tracks[last], &ahead);
    sorter_destroy(sink->sorter);
    sink->sorter = NULL;
}
