/* SPDX-License-Identifier: Apache-2.0 */
/* The open chunk of a row.
 *
 *   columns   start dur self | named parent event | lift | flags    one piece of memory, `capacity`
 *             [0 ........... count)                                 slices long, 16 to CHUNK_SLICES
 *
 * A slice that may still get children is the last one of its row, so all the others are final, and
 * a full chunk is written when the next slice of its row arrives.
 */
#include <stdlib.h>

#include "trace/readers.h"
#include "trace/sink/sink_state.h"

enum {
    CAPACITY_MIN = 16, /* a trace may have a hundred thousand rows of one slice */
    SLICE_BYTES = 3 * sizeof(int64_t) + 3 * sizeof(uint32_t) + sizeof(uint16_t) + sizeof(uint8_t),
};

static struct open_columns columns_at(uint8_t *memory, uint32_t capacity)
{
    struct open_columns columns;

    columns.start_ps = (int64_t *)memory;
    columns.dur_ps = columns.start_ps + capacity;
    columns.self_ps = columns.dur_ps + capacity;
    columns.named = (uint32_t *)(columns.self_ps + capacity);
    columns.parent = columns.named + capacity;
    columns.event = columns.parent + capacity;
    columns.lift = (uint16_t *)(columns.event + capacity);
    columns.flags = (uint8_t *)(columns.lift + capacity);
    return columns;
}

static void grow(struct open_row *row)
{
    uint32_t capacity = row->capacity ? row->capacity * 4 : CAPACITY_MIN;
    uint8_t *memory = memory_resize(NULL, capacity, SLICE_BYTES);
    struct open_columns to = columns_at(memory, capacity), *from = &row->columns;
    const uint32_t count = row->count;

    if (count > 0) {
        memcpy(to.start_ps, from->start_ps, count * sizeof(*to.start_ps));
        memcpy(to.dur_ps, from->dur_ps, count * sizeof(*to.dur_ps));
        memcpy(to.self_ps, from->self_ps, count * sizeof(*to.self_ps));
        memcpy(to.named, from->named, count * sizeof(*to.named));
        memcpy(to.parent, from->parent, count * sizeof(*to.parent));
        memcpy(to.event, from->event, count * sizeof(*to.event));
        memcpy(to.lift, from->lift, count * sizeof(*to.lift));
        memcpy(to.flags, from->flags, count * sizeof(*to.flags));
    }
    free(from->start_ps);
    row->columns = to;
    row->capacity = capacity;
}

/* One sample per 32 slices; returns how many. */
static uint32_t take_samples(struct open_row *row, struct slice_sample ret[])
{
    const struct open_columns *columns = &row->columns;
    uint32_t sample_count = 0;

    for (uint32_t first = 0; first < row->count; first += SAMPLE_SLICES) {
        uint32_t end = row->count - first < SAMPLE_SLICES ? row->count : first + SAMPLE_SLICES;
        uint32_t longest = first;
        int64_t sum = 0;

        for (uint32_t i = first; i < end; i++) {
            sum += columns->dur_ps[i];
            longest = columns->dur_ps[i] > columns->dur_ps[longest] ? i : longest;
        }
        ret[sample_count++] = (struct slice_sample){.start_ps = columns->start_ps[first],
                                                    .dur_before = row->dur_before,
                                                    .longest = (uint16_t)(longest - first),
                                                    .weight = dur_weight(columns->dur_ps[longest])};
        row->dur_before += sum;
    }
    return sample_count;
}

static void hand_to_parts(struct sink *sink, const struct open_track *track, uint32_t depth,
                          bool last)
{
    const struct open_row *row = &track->rows[depth];
    struct row_chunk chunk = {
        .track = (track_id)(track - sink->tracks),
        .depth = depth,
        .first = row->first,
        .count = row->count,
        .derived = track->track.derived,
        .last = last,
        .start_ps = row->columns.start_ps,
        .dur_ps = row->columns.dur_ps,
        .self_ps = row->columns.self_ps,
        .named = row->columns.named,
        .parent = row->columns.parent,
        .lift = row->columns.lift,
        .flags = row->columns.flags,
    };

    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->chunk)
            trace_parts_made[i]->chunk(sink->parts[i], &chunk);
}

static void write_chunk(struct sink *sink, struct open_track *track, uint32_t depth, bool last)
{
    struct open_row *row = &track->rows[depth];
    struct written_chunk written = {.next = NO_CHUNK};
    struct slice_sample samples[CHUNK_SLICES / SAMPLE_SLICES];

    struct bytes packed = chunk_encode(sink->encoder, &row->columns, row->count, &written.entry);
    if (sink->out.data(sink->out.to, packed, &written.entry.offset, sink->take_err) != OK)
        return;
    uint32_t sample_count = take_samples(row, samples);
    struct bytes sampled = {.at = (const uint8_t *)samples,
                            .count = sample_count * sizeof(*samples)};
    if (spill_append(sink->samples, sampled, &written.samples_offset, sink->take_err) != OK)
        return;
    hand_to_parts(sink, track, depth, last);

    sink_room(sink->chunks, sink->chunk_count, sink->chunk_capacity);
    if (row->last_chunk == NO_CHUNK)
        row->first_chunk = sink->chunk_count;
    else
        sink->chunks[row->last_chunk].next = sink->chunk_count;
    row->last_chunk = sink->chunk_count;
    sink->chunks[sink->chunk_count++] = written;
    row->first += row->count;
    row->count = 0;
}

void open_row_begin(struct sink *sink, struct open_track *track, int64_t start_ps)
{
    sink_room(track->rows, track->row_count, track->row_capacity);
    track->rows[track->row_count++] = (struct open_row){.first_chunk = NO_CHUNK,
                                                        .last_chunk = NO_CHUNK,
                                                        .number = sink->row_number_count++,
                                                        .start_ps = start_ps,
                                                        .end_ps = INT64_MIN};
}

void open_row_append(struct sink *sink, struct open_track *track, uint32_t depth,
                     const struct laid_slice *slice, uint32_t parent, uint16_t lift)
{
    if (depth >= track->row_count)
        open_row_begin(sink, track, slice->start_ps);
    struct open_row *row = &track->rows[depth];

    if (row->first == 0 && row->count == 0)
        row->start_ps = slice->start_ps;
    if (row->count == row->capacity) {
        if (row->capacity == CHUNK_SLICES)
            write_chunk(sink, track, depth, false);
        else
            grow(row);
    }
    if (sink->take_err->code != OK)
        return;

    const uint32_t at = row->count++;
    row->columns.start_ps[at] = slice->start_ps;
    row->columns.dur_ps[at] = slice->dur_ps;
    row->columns.self_ps[at] = slice->dur_ps;
    row->columns.named[at] = slice->named;
    row->columns.parent[at] = parent;
    row->columns.event[at] = slice->event;
    row->columns.lift[at] = lift;
    row->columns.flags[at] = slice->flags;
    row->end_ps = slice->start_ps + slice->dur_ps;
    sink->last_place = (struct slice_place){.row = row->number, .ordinal = row->first + at};
}

void open_row_end(struct sink *sink, struct open_track *track, uint32_t depth)
{
    struct open_row *row = &track->rows[depth];

    if (row->count > 0 && sink->take_err->code == OK)
        write_chunk(sink, track, depth, true);
    free(row->columns.start_ps);
    row->columns = (struct open_columns){0};
    row->capacity = 0;
}
