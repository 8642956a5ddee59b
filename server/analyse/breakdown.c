/* Where time went, told once per host as a line of segments and then cut at the steps' edges.
 *
 *   device ops     compute   --  copy --     at each moment the most telling kind of all devices
 *   host thread   host input host host host  at each moment the innermost slice of one thread
 *   line          compute input copy host    the devices' before the host's; holes are idle
 */
#include <stdlib.h>

#include "analyse/scan.h"
#include "analyse/steps.h"

struct segment {
    int64_t from_ps, to_ps; /* file time; disjoint, ascending */
    enum kind kind;
};

struct line {
    struct segment *items;
    uint32_t count, capacity;
};

/* Joins what touches and is of one kind. */
static void line_add(struct line *line, int64_t from_ps, int64_t to_ps, enum kind kind)
{
    if (from_ps >= to_ps)
        return;
    if (line->count > 0 && line->items[line->count - 1].to_ps == from_ps &&
        line->items[line->count - 1].kind == kind) {
        line->items[line->count - 1].to_ps = to_ps;
        return;
    }
    if (line->count == line->capacity) {
        line->capacity = line->capacity == 0 ? 64 : 2 * line->capacity;
        line->items = memory_resize(line->items, line->capacity, sizeof(*line->items));
    }
    line->items[line->count++] = (struct segment){from_ps, to_ps, kind};
}

/* `above` where it has something, else `below`; frees both. */
static struct line overlay(struct line below, struct line above)
{
    struct line made = {0};
    uint32_t next = 0;

    for (uint32_t i = 0; i < below.count; i++) {
        struct segment rest = below.items[i];

        while (next < above.count && above.items[next].from_ps < rest.to_ps) {
            const struct segment *over = &above.items[next];

            line_add(&made, rest.from_ps, over->from_ps, rest.kind);
            line_add(&made, over->from_ps, over->to_ps, over->kind);
            next++;
            if (over->to_ps > rest.from_ps)
                rest.from_ps = over->to_ps;
        }
        line_add(&made, rest.from_ps, rest.to_ps, rest.kind);
        /* What was laid above may reach into the next ones below. */
        while (i + 1 < below.count && below.items[i + 1].to_ps <= rest.from_ps)
            i++;
        if (i + 1 < below.count && below.items[i + 1].from_ps < rest.from_ps)
            below.items[i + 1].from_ps = rest.from_ps;
    }
    for (; next < above.count; next++)
        line_add(&made, above.items[next].from_ps, above.items[next].to_ps, above.items[next].kind);
    free(below.items);
    free(above.items);
    return made;
}

/* The order in which kinds win where several run at once. */
static const enum kind telling[KIND_COUNT] = {
    KIND_COMPUTE, KIND_COMMUNICATION, KIND_COPY, KIND_INPUT, KIND_COMPILE, KIND_HOST, KIND_OTHER,
};

