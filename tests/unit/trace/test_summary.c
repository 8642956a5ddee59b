/* SPDX-License-Identifier: Apache-2.0 */
/* Self time by kind against brute force: each slice's interval without those of its children. */
#include "trace/levels/summary.h"

#include <stdlib.h>

#include "made_trace.h"

/* Slices up to four deep, kinds at random; the stream has one. */
static void nest(struct made *made, struct dice *dice, track_id track, int64_t start_ps,
                 int64_t dur_ps, int depth)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    enum kind kind = track == 6 ? KIND_HOST : (enum kind)dice_below(dice, KIND_COUNT);

    made_slice(made, track, start_ps, dur_ps, names[kind], kind);
    for (int64_t at = 0; depth < 3 && dur_ps > 50;) {
        int64_t gap = (int64_t)dice_below(dice, (uint64_t)dur_ps / 3);
        int64_t dur = 1 + (int64_t)dice_below(dice, (uint64_t)dur_ps / 2);

        if (at + gap + dur > dur_ps)
            break;
        nest(made, dice, track, start_ps + at + gap, dur, depth + 1);
        at += gap + dur;
    }
}

static void fill_track(struct made *made, struct dice *dice, track_id track, uint32_t count,
                       int64_t first_ps)
{
    int64_t at = first_ps;

    for (uint32_t i = 0; i < count; i++) {
        int64_t dur = 1 + (int64_t)dice_below(dice, 5000);

        at += (int64_t)dice_below(dice, dice_below(dice, 50) == 0 ? 300000 : 3000);
        nest(made, dice, track, at, dur, 0);
        at += dur;
        if (i % 10 == 0) { /* one that overlaps the one before goes a row further than its parent */
            made_slice(made, track, at, 300, "outer", KIND_HOST);
            made_slice(made, track, at + 10, 100, "first", KIND_HOST);
            made_slice(made, track, at + 60, 200, "second", track == 6 ? KIND_HOST : KIND_INPUT);
            at += 300;
        }
    }
}

/*  process 0 ── thread 1 (long)  thread 2 (short)  steps 3 (container)  derived 4
 *  device  5 ── stream 6 (long, later, of one kind)  counter 7
 *  process 8   nothing
 */
static void build(struct made *made)
{
    struct dice dice = {.state = 11};

    made_begin(made);
    track_id host = made_track(made, "host", NO_TRACK, TRACK_PROCESS, ROLE_NONE, false);
    track_id large = made_track(made, "long", host, TRACK_THREAD, ROLE_HOST, false);
    track_id little = made_track(made, "short", host, TRACK_THREAD, ROLE_HOST, false);
    track_id steps = made_track(made, "steps", host, TRACK_STREAM, ROLE_STEPS, false);
    track_id derived = made_track(made, "derived", host, TRACK_STREAM, ROLE_OPS, true);
    track_id device = made_track(made, "device", NO_TRACK, TRACK_DEVICE, ROLE_NONE, false);
    track_id stream = made_track(made, "stream", device, TRACK_STREAM, ROLE_OPS, false);

    made_track(made, "counter", device, TRACK_COUNTER, ROLE_NONE, false);
    made_track(made, "nothing", NO_TRACK, TRACK_PROCESS, ROLE_NONE, false);
    fill_track(made, &dice, large, 1500, -700000);
    fill_track(made, &dice, little, 20, 0);
    fill_track(made, &dice, steps, 400, 0);
    fill_track(made, &dice, derived, 400, 0);
    fill_track(made, &dice, stream, 900, 4000000);
    made_finish(made);
}

enum { HOST = 0, LARGE = 1, LITTLE = 2, STEPS = 3, DERIVED = 4, DEVICE = 5, STREAM = 6 };

/* Adds what of [start, end) lies in each bucket. */
static void add_time(double (*buckets)[KIND_COUNT], int64_t first, uint32_t count, int level,
                     const struct slice *slice, enum kind kind, double sign)
{
    int64_t end_ps = slice->start_ps + slice->dur_ps;

    for (int64_t i = slice->start_ps >> level; i <= end_ps >> level; i++) {
        int64_t from = i * (INT64_C(1) << level), to = from + (INT64_C(1) << level);

        if (i < first || i >= first + count)
            continue;
        from = from < slice->start_ps ? slice->start_ps : from;
        to = to > end_ps ? end_ps : to;
        buckets[i - first][kind] += sign * (double)(to - from);
    }
}

