/* SPDX-License-Identifier: Apache-2.0 */
/* How long a screen of tiles takes, at any zoom of ten million slices.
 *
 *   bench_tiles [--slices 10000000] [--dir /dev/shm] [--only steps|even|burst]
 *
 * Three traces, made from a seed:
 *
 *   steps   200 tracks of very different sizes, up to six deep; 200 steps with gaps between them,
 *           every 50th four times as dense
 *   even    60 tracks of equal size without a gap: the worst screen
 *   burst   one track; half of its slices lie in a thousandth of the time
 *
 * CPU time of this thread, 200 random windows over thirteen zooms from everything to a millionth;
 * half of them at a random time, half at a random slice. A screen is 60 rows, 1,600 pixels wide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/segment.h"
#include "trace/levels/pyramid.h"
#include "trace/levels/tile.h"
#include "trace/sink.h"

enum { STEP_COUNT = 200, NAME_COUNT = 5000, WINDOW_COUNT = 200, ZOOM_COUNT = 13, SCREEN_ROWS = 60 };

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t end)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 20) % end;
}

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

struct maker {
    struct sink *sink;
    name_id names[NAME_COUNT];
    uint64_t left; /* slices to make on this track */
    track_id process;
    uint32_t track_count;
};

static void make_slice(struct maker *maker, track_id track, int64_t start_ps, int64_t dur_ps)
{
    uint64_t name = random_below(NAME_COUNT) * random_below(NAME_COUNT) / NAME_COUNT;

    maker->left--;
    sink_slice(maker->sink,
               (struct sink_slice){.track = track,
                                   .start_ps = start_ps,
                                   .dur_ps = dur_ps,
                                   .name = maker->names[name],
                                   .kind = (enum kind)((track + name % 3) % KIND_COUNT)});
}

/* A slice and what it calls. */
static void make_nested(struct maker *maker, track_id track, int64_t start_ps, int64_t dur_ps,
                        int depth)
{
    make_slice(maker, track, start_ps, dur_ps);
    for (int64_t at = dur_ps / 10; depth > 0 && maker->left > 0 && at < dur_ps;) {
        int64_t dur = dur_ps / 5 + (int64_t)random_below((uint64_t)dur_ps / 5 + 1);

        if (at + dur > dur_ps)
            break;
        make_nested(maker, track, start_ps + at, dur, depth - 1 - (int)random_below(2));
        at += dur + dur_ps / 20 + 1;
    }
}

/* `count` slices over `span` from `start`, with what they call. */
static void make_stretch(struct maker *maker, track_id track, int64_t start_ps, int64_t span_ps,
                         uint64_t count, int depth)
{
    int64_t each = span_ps / (int64_t)(count + 1);
    uint64_t before = maker->left;

    for (int64_t at = start_ps; before - maker->left < count && at < start_ps + span_ps;) {
        uint64_t done = before - maker->left;
        int64_t dur = 1 + (int64_t)random_below((uint64_t)each + 1);

        make_nested(maker, track, at, dur, depth);
        at += (int64_t)(before - maker->left - done) * each; /* what it called counts too */
    }
}

/* Every 40 tracks have a process. */
static track_id make_track(struct maker *maker, uint64_t count)
{
    if (maker->track_count++ % 40 == 0)
        maker->process = sink_track(maker->sink, (struct sink_track){.parent = NO_TRACK,
                                                                     .kind = TRACK_PROCESS,
                                                                     .name = STR("process"),
                                                                     .device = -1});
    maker->left = count;
    return sink_track(maker->sink, (struct sink_track){.parent = maker->process,
                                                       .kind = TRACK_THREAD,
                                                       .role = ROLE_HOST,
                                                       .name = STR("track"),
                                                       .device = -1});
}

static void make_steps(struct maker *maker, uint64_t slices)
{
    const int64_t step_ps = INT64_C(1000000000000); /* a second */
    double weight_sum = 0;

    for (int i = 0; i < 200; i++)
        weight_sum += 1.0 / (3 + i);
    for (int i = 0; i < 200; i++) {
        uint64_t count = (uint64_t)((double)slices / (3 + i) / weight_sum);
        track_id track = make_track(maker, count);

        for (int step = 0; step < STEP_COUNT; step++)
            make_stretch(maker, track, step * step_ps, step_ps * 6 / 10,
                         count / (STEP_COUNT + 12) * (step % 50 == 49 ? 4 : 1), i % 7 == 0 ? 5 : 1);
        sink_track_end(maker->sink, track);
    }
}