static int by_from(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;

    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

/* Segments that may overlap, by start -> the most telling kind at each moment. A kind lasts until
 * the latest end of those of it that have begun. */
static struct line most_telling(const struct segment *intervals, uint32_t count)
{
    struct line made = {0};
    int64_t until_ps[KIND_COUNT], now_ps = INT64_MIN;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        until_ps[kind] = INT64_MIN;
    for (uint32_t i = 0; i <= count; i++) {
        int64_t next_ps = i < count ? intervals[i].from_ps : INT64_MAX;

        for (int order = 0; order < KIND_COUNT && now_ps < next_ps;) {
            enum kind kind = telling[order];
            int64_t to_ps = until_ps[kind] < next_ps ? until_ps[kind] : next_ps;

            line_add(&made, now_ps, to_ps, kind);
            if (to_ps > now_ps) {
                now_ps = to_ps;
                order = 0;
            } else {
                order++;
            }
        }
        now_ps = next_ps;
        if (i < count && intervals[i].to_ps > until_ps[intervals[i].kind])
            until_ps[intervals[i].kind] = intervals[i].to_ps;
    }
    return made;
}

static struct line device_line(const struct host_trace *host, struct window window)
{
    const struct attribution *attribution = host->attribution;
    struct segment *intervals;
    uint32_t count = 0;

    if (attribution == NULL || attribution->entry_count == 0)
        return (struct line){0};
    intervals = memory_resize(NULL, attribution->entry_count, sizeof(*intervals));
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = &attribution->entries[attribution->by_device_time[i]];

        if (entry->dur_ps <= 0 || entry->start_ps >= window.to_ps ||
            entry->start_ps + entry->dur_ps <= window.from_ps)
            continue;
        intervals[count++] = (struct segment){entry->start_ps, entry->start_ps + entry->dur_ps,
                                              attribution->ops[entry->op].kind};
    }
    /* Those of one device come in order. */
    for (uint32_t i = 1; i < count; i++) {
        if (intervals[i].from_ps < intervals[i - 1].from_ps) {
            qsort(intervals, count, sizeof(*intervals), by_from);
            break;
        }
    }

    struct line line = most_telling(intervals, count);

    free(intervals);
    return line;
}

struct skipped { /* step slices, ascending: they say when, not what */
    const slice_id *slices;
    uint32_t count;
};

static bool is_skipped(const struct skipped *skipped, slice_id slice)
{
    uint32_t low = 0, high = skipped->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (skipped->slices[middle] < slice)
            low = middle + 1;
        else
            high = middle;
    }
    return low < skipped->count && skipped->slices[low] == slice;
}

static struct line row_line(const struct trace *trace, const struct row *row, struct window window,
                            const struct skipped *skipped, struct chunk *chunk)
{
    struct line line = {0};
    uint32_t first, end;

    row_window(trace, row, window.from_ps, window.to_ps, &first, &end);
    for (uint32_t at = first; at < end;) {
        uint32_t offset = at / CHUNK_SLICES * CHUNK_SLICES;

        chunk_unpack(trace, row->first_chunk + at / CHUNK_SLICES,
                     COLUMN_START | COLUMN_DUR | COLUMN_NAME, chunk);
        for (; at < end && at - offset < chunk->count; at++) {
            uint32_t i = at - offset;

            if (!is_skipped(skipped, chunk->first_slice + i))
                line_add(&line, chunk->start_ps[i], chunk->start_ps[i] + chunk->dur_ps[i],
                         (enum kind)chunk->kind[i]);
        }
        if (at < end && at - offset < CHUNK_SLICES)
            break; /* a damaged chunk reads as empty */
    }
    return line;
}

/* Deeper rows over shallower ones, pair by pair, so that each segment is moved log(depth) times. */
static struct line thread_line(const struct trace *trace, track_id id, struct window window,
                               const struct skipped *skipped)
{
    const struct track *track = &trace->tracks[id];
    uint32_t count = track->row_count;
    struct line *lines = memory_resize(NULL, (size_t)count + 1, sizeof(*lines));
    struct chunk *chunk = memory_resize(NULL, 1, sizeof(*chunk)); /* 160 KB: not on a stack */

    lines[0] = (struct line){0};
    for (uint32_t i = 0; i < count; i++)
        lines[i] = row_line(trace, &trace->rows[track->first_row + i], window, skipped, chunk);
    for (; count > 1; count = (count + 1) / 2) {
        for (uint32_t i = 0; i < count / 2; i++)
            lines[i] = overlay(lines[2 * i], lines[2 * i + 1]);
        if (count % 2 != 0)
            lines[count / 2] = lines[count - 1];
    }

    struct line line = lines[0];

    free(chunk);
    free(lines);
    return line;
}

/* The thread that is there longest stands for the host where no step says which. */
static track_id longest_thread(const struct trace *trace)
{
    track_id best = NO_TRACK;
    int64_t best_ps = 0;

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->kind == TRACK_THREAD && track->device < 0 && !track->derived &&
            track->end_ps - track->start_ps > best_ps) {
            best = id;
            best_ps = track->end_ps - track->start_ps;
        }
    }
    return best;
}

