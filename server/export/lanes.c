/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the rows of a track to lanes, so that slices of a lane only nest. */
#include "export/lanes.h"

#include <stdlib.h>

static bool has_partial(const struct trace *trace, const struct track *track, struct chunk *scratch)
{
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        const struct row *at = &trace->rows[row];

        if (at->depth == 0)
            continue;
        for (uint32_t i = 0; i < at->chunk_count; i++) {
            chunk_unpack(trace, at->first_chunk + i, COLUMN_FLAGS, scratch);
            for (uint32_t slice = 0; slice < scratch->count; slice++)
                if (scratch->flags[slice] & SLICE_PARTIAL)
                    return true;
        }
    }
    return false;
}

/* Rows come from the top, so a parent's lane is known before its children ask. */
static void assign_row(struct lanes *lanes, const struct row *row, struct chunk *scratch)
{
    for (uint32_t i = 0; i < row->chunk_count; i++) {
        chunk_unpack(lanes->trace, row->first_chunk + i, COLUMN_FLAGS | COLUMN_PARENT, scratch);
        for (uint32_t k = 0; k < scratch->count; k++) {
            slice_id parent = scratch->parent[k];
            bool begins = (scratch->flags[k] & SLICE_PARTIAL) || parent < lanes->first ||
                          parent >= scratch->first_slice + k;

            lanes->by_slice[scratch->first_slice + k - lanes->first] =
                begins ? (uint16_t)row->depth : lanes->by_slice[parent - lanes->first];
        }
    }
}

void lanes_open(struct lanes *lanes, const struct trace *trace, const struct track *track,
                struct chunk *scratch)
{
    *lanes = (struct lanes){.trace = trace, .track = track};
    if (track->row_count == 0 || track->kind == TRACK_ASYNC || !has_partial(trace, track, scratch))
        return;
    lanes->first = trace->rows[track->first_row].first_slice;
    lanes->by_slice = memory_resize(NULL, track->slice_count, sizeof *lanes->by_slice);
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++)
        assign_row(lanes, &trace->rows[row], scratch);
}

void lanes_close(struct lanes *lanes)
{
    free(lanes->by_slice);
    lanes->by_slice = NULL;
}

uint32_t lane_of(const struct lanes *lanes, slice_id slice, uint32_t depth)
{
    if (lanes->track->kind == TRACK_ASYNC)
        return depth;
    return lanes->by_slice != NULL ? lanes->by_slice[slice - lanes->first] : 0;
}