static void brute_track(const struct made *made, track_id id, int64_t first, uint32_t count,
                        int level, double (*buckets)[KIND_COUNT])
{
    const struct track *track = &made->trace.tracks[id];

    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        const struct row *row = &made->trace.rows[track->first_row + depth];

        for (uint32_t i = 0; i < row->count; i++) {
            struct slice slice = trace_slice(&made->trace, row->first_slice + i);

            add_time(buckets, first, count, level, &slice, slice.kind, 1);
            if (slice.parent != NO_SLICE)
                add_time(buckets, first, count, level, &slice,
                         trace_slice(&made->trace, slice.parent).kind, -1);
        }
    }
}

static void check_share(const char *what, uint16_t got, double self_ps, uint32_t tracks, int level)
{
    double want = self_ps / tracks / (double)(INT64_C(1) << level) * 65535;

    if (got > want + 1.6 || got < want - 1.6)
        CHECK_INT(what, got, (int64_t)(want + 0.5));
}

static const struct {
    const char *what;
    track_id asked, tracks[4];
    uint32_t count;
} groups[] = {
    {"a stored track", LARGE, {LARGE}, 1},
    {"a short track", LITTLE, {LITTLE}, 1},
    {"a stream", STREAM, {STREAM}, 1},
    {"a process", HOST, {LARGE, LITTLE}, 2},
    {"a device", DEVICE, {STREAM}, 1},
    {"everything", NO_TRACK, {LARGE, LITTLE, STREAM}, 3},
    {"a container has no work", STEPS, {0}, 0},
    {"a derived one neither", DERIVED, {0}, 0},
    {"an empty process neither", 8, {0}, 0},
};

static void tiles_equal_brute_force(void **state)
{
    (void)state;
    struct made made;
    struct tile_summary *summary = malloc(sizeof(*summary));
    double(*want)[KIND_COUNT] = malloc(TILE_QUANTA * sizeof(*want));

    build(&made);
    CHECK("one track is stored", made.trace.tracks[LARGE].slice_count >= SUMMARY_SLICES_MIN);
    CHECK("one is not", made.trace.tracks[LITTLE].slice_count < SUMMARY_SLICES_MIN);
    for (size_t i = 0; i < COUNT(groups); i++)
        for (int level = 0; level <= TILE_LEVEL_MAX; level += level < 30 ? 1 : 11)
            for (int64_t index = level < 13 ? 0 : (made.trace.start_ps >> level >> 10);
                 index <= (level < 13 ? 1 : made.trace.end_ps >> level >> 10); index++) {
                memset(want, 0, TILE_QUANTA * sizeof(*want));
                for (uint32_t j = 0; j < groups[i].count; j++)
                    brute_track(&made, groups[i].tracks[j], index * TILE_QUANTA, TILE_QUANTA, level,
                                want);
                tile_summary(&made.trace, groups[i].asked, level, index, summary);
                for (uint32_t at = 0; at < TILE_QUANTA; at++)
                    for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
                        check_share(groups[i].what, summary->share[kind][at], want[at][kind],
                                    groups[i].count > 0 ? groups[i].count : 1, level);
            }
    free(want);
    free(summary);
    made_end(&made);
}