static struct line host_line(const struct host_trace *host, track_id thread, struct window window,
                             const struct skipped *skipped)
{
    struct line devices = device_line(host, window);

    if (thread == NO_TRACK)
        return devices;
    return overlay(thread_line(host->trace, thread, window, skipped), devices);
}

static void sum_line(const struct line *line, int64_t from_ps, int64_t to_ps,
                     int64_t ret[KIND_COUNT + 1])
{
    uint32_t low = 0, high = line->count;

    memset(ret, 0, (KIND_COUNT + 1) * sizeof(*ret));
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (line->items[middle].to_ps <= from_ps)
            low = middle + 1;
        else
            high = middle;
    }
    ret[KIND_IDLE] = to_ps - from_ps;
    for (; low < line->count && line->items[low].from_ps < to_ps; low++) {
        const struct segment *segment = &line->items[low];
        int64_t begin_ps = segment->from_ps > from_ps ? segment->from_ps : from_ps;
        int64_t end_ps = segment->to_ps < to_ps ? segment->to_ps : to_ps;

        ret[segment->kind] += end_ps - begin_ps;
        ret[KIND_IDLE] -= end_ps - begin_ps;
    }
}

void breakdown_of(const struct host_trace *host, int64_t start_ps, int64_t end_ps,
                  int64_t ret[KIND_COUNT + 1])
{
    struct window window = {start_ps - host->offset_ps, end_ps - host->offset_ps};
    struct skipped none = {0};
    struct line line = host_line(host, longest_thread(host->trace), window, &none);

    sum_line(&line, window.from_ps, window.to_ps, ret);
    free(line.items);
}

static int by_id(const void *left, const void *right)
{
    slice_id a = *(const slice_id *)left, b = *(const slice_id *)right;

    return (a > b) - (a < b);
}

/* One line for all steps of a host. */
static void break_down_host(const struct run_traces *run, uint32_t index, struct steps *steps)
{
    const struct host_trace *host = &run->hosts[index];
    struct window hull = {.from_ps = INT64_MAX, .to_ps = INT64_MIN};
    slice_id *slices = memory_resize(NULL, steps->count, sizeof(*slices));
    struct skipped skipped = {.slices = slices};
    track_id thread = NO_TRACK;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t from_ps = step->start_ps - host->offset_ps;

        if (step->host != index)
            continue;
        if (from_ps < hull.from_ps)
            hull.from_ps = from_ps;
        if (from_ps + step->dur_ps > hull.to_ps)
            hull.to_ps = from_ps + step->dur_ps;
        if (step->slice == NO_SLICE)
            continue;
        slices[skipped.count++] = step->slice;

        track_id track = host->trace->rows[trace_row_of(host->trace, step->slice)].track;

        if (thread == NO_TRACK && host->trace->tracks[track].device < 0)
            thread = track;
    }
    if (hull.from_ps < hull.to_ps) {
        qsort(slices, skipped.count, sizeof(*slices), by_id);
        /* Marks may stand on a line of their own, with nothing that says what was done. */
        if (thread == NO_TRACK || host->trace->tracks[thread].slice_count <= skipped.count)
            thread = longest_thread(host->trace);

        struct line line = host_line(host, thread, hull, &skipped);

        for (uint32_t i = 0; i < steps->count; i++) {
            struct step *step = &steps->items[i];
            int64_t from_ps = step->start_ps - host->offset_ps;

            if (step->host == index)
                sum_line(&line, from_ps, from_ps + step->dur_ps, step->kinds_ps);
        }
        free(line.items);
    }
    free(slices);
}

void steps_breakdown(const struct run_traces *run, struct steps *steps)
{
    for (uint32_t host = 0; host < run->host_count; host++)
        break_down_host(run, host, steps);
}
