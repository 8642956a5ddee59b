/* Where time went: the pieces of a host's line, cut at the edges of what is asked for.
 *
 *   line      | compute | input |  copy  |    host    |
 *   windows       |---------------|    |---------|         each gets what it holds of them
 *
 * Time is parted among processors, so that each pulls a line of its own.
 */
#include <stdlib.h>

#include "analyse/breakdown_line.h"
#include "analyse/split.h"
#include "analyse/steps.h"

struct asked { /* a window, by start; ends ascend too */
    struct window window;
    int64_t *kinds_ps; /* KIND_COUNT and idle */
};

struct breaking {
    const struct host_trace *host;
    track_id thread;
    const struct skipped *skipped;
    const struct asked *asked;
    uint32_t asked_count;
    struct window hull; /* of them */
    uint32_t part_count;
    int64_t (*sums_ps[SPLIT_PARTS_MAX])[KIND_COUNT]; /* by part, by window */
};

static void sum_part(void *data, uint32_t part)
{
    const struct breaking *breaking = data;
    const struct window *hull = &breaking->hull;
    uint64_t span_ps = (uint64_t)hull->to_ps - (uint64_t)hull->from_ps;
    struct window window = {
        hull->from_ps + (int64_t)split_begin(span_ps, part, breaking->part_count),
        hull->from_ps + (int64_t)split_begin(span_ps, part + 1, breaking->part_count)};
    struct line *line = line_open(breaking->host, breaking->thread, window, breaking->skipped);
    struct piece piece;
    uint32_t first = 0;

    while (line_next(line, &piece)) {
        if (piece.from_ps < window.from_ps)
            piece.from_ps = window.from_ps;
        if (piece.to_ps > window.to_ps)
            piece.to_ps = window.to_ps;
        while (first < breaking->asked_count &&
               breaking->asked[first].window.to_ps <= piece.from_ps)
            first++;
        for (uint32_t i = first; i < breaking->asked_count; i++) {
            const struct window *asked = &breaking->asked[i].window;

            if (asked->from_ps >= piece.to_ps)
                break;

            int64_t from_ps = piece.from_ps > asked->from_ps ? piece.from_ps : asked->from_ps;
            int64_t to_ps = piece.to_ps < asked->to_ps ? piece.to_ps : asked->to_ps;

            if (to_ps > from_ps)
                breaking->sums_ps[part][i][piece.kind] += to_ps - from_ps;
        }
    }
    line_close(line);
}

/* Slices and ops that are walked over, about. */
static uint64_t count_items(const struct breaking *breaking)
{
    const struct trace *trace = breaking->host->trace;
    const struct attribution *attribution = breaking->host->attribution;

    return (attribution == NULL ? 0 : attribution->entry_count) +
           (breaking->thread == NO_TRACK ? 0 : trace->tracks[breaking->thread].slice_count);
}

static void break_down(struct breaking *breaking)
{
    breaking->part_count = split_count(count_items(breaking));
    for (uint32_t part = 0; part < breaking->part_count; part++) {
        breaking->sums_ps[part] =
            calloc((size_t)breaking->asked_count + 1, sizeof(*breaking->sums_ps[part]));
        if (breaking->sums_ps[part] == NULL)
            abort(); /* out of memory: as base/arena.h says */
    }
    split_run(breaking->part_count, sum_part, breaking);
    for (uint32_t i = 0; i < breaking->asked_count; i++) {
        const struct asked *asked = &breaking->asked[i];

        memset(asked->kinds_ps, 0, (KIND_COUNT + 1) * sizeof(*asked->kinds_ps));
        asked->kinds_ps[KIND_IDLE] = asked->window.to_ps - asked->window.from_ps;
        for (uint32_t part = 0; part < breaking->part_count; part++) {
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                asked->kinds_ps[kind] += breaking->sums_ps[part][i][kind];
                asked->kinds_ps[KIND_IDLE] -= breaking->sums_ps[part][i][kind];
            }
        }
    }
    for (uint32_t part = 0; part < breaking->part_count; part++)
        free(breaking->sums_ps[part]);
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

void breakdown_of(const struct host_trace *host, int64_t start_ps, int64_t end_ps,
                  int64_t ret[KIND_COUNT + 1])
{
    struct skipped none = {0};
    struct asked asked = {.window = {start_ps - host->offset_ps, end_ps - host->offset_ps},
                          .kinds_ps = ret};
    struct breaking breaking = {
        .host = host,
        .thread = longest_thread(host->trace),
        .skipped = &none,
        .asked = &asked,
        .asked_count = 1,
        .hull = asked.window,
    };

    break_down(&breaking);
}

static int by_id(const void *left, const void *right)
{
    slice_id a = *(const slice_id *)left, b = *(const slice_id *)right;

    return (a > b) - (a < b);
}

/* One walk for all steps of a host. */
static void break_down_host(const struct run_traces *run, uint32_t index, struct steps *steps)
{
    const struct host_trace *host = &run->hosts[index];
    slice_id *slices = memory_resize(NULL, steps->count, sizeof(*slices));
    struct asked *asked = memory_resize(NULL, steps->count, sizeof(*asked));
    struct skipped skipped = {.slices = slices};
    struct breaking breaking = {.host = host,
                                .thread = NO_TRACK,
                                .skipped = &skipped,
                                .asked = asked,
                                .hull = {.from_ps = INT64_MAX, .to_ps = INT64_MIN}};

    for (uint32_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        struct window window = {step->start_ps - host->offset_ps,
                                step->start_ps - host->offset_ps + step->dur_ps};

        if (step->host != index)
            continue;
        asked[breaking.asked_count++] = (struct asked){window, step->kinds_ps};
        if (window.from_ps < breaking.hull.from_ps)
            breaking.hull.from_ps = window.from_ps;
        if (window.to_ps > breaking.hull.to_ps)
            breaking.hull.to_ps = window.to_ps;
        if (step->slice == NO_SLICE)
            continue;
        slices[skipped.count++] = step->slice;

        track_id track = host->trace->rows[trace_row_of(host->trace, step->slice)].track;

        if (breaking.thread == NO_TRACK && host->trace->tracks[track].device < 0)
            breaking.thread = track;
    }
    if (breaking.hull.from_ps < breaking.hull.to_ps) {
        qsort(slices, skipped.count, sizeof(*slices), by_id);
        /* Marks may stand on a line of their own, with nothing that says what was done. */
        if (breaking.thread == NO_TRACK ||
            host->trace->tracks[breaking.thread].slice_count <= skipped.count)
            breaking.thread = longest_thread(host->trace);
        break_down(&breaking);
    }
    free(asked);
    free(slices);
}

void steps_breakdown(const struct run_traces *run, struct steps *steps)
{
    for (uint32_t host = 0; host < run->host_count; host++)
        break_down_host(run, host, steps);
}