/* Over the whole trace the shares add up to the self time that slices hold. */
static void the_whole_is_the_sum_of_self(void **state)
{
    (void)state;
    struct made made;
    struct tile_summary *summary = malloc(sizeof(*summary));
    double self[KIND_COUNT] = {0};

    build(&made);
    const struct track *track = &made.trace.tracks[LARGE];
    int level = 0;

    while ((track->end_ps >> level >> 10) - (track->start_ps >> level >> 10) > 3)
        level++;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        const struct row *row = &made.trace.rows[track->first_row + depth];

        for (uint32_t i = 0; i < row->count; i++) {
            struct slice slice = trace_slice(&made.trace, row->first_slice + i);

            self[slice.kind] += (double)slice.self_ps;
        }
    }
    for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
        double sum = 0;

        for (int64_t index = track->start_ps >> level >> 10; index <= track->end_ps >> level >> 10;
             index++) {
            tile_summary(&made.trace, LARGE, level, index, summary);
            for (uint32_t at = 0; at < TILE_QUANTA; at++)
                sum += summary->share[kind][at] / 65535.0 * (double)(INT64_C(1) << level);
        }
        double off = sum > self[kind] ? sum - self[kind] : self[kind] - sum;

        CHECK("within a hundred thousandth of the time",
              off < 1e-5 * (double)(track->end_ps - track->start_ps));
    }
    free(summary);
    made_end(&made);
}

static void lanes_do_not_exceed_all(void **state)
{
    (void)state;
    struct made made;
    struct tile_summary *summary = malloc(sizeof(*summary));

    made_begin(&made);
    made_track(&made, "async", NO_TRACK, TRACK_ASYNC, ROLE_NONE, false);
    for (int i = 0; i < 400; i++)
        sink_slice(made.sink,
                   (struct sink_slice){.start_ps = 10 * i,
                                       .dur_ps = 40,
                                       .name = sink_name(made.sink, STR("copy")),
                                       .kind = i % 2 == 0 ? KIND_COPY : KIND_COMMUNICATION,
                                       .flags = SLICE_ASYNC});
    made_finish(&made);
    CHECK("lanes", made.trace.row_count >= 4);
    for (int level = 0; level < 20; level++) {
        tile_summary(&made.trace, 0, level, 0, summary);
        for (uint32_t at = 0; at < TILE_QUANTA; at++) {
            uint32_t copy = summary->share[KIND_COPY][at];
            uint32_t total = copy + summary->share[KIND_COMMUNICATION][at];

            CHECK("no more than all", total <= 65535);
            if (((int64_t)at << level) > 100 && ((int64_t)(at + 1) << level) < 3900) {
                CHECK("all the time something runs", total >= 65533);
                CHECK("half of it copies", copy > 32500 && copy < 33000);
            }
        }
    }
    free(summary);
    made_end(&made);
}

static void odd_questions(void **state)
{
    (void)state;
    struct made made;
    struct tile_summary *summary = malloc(sizeof(*summary));
    const struct {
        const char *what;
        track_id track;
        int level;
        int64_t index;
    } rows[] = {
        {"no such track", 99, 5, 0},
        {"level below 0", NO_TRACK, -1, 0},
        {"level above the last", NO_TRACK, 53, 0},
        {"far before", NO_TRACK, 0, INT64_MIN},
        {"far behind", NO_TRACK, 52, INT64_MAX},
    };

    build(&made);
    for (size_t i = 0; i < COUNT(rows); i++) {
        memset(summary, 1, sizeof(*summary));
        tile_summary(&made.trace, rows[i].track, rows[i].level, rows[i].index, summary);
        for (uint32_t at = 0; at < TILE_QUANTA; at++)
            CHECK_INT(rows[i].what, summary->share[0][at], 0);
    }
    free(summary);
    made_end(&made);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct made made;

    build(&made);
    struct block_in in = memory_blocks_in(made.blocks);
    struct summary_record *record =
        (struct summary_record *)(uintptr_t)in.table(in.from, TABLE_KIND_PYRAMIDS).at;
    const struct summary_record kept = *record;

    for (int i = 0; i < 6; i++) {
        *record = kept;
        record->track = i == 0 ? 99 : record->track;
        record->level_count = i == 1 ? 0 : i == 2 ? 40 : record->level_count;
        record->first_share = i == 3 ? 1 : 0;
        record->bucket_count = i == 4 ? 0 : record->bucket_count;
        record->first_bucket = i == 5 ? INT64_MAX : record->first_bucket;
        made.err.code = OK;
        CHECK_INT("broken", summaries_open(&made.trace, made.arena, &made.err), ERR_FORMAT);
    }
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_equal_brute_force), cmocka_unit_test(the_whole_is_the_sum_of_self),
        cmocka_unit_test(lanes_do_not_exceed_all), cmocka_unit_test(odd_questions),
        cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