static void make_even(struct maker *maker, uint64_t slices)
{
    for (int i = 0; i < SCREEN_ROWS; i++) {
        track_id track = make_track(maker, slices / SCREEN_ROWS);

        make_stretch(maker, track, 0, INT64_C(200000000000000), slices / SCREEN_ROWS, 0);
        sink_track_end(maker->sink, track);
    }
}

static void make_burst(struct maker *maker, uint64_t slices)
{
    const int64_t span_ps = INT64_C(100000000000000);
    track_id track = make_track(maker, slices);

    make_stretch(maker, track, 0, span_ps, slices / 4, 0);
    make_stretch(maker, track, span_ps, span_ps / 1000, slices / 2, 0);
    make_stretch(maker, track, span_ps * 2, span_ps, slices / 4, 0);
}

typedef void make_trace(struct maker *maker, uint64_t slices);

static struct segment *make(make_trace *make_slices, uint64_t slices, const char *path)
{
    struct segment_writer *writer;
    struct segment *segment;
    struct error err = {0};
    struct maker maker = {.left = 0};

    if (segment_writer_open(path, &writer, &err) != OK)
        goto failed;
    maker.sink = sink_create(segment_writer_out(writer), &budget_default, (struct sink_hooks){0},
                             NULL, &err);
    sink_format(maker.sink, "made");
    for (int i = 0; i < NAME_COUNT; i++) {
        char name[32];

        snprintf(name, sizeof(name), "operation_%d", i);
        maker.names[i] = sink_name(maker.sink, str_of(name));
    }
    make_slices(&maker, slices);

    double before = now_ms();

    if (sink_finish(maker.sink, &err) != OK)
        goto failed;
    fprintf(stderr, "%s: finished in %.0f ms\n", path, now_ms() - before);
    sink_destroy(maker.sink);
    if (segment_writer_commit(writer, "00000000000000000000000000000000", &err) != OK ||
        segment_open(path, &segment, &err) != OK)
        goto failed;
    return segment;
failed:
    fprintf(stderr, "bench_tiles: %s\n", err.message);
    exit(1);
}

