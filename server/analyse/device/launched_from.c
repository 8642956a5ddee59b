/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows that lead to a slice. */
#include "analyse/device/launched_from.h"

enum { ANCESTORS_MAX = 64, BACK_MAX = 4 };

/* A pool marks where a task begins by an instant, at which the arrow from who gave it ends; the
 * task's slices follow. */
static slice_id arrow_to_task(const struct trace *trace, struct launch_reader *reader,
                              slice_id slice)
{
    slice_id first = trace->rows[trace_row_of(trace, slice)].first_slice;

    for (int back = 0; slice > first && back < BACK_MAX; back++) {
        slice_id from = launch_arrow(reader, --slice);
        struct launch_call before;

        if (from != NO_SLICE)
            return from;
        if (!launch_read(reader, slice, &before))
            break;
    }
    return NO_SLICE;
}

slice_id launched_from(const struct trace *trace, struct launch_reader *reader, slice_id slice)
{
    if (!launch_track_has_arrows(reader, slice)) /* nor at what is around it, on the same track */
        return NO_SLICE;
    for (int up = 0; up < ANCESTORS_MAX; up++) {
        slice_id from = launch_arrow(reader, slice);
        struct launch_call call;

        if (from != NO_SLICE && from != slice)
            return from;
        if (!launch_read(reader, slice, &call))
            return NO_SLICE;
        if (call.parent == NO_SLICE)
            return arrow_to_task(trace, reader, slice);
        slice = call.parent;
    }
    return NO_SLICE;
}
