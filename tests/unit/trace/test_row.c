/* SPDX-License-Identifier: Apache-2.0 */
/* Slices found in a row by time and by number, against a search by hand. */
#include <stdlib.h>

#include "picture.h"
#include "trace/readers.h"
#include "trace/writers.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* One row of several chunks with gaps, neighbours that touch, and instants in pairs. */
static void feed(struct sink *sink, void *data)
{
    track_id track =
        sink_track(sink, (struct sink_track){.parent = NO_TRACK, .name = STR("t"), .device = -1});
    name_id name = sink_name(sink, STR("x"));
    uint64_t seed = 11;
    int64_t at = -5000, ended = -5001;

    for (uint32_t i = 0; data && i < *(const uint32_t *)data; i++)
        sink_slice(sink, (struct sink_slice){.track = track, .start_ps = at - 100, .name = name});
    for (uint32_t i = 0; i < 9000; i++) {
        struct sink_slice slice = {.track = track, .start_ps = at, .name = name};
        if (at > ended && next_random(&seed) % 4 == 0) {
            sink_slice(sink, slice);
            sink_slice(sink, slice);
            at++;
            continue;
        }
        slice.dur_ps = 1 + (int64_t)(next_random(&seed) % 6);
        sink_slice(sink, slice);
        ended = at + slice.dur_ps;
        at = ended + (int64_t)(next_random(&seed) % 3);
    }
}

struct columns { /* of the one row, by trace_slice */
    struct slice *slices;
    uint32_t count;
};

static struct columns read_row(const struct trace *trace, struct arena *arena)
{
    struct columns ret = {.count = trace->rows[0].count};

    ret.slices = arena_array(arena, struct slice, ret.count);
    for (uint32_t i = 0; i < ret.count; i++)
        ret.slices[i] = trace_slice(trace, i);
    return ret;
}

static uint32_t find_by_hand(const struct columns *row, int64_t at)
{
    for (uint32_t i = 0; i < row->count; i++) {
        const struct slice *slice = &row->slices[i];
        if (slice->start_ps + slice->dur_ps > at || (slice->dur_ps == 0 && slice->start_ps == at))
            return i;
    }
    return row->count;
}

static uint32_t start_by_hand(const struct columns *row, int64_t at)
{
    for (uint32_t i = 0; i < row->count; i++)
        if (row->slices[i].start_ps >= at)
            return i;
    return row->count;
}

static void windows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed, NULL, arena);
    const struct row *row = &trace->rows[0];
    struct columns columns = read_row(trace, arena);
    uint64_t seed = 3;

    CHECK("several chunks", row->chunk_count >= 3 && trace->row_count == 1);
    for (int i = 0; i < 3000; i++) {
        int64_t span = trace->end_ps - trace->start_ps + 20;
        int64_t from = trace->start_ps - 10 + (int64_t)(next_random(&seed) % (uint64_t)span);
        int64_t to = from + (int64_t)(next_random(&seed) % 200);
        uint32_t first, end, want = find_by_hand(&columns, from);
        uint32_t want_end = start_by_hand(&columns, to);

        CHECK_INT("find", row_find(trace, row, from), want);
        row_window(trace, row, from, to, &first, &end);
        CHECK_INT("first", first, want);
        CHECK_INT("end", end, want_end > want ? want_end : want);
    }
    uint32_t first, end;
    row_window(trace, row, INT64_MIN, INT64_MAX, &first, &end);
    CHECK_INT("everything", end - first, row->count);
    CHECK_INT("behind the end", row_find(trace, row, trace->end_ps + 1), row->count);
    arena_destroy(arena);
}

/* Where a chunk ends with an instant, and the next begins with one, or with none. */
static void at_the_ends_of_chunks(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 12; before++) {
        struct arena *arena = arena_create();
        const struct trace *trace = picture_fed(feed, &before, arena);
        struct columns columns = read_row(trace, arena);

        for (uint32_t i = CHUNK_SLICES - 6; i < CHUNK_SLICES + 6; i++) {
            const struct slice *slice = &columns.slices[i];
            int64_t end = slice->start_ps + slice->dur_ps;

            CHECK_INT("at a start", row_find(trace, &trace->rows[0], slice->start_ps),
                      find_by_hand(&columns, slice->start_ps));
            CHECK_INT("at an end", row_find(trace, &trace->rows[0], end),
                      find_by_hand(&columns, end));
        }
        arena_destroy(arena);
    }
}

static void chunks_and_samples(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed, NULL, arena);
    struct columns columns = read_row(trace, arena);
    struct chunk *chunk = arena_new(arena, struct chunk);
    uint32_t sample_count;
    const struct slice_sample *samples = row_samples(trace, 0, &sample_count);
    int64_t before = 0;

    CHECK_INT("samples", sample_count, (columns.count + 31) / 32);
    for (uint32_t i = 0; i < columns.count; i++) {
        const struct slice *slice = &columns.slices[i];
        const uint32_t at = i % CHUNK_SLICES;
        const struct slice_sample *sample = &samples[i / SAMPLE_SLICES];

        if (at == 0)
            chunk_unpack(trace, trace->rows[0].first_chunk + i / CHUNK_SLICES, 127, chunk);
        CHECK_INT("start", chunk->start_ps[at], slice->start_ps);
        CHECK_INT("dur", chunk->dur_ps[at], slice->dur_ps);
        CHECK_INT("self", chunk->self_ps[at], slice->self_ps);
        CHECK_INT("name", chunk->name[at], slice->name);
        CHECK_INT("parent", chunk->parent[at], slice->parent);
        CHECK_INT("event", chunk->event[at], slice->event);
        CHECK_INT("flags", chunk->flags[at], slice->flags);
        if (i % SAMPLE_SLICES == 0) {
            CHECK_INT("sampled start", sample->start_ps, slice->start_ps);
            CHECK_INT("sum before", sample->dur_before, before);
        }
        const struct slice *longest =
            &columns.slices[i / SAMPLE_SLICES * SAMPLE_SLICES + sample->longest];
        CHECK("longest", longest->dur_ps >= slice->dur_ps);
        before += slice->dur_ps;
    }
    arena_destroy(arena);
}

static void many_events(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace =
        picture_trace("a\n  5 +5 x\n  0 +20 y\n  7 +1 z\nb\n  0 +1 u\n  3 +1 v\n", arena);
    event_id wanted[] = {0, 1, 2, 3, 4, 99};
    slice_id found[COUNT(wanted)];

    trace_slices_of_events(trace, wanted, COUNT(wanted), found);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT("each", trace_slice(trace, found[i]).event, wanted[i]);
    CHECK_INT("none", found[5], NO_SLICE);
    trace_slices_of_events(trace, wanted + 2, 1, found);
    CHECK_INT("one", trace_slice(trace, found[0]).event, 2);
    CHECK_INT("outside", trace_row_of(trace, 5), NO_ROW);
    CHECK_INT("outside", trace_slice(trace, 5).parent, NO_SLICE);
    CHECK_INT("no event", trace_slice_of_event(trace, 5), NO_SLICE);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(at_the_ends_of_chunks),
        cmocka_unit_test(chunks_and_samples),
        cmocka_unit_test(many_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
