/* SPDX-License-Identifier: Apache-2.0 */
/* When the work of the asked steps was done, row by row.
 *
 *   the thread of the marks   |step 3        |step 4 ...      the span, whatever lies inside of it
 *   a row with ops            |op 2|op 3 op 3|op 4|           from its first op to its last, and
 *                                  |---------|                what holds them and no other's
 *   other rows of its track   |...  as its rows with ops have it
 *   containers of a device    |...  as its tracks have it; one that is mostly inside, whole
 *   any other row             |...  the steps' times
 */
#include <stdlib.h>

#include "analyse/scan/selection.h"

struct window_list {
    struct window *items;
    uint32_t count, capacity;
};

struct rows_work {
    struct selection *selection;
    const struct trace *trace;
    struct arena *arena;
    struct row_windows *of_rows; /* by row */
    bool *has_ops;               /* by track */
};

static void list_add(struct window_list *list, struct window window)
{
    if (window.from_ps >= window.to_ps)
        return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = memory_resize(list->items, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = window;
}

/* Joins them, clips them to what is asked for besides steps, and empties the list. */
static struct row_windows list_take(struct rows_work *work, struct window_list *list)
{
    const struct window *within = &work->selection->within;
    uint32_t count = windows_join(list->items, list->count), kept = 0;
    struct window *items = arena_array(work->arena, struct window, (size_t)count + 1);

    for (uint32_t i = 0; i < count; i++) {
        struct window window = list->items[i];

        window.from_ps = window.from_ps > within->from_ps ? window.from_ps : within->from_ps;
        window.to_ps = window.to_ps < within->to_ps ? window.to_ps : within->to_ps;
        if (window.from_ps < window.to_ps)
            items[kept++] = window;
    }
    list->count = 0;
    return (struct row_windows){items, kept};
}

static int64_t end_of(const struct slice *slice)
{
    return slice->start_ps + slice->dur_ps + (slice->dur_ps == 0); /* an instant is inside */
}

/* The outermost slice around this one that lies between two moments, or itself. */
static struct slice outermost(const struct trace *trace, struct slice slice, struct window between)
{
    while (slice.parent != NO_SLICE) {
        struct slice parent = trace_slice(trace, slice.parent);

        if (parent.start_ps < between.from_ps || end_of(&parent) > between.to_ps)
            break;
        slice = parent;
    }
    return slice;
}

/* Entries [first, end) of a row are the steps', those beside them of the row are not. */
static void add_run(struct rows_work *work, const struct row *row, uint32_t first, uint32_t end,
                    struct window_list *list)
{
    const struct attribution *of = work->selection->host->attribution;
    struct window between = {INT64_MIN, INT64_MAX};

    if (first > 0 && entry_slice(of, first - 1) >= row->first_slice) {
        struct slice before = trace_slice(work->trace, entry_slice(of, first - 1));

        between.from_ps = before.start_ps + before.dur_ps;
    }
    if (end < of->entry_count && entry_slice(of, end) - row->first_slice < row->count)
        between.to_ps = trace_slice(work->trace, entry_slice(of, end)).start_ps;

    struct slice from = trace_slice(work->trace, entry_slice(of, first));
    struct slice to = trace_slice(work->trace, entry_slice(of, end - 1));
    struct window window = {from.start_ps, end_of(&to)};

    from = outermost(work->trace, from, between);
    to = outermost(work->trace, to, between);
    window.from_ps = from.start_ps < window.from_ps ? from.start_ps : window.from_ps;
    window.to_ps = end_of(&to) > window.to_ps ? end_of(&to) : window.to_ps;
    window.to_ps = window.to_ps < between.to_ps ? window.to_ps : between.to_ps;
    list_add(list, window);
}

/* Entries come row by row, in the order of time. */
static void rows_with_ops(struct rows_work *work, struct window_list *list)
{
    const struct attribution *of = work->selection->host->attribution;
    const uint32_t *owners = work->selection->owners;

    for (uint32_t at = 0; at < of->entry_count;) {
        row_id index = trace_row_of(work->trace, entry_slice(of, at));

        if (index == NO_ROW)
            break;

        const struct row *row = &work->trace->rows[index];

        while (at < of->entry_count && entry_slice(of, at) - row->first_slice < row->count) {
            uint32_t first = at;
            bool owned = owners[at] != NO_OWNER;

            while (at < of->entry_count && entry_slice(of, at) - row->first_slice < row->count &&
                   (owners[at] != NO_OWNER) == owned)
                at++;
            if (owned)
                add_run(work, row, first, at, list);
        }
        work->has_ops[row->track] = true;
        work->of_rows[index] = list_take(work, list);
    }
}

static void add_track(const struct rows_work *work, const struct track *track,
                      struct window_list *list)
{
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        const struct row_windows *windows = &work->of_rows[row];

        for (uint32_t i = 0; windows->items != NULL && i < windows->count; i++)
            list_add(list, windows->items[i]);
    }
}