static int by_value(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

static void tell(const char *trace, const char *what, double *times, uint32_t count, double goal)
{
    qsort(times, count, sizeof(*times), by_value);
    printf("tiles.%s.%s.p50 %.4f ms -\n", trace, what, times[count / 2]);
    printf("tiles.%s.%s.p99 %.4f ms <=%g\n", trace, what, times[count * 99 / 100], goal);
}

static const struct trace *sorted_trace;

static int by_size(const void *one, const void *other)
{
    uint32_t a = sorted_trace->rows[*(const row_id *)one].count;
    uint32_t b = sorted_trace->rows[*(const row_id *)other].count;

    return (a < b) - (a > b);
}

/* The longest rows, at most `count`. */
static uint32_t largest_rows(const struct trace *trace, row_id *ret, uint32_t count)
{
    row_id *rows = malloc(trace->row_count * sizeof(*rows));

    for (row_id row = 0; row < trace->row_count; row++)
        rows[row] = row;
    sorted_trace = trace;
    qsort(rows, trace->row_count, sizeof(*rows), by_size);
    count = count < trace->row_count ? count : trace->row_count;
    memcpy(ret, rows, count * sizeof(*rows));
    free(rows);
    return count;
}

struct window {
    int level;
    int64_t first_tile, end_tile;
};

static struct window random_window(const struct trace *trace, uint32_t zoom)
{
    int64_t span = trace->end_ps - trace->start_ps, at;
    struct window window = {.level = 0};

    for (uint32_t i = 0; i < zoom; i++)
        span = (int64_t)((double)span / 3.1622776601683795);
    span = span < 2048 ? 2048 : span;
    at = random_below(2)
             ? trace_slice(trace, (slice_id)random_below(trace->slice_count)).start_ps
             : trace->start_ps + (int64_t)random_below((uint64_t)(trace->end_ps - trace->start_ps));
    at -= span / 2;
    while ((span / 1600) >> window.level > 1)
        window.level++;
    window.first_tile = at >> window.level >> 10;
    window.end_tile = ((at + span) >> window.level >> 10) + 1;
    return window;
}

static void bench_screens(const char *name, const struct trace *trace, double goal)
{
    row_id rows[SCREEN_ROWS];
    uint32_t row_count = largest_rows(trace, rows, SCREEN_ROWS);
    double times[WINDOW_COUNT], worst_zoom[ZOOM_COUNT] = {0};
    struct tile *tile = malloc(sizeof(*tile));
    uint64_t cells = 0, cells_most = 0;

    tile_fold(trace, rows[0], TILE_LEVEL_MAX, 0, tile); /* tables are checked at the first touch */
    for (uint32_t i = 0; i < WINDOW_COUNT; i++) {
        struct window window = random_window(trace, i % ZOOM_COUNT);
        double begin = now_ms();

        cells = 0;
        for (uint32_t j = 0; j < row_count; j++)
            for (int64_t index = window.first_tile; index < window.end_tile; index++)
                tile_will_need(trace, rows[j], window.level, index);
        for (uint32_t j = 0; j < row_count; j++)
            for (int64_t index = window.first_tile; index < window.end_tile; index++) {
                tile_fold(trace, rows[j], window.level, index, tile);
                cells += tile->count;
            }
        times[i] = now_ms() - begin;
        cells_most = cells > cells_most ? cells : cells_most;
        worst_zoom[i % ZOOM_COUNT] =
            times[i] > worst_zoom[i % ZOOM_COUNT] ? times[i] : worst_zoom[i % ZOOM_COUNT];
    }
    fprintf(stderr, "%s: worst by zoom", name);
    for (uint32_t i = 0; i < ZOOM_COUNT; i++)
        fprintf(stderr, " %.2f", worst_zoom[i]);
    fprintf(stderr, "; at most %llu cells\n", (unsigned long long)cells_most);
    tell(name, "screen", times, WINDOW_COUNT, goal);
    free(tile);
}

/* A closed group of the first 40 tracks, the largest, as one row. */
static void bench_summary(const char *name, const struct trace *trace)
{
    double times[WINDOW_COUNT];
    struct tile_summary *summary = malloc(sizeof(*summary));
    for (uint32_t i = 0; i < WINDOW_COUNT; i++) {
        struct window window = random_window(trace, i % ZOOM_COUNT);
        double begin = now_ms();

        for (int64_t index = window.first_tile; index < window.end_tile; index++)
            tile_summary(trace, 0, window.level, index, summary);
        times[i] = now_ms() - begin;
    }
    tell(name, "summary", times, WINDOW_COUNT, 5);
    free(summary);
}

static void bench_hit(const char *name, const struct trace *trace)
{
    enum { HITS = 20000 };
    row_id row;
    int64_t span;
    uint64_t sum = 0;

    largest_rows(trace, &row, 1);
    span = trace->rows[row].end_ps - trace->rows[row].start_ps;

    double begin = now_ms();

    for (int i = 0; i < HITS; i++) {
        int64_t at = trace->rows[row].start_ps + (int64_t)random_below((uint64_t)span);
        uint32_t ordinal = row_find(trace, &trace->rows[row], at);

        if (ordinal < trace->rows[row].count)
            sum += trace_slice(trace, trace->rows[row].first_slice + ordinal).name;
    }
    printf("tiles.%s.hit %.4f us <=1\n", name, (now_ms() - begin) * 1000 / HITS);
    fprintf(stderr, "%s: %llu\n", name, (unsigned long long)sum);
}

static void tell_sizes(const struct trace *trace)
{
    const struct {
        const char *what;
        enum table_kind kind;
    } tables[] = {
        {"samples", TABLE_SAMPLES32},         {"cells", TABLE_PYRAMID_CELLS},
        {"kind cells", TABLE_KIND_CELLS},     {"by name", TABLE_BY_NAME},
        {"runs by name", TABLE_BY_NAME_RUNS},
    };
    struct block_in in = trace->parts->in;

    for (size_t i = 0; i < COUNT(tables); i++)
        fprintf(stderr, "  %s %.2f B a slice\n", tables[i].what,
                (double)in.table(in.from, tables[i].kind).count / (double)trace->slice_count);
}

int main(int argc, char **argv)
{
    uint64_t slices = 10000000;
    const char *dir = "/dev/shm", *only = NULL;
    char path[512];
    const struct {
        const char *name;
        make_trace *make;
        double goal; /* of a screen, without encoding: half of a reply's 15 ms */
    } traces[] = {
        {"steps", make_steps, 8},
        {"even", make_even, 8},
        {"burst", make_burst, 5},
    };

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--slices") == 0)
            slices = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--dir") == 0)
            dir = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
    }
    for (size_t i = 0; i < COUNT(traces); i++) {
        if (only != NULL && strcmp(only, traces[i].name) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/bench_tiles.%d.segment", dir, (int)getpid());
        struct segment *segment = make(traces[i].make, slices, path);
        const struct trace *trace = segment_trace(segment);

        fprintf(stderr, "%s: %llu slices, %u rows\n", traces[i].name,
                (unsigned long long)trace->slice_count, trace->row_count);
        tell_sizes(trace);
        bench_screens(traces[i].name, trace, traces[i].goal);
        bench_summary(traces[i].name, trace);
        bench_hit(traces[i].name, trace);
        segment_close(segment);
        unlink(path);
    }
    return 0;
}
