/* SPDX-License-Identifier: Apache-2.0 */
/* Which row a slice lies in.
 *
 * Slices of a track come in order: start ascending, then longest first, then as in the file. A
 * stack holds those that may still get children; each is the last slice of its row, and rows
 * ascend along the stack.
 *
 *   0 +100 step                stack   step
 *      10 +30 a                        step a
 *         15 +5 x                      step a x
 *         30 +20 b   partial           step b       b runs past a: no child of a, one row further
 *      60 +10 c                        step c       row 1 again
 *
 * A slice is a child of the nearest one whose closed interval contains it. What is popped while it
 * still ran makes the newcomer partial. An instant is never pushed: it has no inside.
 *
 * On threads a long slice may begin just before short ones end: a step that is entered by a call.
 * The short ones then make way, for else all that the step holds would lie below rows that are
 * empty:
 *
 *   0 +3 enter                      row 0   ....step................
 *      1 +2 call                    row 1   enter  a       b
 *   2 +30 step                      row 2    call
 *
 * Which of them do so is known of slices that come after; see reorder.c.
 */
#include "trace/sink/sink_state.h"

enum { LONG_TIMES = 16 }; /* as long as what makes way for it */

static void push(struct open_track *track, int64_t end_ps, uint32_t depth)
{
    sink_room(track->stack, track->stack_count, track->stack_capacity);
    track->stack[track->stack_count++] = (struct nest_level){.end_ps = end_ps, .depth = depth};
}

bool nest_makes_way(const struct laid_slice *slice, const struct laid_slice *next)
{
    const int64_t end_ps = slice->start_ps + slice->dur_ps;

    return next->start_ps < end_ps && next->start_ps + next->dur_ps > end_ps &&
           next->dur_ps / LONG_TIMES >= slice->dur_ps &&
           !((slice->flags | next->flags) & SLICE_ASYNC);
}

bool nest_is_made_way_for(const struct open_track *track, const struct laid_slice *slice)
{
    const int64_t end_ps = slice->start_ps + slice->dur_ps;
    bool found = false;

    for (uint32_t at = track->stack_count; at > 0 && track->stack[at - 1].end_ps < end_ps; at--) {
        const struct open_row *row = &track->rows[track->stack[at - 1].depth];
        const struct laid_slice last = {.start_ps = row->columns.start_ps[row->count - 1],
                                        .dur_ps = row->columns.dur_ps[row->count - 1]};
        if (last.start_ps + last.dur_ps > slice->start_ps)
            found = nest_makes_way(&last, slice);
    }
    return found;
}

static uint32_t free_row(const struct open_track *track, uint32_t depth, int64_t start_ps)
{
    while (depth < track->row_count && track->rows[depth].end_ps > start_ps)
        depth++;
    return depth;
}

/* Below the row that `next` will lie in, if that would be the slice's own. A row that is not there
 * yet is made: `next` comes. */
static uint32_t row_below(struct sink *sink, struct open_track *track, uint32_t depth,
                          const struct laid_slice *slice, const struct laid_slice *next)
{
    const uint32_t own = free_row(track, depth, slice->start_ps);

    if (free_row(track, depth, next->start_ps) != own || own + 1 >= sink->budget.depth_max)
        return own;
    if (own == track->row_count)
        open_row_begin(sink, track, next->start_ps);
    return free_row(track, own + 1, slice->start_ps);
}

/* Deeper than any row may be: kept as an instant in the one row below all others. */
static void lay_too_deep(struct sink *sink, struct open_track *track, struct laid_slice *slice)
{
    sink->too_deep_count++;
    slice->dur_ps = 0;
    slice->flags |= SLICE_INSTANT | SLICE_CLAMPED;
    open_row_append(sink, track, sink->budget.depth_max, slice, 0, 0);
}

/* First fit, no parent. Open slices that are over leave the stack first: their rows are free. */
static void lay_async(struct sink *sink, struct open_track *track, struct laid_slice *slice)
{
    while (track->stack_count > 0 && track->stack[track->stack_count - 1].end_ps <= slice->start_ps)
        track->stack_count--;
    uint32_t depth = free_row(track, 0, slice->start_ps);
    if (depth >= sink->budget.depth_max) {
        lay_too_deep(sink, track, slice);
        return;
    }
    open_row_append(sink, track, depth, slice, 0, 0);
}

/* Pops what is over; true when one of it still ran. */
static bool pop(struct open_track *track, int64_t start_ps, int64_t end_ps)
{
    bool overlapped = false;

    while (track->stack_count > 0) {
        const struct nest_level *top = &track->stack[track->stack_count - 1];
        if (end_ps <= top->end_ps)
            break;
        overlapped |= top->end_ps > start_ps;
        track->stack_count--;
    }
    return overlapped;
}

/* Takes a child from its parent's self time. Children that overlap each other may take more than
 * there is; what all of them take together stays an int64_t. */
static void take_self(struct open_row *row, int64_t dur_ps)
{
    const uint32_t parent = row->count - 1;
    int64_t *self_ps = &row->columns.self_ps[parent];
    const int64_t least_ps = row->columns.dur_ps[parent] - INT64_MAX;

    *self_ps = *self_ps < least_ps + dur_ps ? least_ps : *self_ps - dur_ps;
}

void nest_slice(struct sink *sink, struct open_track *track, struct laid_slice *slice,
                const struct laid_slice *next)
{
    const int64_t end_ps = slice->start_ps + slice->dur_ps;
    uint32_t above_depth = 0, parent = 0, depth = 0;

    if (slice->flags & SLICE_ASYNC) {
        lay_async(sink, track, slice);
        return;
    }
    if (pop(track, slice->start_ps, end_ps))
        slice->flags |= SLICE_PARTIAL;
    struct open_row *above = NULL;
    if (track->stack_count > 0) {
        const struct nest_level *level = &track->stack[track->stack_count - 1];
        above_depth = level->depth;
        above = &track->rows[above_depth];
        parent = above->first + above->count - 1;
        depth = above_depth + 1;
        if (next && level->end_ps < next->start_ps + next->dur_ps)
            next = NULL; /* what holds it has made way */
    }
    depth =
        next ? row_below(sink, track, depth, slice, next) : free_row(track, depth, slice->start_ps);
    if (depth >= sink->budget.depth_max) {
        lay_too_deep(sink, track, slice);
        return;
    }
    if (above)
        take_self(&track->rows[above_depth], slice->dur_ps);
    open_row_append(sink, track, depth, slice, parent, above ? (uint16_t)(depth - above_depth) : 0);
    if (!(slice->flags & SLICE_INSTANT))
        push(track, end_ps, depth);
}