/* What no row says yet becomes `windows`. */
static void fill_track(const struct rows_work *work, const struct track *track,
                       struct row_windows windows)
{
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        if (work->of_rows[row].items == NULL)
            work->of_rows[row] = windows;
    }
}

/* Slices of which more than half lies inside of a window are whole. */
static struct window widen(const struct rows_work *work, const struct row *row,
                           struct window window)
{
    uint32_t first, end;
    struct window wide = window;

    row_window(work->trace, row, window.from_ps, window.to_ps, &first, &end);
    for (int side = 0; side < 2 && first < end; side++) {
        struct slice slice =
            trace_slice(work->trace, row->first_slice + (side == 0 ? first : end - 1));
        int64_t end_ps = slice.start_ps + slice.dur_ps;
        int64_t from_ps = slice.start_ps > window.from_ps ? slice.start_ps : window.from_ps;
        int64_t to_ps = end_ps < window.to_ps ? end_ps : window.to_ps;

        if (to_ps - from_ps <= slice.dur_ps / 2)
            continue;
        wide.from_ps = slice.start_ps < wide.from_ps ? slice.start_ps : wide.from_ps;
        wide.to_ps = end_ps > wide.to_ps ? end_ps : wide.to_ps;
    }
    return wide;
}

/* Modules, scopes and lines of steps of a device hold its ops. */
static void rows_of_container(struct rows_work *work, const struct track *track,
                              const struct row_windows *of_device, struct window_list *list)
{
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        for (uint32_t i = 0; i < of_device->count; i++)
            list_add(list, widen(work, &work->trace->rows[row], of_device->items[i]));
        work->of_rows[row] = list_take(work, list);
    }
}

static void rows_of_device(struct rows_work *work, int32_t device, struct window_list *list)
{
    struct row_windows of_device;

    for (track_id id = 0; id < work->trace->track_count; id++) {
        if (work->has_ops[id] && work->trace->tracks[id].device == device)
            add_track(work, &work->trace->tracks[id], list);
    }
    of_device = list_take(work, list);
    for (track_id id = 0; id < work->trace->track_count; id++) {
        const struct track *track = &work->trace->tracks[id];

        if (!work->has_ops[id] && track->device == device && track->row_count > 0 &&
            work->of_rows[track->first_row].items == NULL)
            rows_of_container(work, track, &of_device, list);
    }
}

static void rows_of_devices(struct rows_work *work, struct window_list *list)
{
    for (track_id id = 0; id < work->trace->track_count; id++) {
        const struct track *track = &work->trace->tracks[id];

        if (track->device >= 0 && track->row_count > 0 &&
            work->of_rows[track->first_row].items == NULL)
            rows_of_device(work, track->device, list);
    }
}

void selection_by_work(struct selection *selection, const bool *steps_on, struct row_windows spans,
                       struct arena *arena)
{
    const struct trace *trace = selection->host->trace;
    struct rows_work work = {
        .selection = selection,
        .trace = trace,
        .arena = arena,
        .of_rows = arena_array(arena, struct row_windows, (size_t)trace->row_count + 1),
        .has_ops = arena_array(arena, bool, (size_t)trace->track_count + 1),
    };
    struct window_list list = {0};

    rows_with_ops(&work, &list);
    for (track_id id = 0; id < trace->track_count; id++) {
        if (!work.has_ops[id])
            continue;
        add_track(&work, &trace->tracks[id], &list);
        fill_track(&work, &trace->tracks[id], list_take(&work, &list));
    }
    rows_of_devices(&work, &list);
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        for (row_id row = track->first_row;
             steps_on[id] && row < track->first_row + track->row_count; row++)
            work.of_rows[row] = spans;
        fill_track(&work, track, (struct row_windows){selection->windows, selection->window_count});
    }
    free(list.items);
    selection->of_rows = work.of_rows;
}
