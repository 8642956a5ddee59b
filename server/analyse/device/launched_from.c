/* Arrows that lead to a slice. */
#include "analyse/device/launched_from.h"

enum { ANCESTORS_MAX = 64, BACK_MAX = 4 };

static slice_id arrow_to(const struct trace *trace, slice_id slice)
{
    uint64_t low = 0, high = trace->flow_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (trace->flows[trace->flow_by_to[middle]].to < slice)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < trace->flow_count && trace->flows[trace->flow_by_to[low]].to == slice)
        return trace->flows[trace->flow_by_to[low]].from;
    return NO_SLICE;
}

/* A pool marks where a task begins by an instant, at which the arrow from who gave it ends; the
 * task's slices follow. */
static slice_id arrow_to_task(const struct trace *trace, struct launch_reader *reader,
                              slice_id slice)
{
    slice_id first = trace->rows[trace_row_of(trace, slice)].first_slice;

    for (int back = 0; slice > first && back < BACK_MAX; back++) {
        slice_id from = arrow_to(trace, --slice);
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
    for (int up = 0; up < ANCESTORS_MAX; up++) {
        slice_id from = arrow_to(trace, slice);
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
