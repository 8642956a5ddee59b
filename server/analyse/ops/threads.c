/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the rows of each thread of each host, and lays them over each other. Facts: the tracks of a
 * trace, its slices. */
#include "analyse/ops/threads.h"

#include "analyse/scan/scan.h"
#include "analyse/steps/host_line.h"
#include "analyse/table.h"

enum thread_column {
    THREAD_TRACK,
    THREAD_HOST,
    THREAD_PROCESS,
    THREAD_NAME,
    THREAD_TID,
    THREAD_SLICES,
    THREAD_BUSY,
    THREAD_SHARE,
    THREAD_START,
    THREAD_END,
    THREAD_LONGEST,
    THREAD_LONGEST_PS,
    THREAD_SLICE,
};

static const struct column columns[] = {
    [THREAD_TRACK] = {"track", "Track", UNIT_TEXT, false},
    [THREAD_HOST] = {"host", "Host", UNIT_TEXT, true},
    [THREAD_PROCESS] = {"process", "Process", UNIT_TEXT, true},
    [THREAD_NAME] = {"name", "Thread", UNIT_TEXT, true},
    [THREAD_TID] = {"tid", "tid", UNIT_TEXT, true},
    [THREAD_SLICES] = {"slice_count", "Slices", UNIT_COUNT, true},
    [THREAD_BUSY] = {"busy_ps", "Busy", UNIT_PS, true},
    [THREAD_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [THREAD_START] = {"start_ps", "First", UNIT_PS, true},
    [THREAD_END] = {"end_ps", "Last", UNIT_PS, true},
    [THREAD_LONGEST] = {"longest", "Longest slice", UNIT_TEXT, true},
    [THREAD_LONGEST_PS] = {"longest_ps", "Its time", UNIT_PS, true},
    [THREAD_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
};

struct thread {
    const struct host_trace *host;
    track_id track; /* its own, or its first lane where it has none that is let through */
    uint64_t slice_count;
    int64_t busy_ps, span_ps;
    int64_t start_ps, end_ps; /* file time, inside the windows */
    int64_t longest_ps;
    slice_id longest;
};

struct threads {
    struct thread *items;
    uint32_t count;
    struct arena *arena;
    struct chunk *chunk; /* of the row at hand */
};

/* The longest of slices [first, end) of a row; of equal ones the first. */
static void find_longest(struct chunk *chunk, const struct trace *trace, const struct row *row,
                         uint32_t first, uint32_t end, struct thread *ret)
{
    for (uint32_t at = first; at < end;) {
        uint32_t block = at / CHUNK_SLICES, from = at % CHUNK_SLICES;
        uint32_t to =
            block == (end - 1) / CHUNK_SLICES ? (end - 1) % CHUNK_SLICES + 1 : CHUNK_SLICES;

        chunk_unpack(trace, row->first_chunk + block, COLUMN_DUR, chunk);
        for (uint32_t i = from; i < to && i < chunk->count; i++) {
            if (ret->longest != NO_SLICE && chunk->dur_ps[i] <= ret->longest_ps)
                continue;
            ret->longest = chunk->first_slice + i;
            ret->longest_ps = chunk->dur_ps[i];
        }
        at += to - from;
    }
}

/* From the first of slices [first, end) to the end of the last, inside of the window. */
static void widen(const struct trace *trace, const struct row *row, uint32_t first, uint32_t end,
                  struct window window, struct thread *ret)
{
    struct slice begin = trace_slice_times(trace, row, first, COLUMN_START);
    struct slice last = trace_slice_times(trace, row, end - 1, COLUMN_START | COLUMN_DUR);
    int64_t from_ps = begin.start_ps > window.from_ps ? begin.start_ps : window.from_ps;
    int64_t to_ps = last.start_ps + last.dur_ps;

    to_ps = to_ps < window.to_ps ? to_ps : window.to_ps;
    ret->start_ps = from_ps < ret->start_ps ? from_ps : ret->start_ps;
    ret->end_ps = to_ps > ret->end_ps ? to_ps : ret->end_ps;
}

/* A slice that touches several windows counts once. */
static void add_row(struct threads *threads, const struct row *row, const struct window *windows,
                    uint32_t window_count, struct thread *ret)
{
    const struct trace *trace = ret->host->trace;
    uint32_t next = 0;

    for (uint32_t i = 0; i < window_count; i++) {
        uint32_t first, end;

        row_window(trace, row, windows[i].from_ps, windows[i].to_ps, &first, &end);
        if (first >= end)
            continue;
        widen(trace, row, first, end, windows[i], ret);
        first = first > next ? first : next;
        next = end;
        if (first >= end)
            continue;
        ret->slice_count += end - first;
        find_longest(threads->chunk, trace, row, first, end, ret);
    }
}

/* The time that pieces of the line have inside of the windows: both ascend. */
static int64_t busy_of(struct host_line *line, const struct window *windows, uint32_t count)
{
    struct host_piece piece;
    int64_t busy_ps = 0;
    uint32_t first = 0;

    while (host_line_next(line, &piece)) {
        while (first < count && windows[first].to_ps <= piece.from_ps)
            first++;
        for (uint32_t i = first; i < count && windows[i].from_ps < piece.to_ps; i++) {
            int64_t from_ps =
                piece.from_ps > windows[i].from_ps ? piece.from_ps : windows[i].from_ps;
            int64_t to_ps = piece.to_ps < windows[i].to_ps ? piece.to_ps : windows[i].to_ps;

            ps_add(&busy_ps, to_ps - from_ps);
        }
    }
    return busy_ps;
}

/* Of a thread: itself and its lanes, as far as they are let through. */
static uint32_t lanes_of(const struct selection *selection, track_id thread, track_id *ret)
{
    const struct trace *trace = selection->host->trace;
    uint32_t count = 0;

    for (track_id id = thread; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->kind == TRACK_THREAD && track->device < 0 && track->row_count > 0 &&
            selection->tracks[id] && host_thread_of(trace, id) == thread)
            ret[count++] = id;
    }
    return count;
}

/* From the run's first moment to its last, of all hosts, in run time. */
static struct window hull_of(const struct run_traces *run)
{
    struct window hull = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];
        int64_t from_ps = ps_sum(host->trace->start_ps, host->offset_ps);
        int64_t to_ps = ps_sum(host->trace->end_ps, host->offset_ps);

        hull.from_ps = from_ps < hull.from_ps ? from_ps : hull.from_ps;
        hull.to_ps = to_ps > hull.to_ps ? to_ps : hull.to_ps;
    }
    return hull;
}

