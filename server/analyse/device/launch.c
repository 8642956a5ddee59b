/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the launching call of a slice through a few unpacked chunks. */
#include "analyse/device/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"

enum { HELD_CHUNKS = 8 };

/* What begins within this after its call ended waited for nothing but the call. */
#define SOON_PS INT64_C(20000000)

/* Of a row: the arrows that end at its slices, positions in `flow_by_to`. Who asks goes along the
 * row, so the next one is near the last one. */
struct row_arrows {
    uint64_t first, end, near;
    bool known;
};

struct launch_reader {
    const struct trace *trace;
    unsigned columns;
    const struct row *row;
    struct row_arrows *arrows; /* by row */
    uint8_t *has_arrows;       /* by track: 0 not looked at yet, 1 none, 2 some */
    uint32_t index[HELD_CHUNKS];
    struct chunk chunks[HELD_CHUNKS]; /* 190 KB each */
};

struct launch_reader *launch_reader_create(const struct trace *trace)
{
    struct launch_reader *reader = memory_resize(NULL, 1, sizeof *reader);

    reader->trace = trace;
    reader->columns = COLUMN_START | COLUMN_DUR | COLUMN_PARENT | COLUMN_NAME;
    reader->row = NULL;
    reader->arrows = memory_zeroed(trace->row_count, sizeof *reader->arrows);
    reader->has_arrows = memory_zeroed((size_t)trace->track_count + 1, 1);
    memset(reader->index, 0xFF, sizeof reader->index);
    return reader;
}

struct launch_reader *launch_reader_with_events(const struct trace *trace)
{
    struct launch_reader *reader = launch_reader_create(trace);

    reader->columns |= COLUMN_EVENT;
    return reader;
}

void launch_reader_free(struct launch_reader *reader)
{
    if (reader != NULL) {
        free(reader->arrows);
        free(reader->has_arrows);
    }
    free(reader);
}

static void find_row(struct launch_reader *reader, slice_id slice)
{
    if (reader->row == NULL || slice < reader->row->first_slice ||
        slice - reader->row->first_slice >= reader->row->count)
        reader->row = &reader->trace->rows[trace_row_of(reader->trace, slice)];
}

bool launch_read(struct launch_reader *reader, slice_id slice, struct launch_call *ret)
{
    if (slice >= reader->trace->slice_count)
        return false;
    find_row(reader, slice);

    uint32_t ordinal = slice - reader->row->first_slice, at = ordinal % CHUNK_SLICES;
    uint32_t index = reader->row->first_chunk + ordinal / CHUNK_SLICES;
    struct chunk *chunk = &reader->chunks[index % HELD_CHUNKS];

    if (reader->index[index % HELD_CHUNKS] != index) {
        chunk_unpack(reader->trace, index, reader->columns, chunk);
        reader->index[index % HELD_CHUNKS] = index;
    }
    if (at >= chunk->count)
        return false;
    *ret = (struct launch_call){.start_ps = chunk->start_ps[at],
                                .dur_ps = chunk->dur_ps[at],
                                .parent = chunk->parent[at],
                                .name = chunk->name[at]};
    if ((reader->columns & COLUMN_EVENT) != 0)
        ret->event = chunk->event[at];
    return true;
}

static slice_id arrow_end(const struct trace *trace, uint64_t position)
{
    return trace->flows[trace->flow_by_to[position]].to;
}

/* The first arrow of the row that ends at `slice` or later: strides that double, from the last one
 * on, then bisection. */
static uint64_t first_arrow(const struct trace *trace, const struct row_arrows *arrows,
                            slice_id slice)
{
    uint64_t low = arrows->first, high = arrows->end, stride = 1;

    if (arrows->near < high && arrow_end(trace, arrows->near) < slice) {
        low = arrows->near + 1;
        while (low + stride < high && arrow_end(trace, low + stride) < slice) {
            low += stride + 1;
            stride *= 2;
        }
        high = low + stride < high ? low + stride : high;
    } else {
        high = arrows->near;
        while (high - low > stride && arrow_end(trace, high - stride) >= slice) {
            high -= stride;
            stride *= 2;
        }
        low = high - low > stride ? high - stride + 1 : low;
    }
    return BISECT(low, high, i, arrow_end(trace, i) < slice);
}

slice_id launch_arrow(struct launch_reader *reader, slice_id slice)
{
    const struct trace *trace = reader->trace;

    if (slice >= trace->slice_count)
        return NO_SLICE;
    find_row(reader, slice);

    struct row_arrows *arrows = &reader->arrows[reader->row - trace->rows];

    if (!arrows->known) {
        arrows->first = arrows->near = flow_first_to(trace, reader->row->first_slice);
        arrows->end = flow_first_to(trace, reader->row->first_slice + reader->row->count);
        arrows->known = true;
    }
    if (arrows->first == arrows->end)
        return NO_SLICE;
    arrows->near = first_arrow(trace, arrows, slice);
    if (arrows->near == arrows->end || arrow_end(trace, arrows->near) != slice)
        return NO_SLICE;
    return trace->flows[trace->flow_by_to[arrows->near]].from;
}

int64_t launch_starved_ps(int64_t launch_ps, int64_t queue_ps, int64_t gap_ps)
{
    return launch_ps > 0 && queue_ps <= SOON_PS && queue_ps < gap_ps ? gap_ps - queue_ps : 0;
}

/* Rows of a track follow each other, and so do their slices. */
bool launch_track_has_arrows(struct launch_reader *reader, slice_id slice)
{
    const struct trace *trace = reader->trace;

    if (slice >= trace->slice_count)
        return false;
    find_row(reader, slice);

    const struct track *track = &trace->tracks[reader->row->track];
    uint8_t *known = &reader->has_arrows[reader->row->track];

    if (*known == 0) {
        const struct row *first = &trace->rows[track->first_row];
        const struct row *last = first + track->row_count - 1;

        *known = flow_first_to(trace, first->first_slice) <
                         flow_first_to(trace, last->first_slice + last->count)
                     ? 2
                     : 1;
    }
    return *known == 2;
}