/* How much of the run is asked for of a thread: these windows, where they are of steps. */
static int64_t span_of(const struct selection *selection, struct window hull,
                       const struct window *windows, uint32_t window_count)
{
    const struct restriction *asked = selection->asked;
    int64_t span_ps = 0;

    for (uint32_t i = 0; asked->step_range_count > 0 && i < window_count; i++)
        ps_add(&span_ps, ps_apart(windows[i].to_ps, windows[i].from_ps));
    if (asked->step_range_count > 0)
        return span_ps;
    if (asked->has_window && asked->start_ps > hull.from_ps)
        hull.from_ps = asked->start_ps;
    if (asked->has_window && asked->end_ps < hull.to_ps)
        hull.to_ps = asked->end_ps;
    return hull.to_ps > hull.from_ps ? ps_apart(hull.to_ps, hull.from_ps) : 0;
}

/* Of a thread of ops the steps' ops are looked at, and what it is asked for is the steps' time. */
static bool runs_ops(const struct selection *selection, track_id id)
{
    const struct attribution *of = selection->host->attribution;
    const struct track *track = &selection->host->trace->tracks[id];

    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        const struct row *at = &selection->host->trace->rows[row];
        uint32_t entry = of == NULL ? 0 : attribution_from(of, at->first_slice);

        if (of != NULL && entry < of->entry_count &&
            entry_slice(of, entry) - at->first_slice < at->count)
            return true;
    }
    return false;
}

static void add_thread(struct threads *threads, const struct selection *selection, track_id id,
                       track_id *lanes, struct window hull)
{
    const struct trace *trace = selection->host->trace;
    struct thread *thread = &threads->items[threads->count];
    uint32_t lane_count = lanes_of(selection, id, lanes), window_count;
    const struct window *windows;
    struct row_windows asked;

    *thread = (struct thread){.host = selection->host,
                              .track = id,
                              .start_ps = INT64_MAX,
                              .end_ps = INT64_MIN,
                              .longest = NO_SLICE};
    if (lane_count == 0)
        return;
    asked = selection_windows_of_track(selection, lanes[0]);
    windows = asked.items;
    window_count = asked.count;
    for (uint32_t i = 0; i < lane_count; i++) {
        const struct track *track = &trace->tracks[lanes[i]];

        for (uint32_t k = 0; k < track->row_count; k++)
            add_row(threads, &trace->rows[track->first_row + k], windows, window_count, thread);
    }
    if (thread->slice_count == 0)
        return;

    const struct window all = {windows[0].from_ps, windows[window_count - 1].to_ps};
    struct host_line *line = host_line_open_cover(trace, lanes, lane_count, all);

    thread->span_ps = runs_ops(selection, lanes[0])
                          ? span_of(selection, hull, selection->windows, selection->window_count)
                          : span_of(selection, hull, windows, window_count);
    thread->busy_ps = busy_of(line, windows, window_count);
    host_line_close(line);
    threads->count++;
}

static struct cell process_cell(const struct thread *thread)
{
    const struct trace *trace = thread->host->trace;
    track_id parent = trace->tracks[thread->track].parent;
    struct str name = parent == NO_TRACK ? STR("") : trace_name(trace, trace->tracks[parent].name);

    return name.count > 0 ? cell_text(name)
                          : cell_null(STR("the profile names no process of this thread"));
}

static struct cell share_cell(const struct thread *thread)
{
    if (thread->span_ps <= 0)
        return cell_null(STR("the selection has no length"));
    return cell_of_sum(thread->span_ps,
                       cell_real((double)thread->busy_ps / (double)thread->span_ps));
}

static struct cell place_cell(const struct threads *threads, const struct thread *thread,
                              enum thread_column column)
{
    const struct host_trace *host = thread->host;
    const struct track *track = &host->trace->tracks[thread->track];

    switch (column) {
    case THREAD_TRACK:
        return cell_text(str_format(threads->arena, "%.*s.%u", STR_ARG(host->key), thread->track));
    case THREAD_HOST:
        return cell_text(host->name);
    case THREAD_PROCESS:
        return process_cell(thread);
    case THREAD_NAME:
        return cell_text(trace_name(host->trace, track->name));
    case THREAD_TID:
        return cell_text(str_format(threads->arena, "%lld", (long long)track->source_id));
    default:
        return cell_text(
            str_format(threads->arena, "%.*s-%u", STR_ARG(host->key), thread->longest));
    }
}

static struct cell thread_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct threads *threads = data;
    const struct thread *thread = &threads->items[row];
    const struct host_trace *host = thread->host;

    switch (column) {
    case THREAD_SLICES:
        return cell_integer((int64_t)thread->slice_count);
    case THREAD_BUSY:
        return cell_integer(thread->busy_ps);
    case THREAD_SHARE:
        return share_cell(thread);
    case THREAD_START:
        return cell_integer(thread->start_ps + host->offset_ps);
    case THREAD_END:
        return cell_integer(thread->end_ps + host->offset_ps);
    case THREAD_LONGEST:
        return cell_text(trace_name(host->trace, trace_slice(host->trace, thread->longest).name));
    case THREAD_LONGEST_PS:
        return cell_integer(thread->longest_ps);
    default:
        return place_cell(threads, thread, (enum thread_column)column);
    }
}

static void find_threads(const struct selection *selection, struct window hull,
                         struct threads *threads)
{
    const struct trace *trace = selection->host->trace;
    track_id *lanes = arena_array(threads->arena, track_id, (size_t)trace->track_count + 1);

    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].kind == TRACK_THREAD && host_thread_of(trace, id) == id)
            add_thread(threads, selection, id, lanes, hull);
    }
}

enum status threads_table(const struct run_traces *run, const struct restriction *restriction,
                          const struct page *page, struct arena *arena, struct table *ret,
                          struct error *err)
{
    struct threads *threads = arena_new(arena, struct threads);
    struct selection *selections;
    uint32_t selection_count, track_count = 0, *order;
    const struct window hull = hull_of(run);

    *ret = (struct table){0};
    TRY(restrict_run(run, restriction, arena, &selections, &selection_count, err));
    for (uint32_t i = 0; i < run->host_count; i++)
        track_count += run->hosts[i].trace->track_count;
    threads->arena = arena;
    threads->items = arena_array(arena, struct thread, (size_t)track_count + 1);
    threads->chunk = arena_new(arena, struct chunk);
    for (uint32_t i = 0; i < selection_count; i++)
        find_threads(&selections[i], hull, threads);

    struct table_source source = {.columns = columns,
                                  .column_count = COUNT(columns),
                                  .row_count = threads->count,
                                  .cell = thread_cell,
                                  .data = threads};

    TRY(table_order(&source, page->sort, "-busy_ps,start_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < threads->count; i++)
        ps_add(&ret->total_ps, threads->items[i].busy_ps);
    ret->by = STR("thread");
    if (threads->count == 0)
        table_tell_missing(ret, "no-threads",
                           STR("no host thread recorded anything in the selection"), arena);
    return OK;
}
