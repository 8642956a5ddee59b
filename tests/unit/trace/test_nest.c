/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and parents of drawn and random slices, against a model that spells the rule out. */
#include <stdlib.h>

#include "picture.h"
#include "trace/trace.h"

/* What is drawn comes back: ordered, shuffled, interleaved. */
static void pictures(void **state)
{
    (void)state;
    const struct {
        const char *what, *drawn, *want;
    } rows[] = {
        {"inside and beside",
         "GPU:0 / Stream #7\n"
         "  0 +30 step 1\n"
         "  10 +5 fusion.3\n"
         "  20 +8 all-reduce.1\n",
         "GPU:0 / Stream #7\n"
         "  0 +30 step 1\n"
         "    10 +5 fusion.3\n"
         "    20 +8 all-reduce.1\n"},
        {"the interval is closed at both ends", "t\n  0 +30 a\n  0 +30 b\n  0 +10 c\n  20 +10 d\n",
         "t\n  0 +30 a\n    0 +30 b\n      0 +10 c\n      20 +10 d\n"},
        {"a partial overlap goes one row further and keeps its parent",
         "t\n  0 +100 step\n  10 +30 a\n  15 +5 x\n  30 +20 b\n  60 +10 c\n",
         "t\n  0 +100 step\n    10 +30 a\n      15 +5 x\n      30 +20 b [partial]\n    60 +10 c\n"},
        {"a partial overlap at the top", "t\n  0 +10 a\n  5 +10 b\n  12 +10 c\n  30 +1 d\n",
         "t\n  0 +10 a\n    5 +10 b [partial]\n  12 +10 c [partial]\n  30 +1 d\n"},
        {"instants are no parents and lie beside each other",
         "t\n  0 +10 a\n  5 +0 i\n  5 +0 j\n  5 +0 k\n  10 +0 end\n  11 +0 after\n",
         "t\n  0 +10 a\n    5 +0 i\n    5 +0 j\n    5 +0 k\n    10 +0 end\n  11 +0 after\n"},
        {"out of order: children first", "t\n  10 +5 b\n  20 +8 c\n  0 +30 a\n",
         "t\n  0 +30 a\n    10 +5 b\n    20 +8 c\n"},
        {"out of order: ties by length, then file order",
         "t\n  5 +1 z\n  0 +4 b\n  0 +8 a\n  0 +4 c\n  5 +1 y\n",
         "t\n  0 +8 a\n    0 +4 b\n      0 +4 c\n    5 +1 z\n      5 +1 y\n"},
        {"out of order by length alone", "t\n  0 +4 b\n  0 +8 a\n", "t\n  0 +8 a\n    0 +4 b\n"},
        {"partial only until the order is known", "t\n  0 +10 a\n  5 +10 b\n  2 +18 c\n",
         "t\n  0 +10 a\n    2 +18 c [partial]\n      5 +10 b\n"},
        {"tracks interleaved, one of them out of order",
         "p / a\n  0 +10 x\np / b\n  5 +10 u\np / a\n  1 +2 y\np / b\n  0 +20 v\np / a\n  4 +2 z\n",
         "p / a\n  0 +10 x\n    1 +2 y\n    4 +2 z\np / b\n  0 +20 v\n    5 +10 u\n"},
        {"asynchronous slices take the first free lane and have no parent",
         "t\n  0 +10 a [async]\n  1 +3 b [async]\n  2 +10 c [async]\n  4 +1 d [async]\n",
         "t\n  0 +10 a [async]\n    1 +3 b [async]\n      2 +10 c [async]\n    4 +1 d [async]\n"},
        {"asynchronous and nested ones in one track",
         "t\n  0 +10 a\n  2 +2 in\n  3 +20 x [async]\n  10 +5 b\n  11 +1 in b\n",
         "t\n  0 +10 a\n    2 +2 in\n      3 +20 x [async]\n  10 +5 b\n    11 +1 in b\n"},
        {"times before zero", "t\n  -10 +10 a\n  -5 +1 b\n", "t\n  -10 +10 a\n    -5 +1 b\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        CHECK_PICTURE(rows[i].what, picture_trace(rows[i].drawn, arena), 0, rows[i].want);
        arena_destroy(arena);
    }
}

struct given { /* in file order */
    int64_t start_ps, dur_ps;
};

struct made {
    struct given *slices;
    uint32_t count, track_count;
    enum track_role role;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static void feed_made(struct sink *sink, void *data)
{
    const struct made *made = data;
    name_id name = sink_name(sink, STR("x"));

    for (uint32_t i = 0; i < made->track_count; i++)
        sink_track(sink,
                   (struct sink_track){
                       .parent = NO_TRACK, .name = STR("t"), .role = made->role, .device = -1});
    for (uint32_t i = 0; i < made->count; i++)
        sink_slice(sink, (struct sink_slice){.track = i % made->track_count,
                                             .start_ps = made->slices[i].start_ps,
                                             .dur_ps = made->slices[i].dur_ps,
                                             .name = name});
}

/* Is `a` before `b` in the order of nesting? */
static bool is_before(const struct made *made, uint32_t a, uint32_t b)
{
    const struct given *one = &made->slices[a], *other = &made->slices[b];

    if (one->start_ps != other->start_ps)
        return one->start_ps < other->start_ps;
    if (one->dur_ps != other->dur_ps)
        return one->dur_ps > other->dur_ps;
    return a < b;
}

/* The rule word by word, for one track: everything is pushed, also instants. */
static void model(const struct made *made, uint32_t track, int64_t *self_ps, bool *partial)
{
    uint32_t *order = calloc(made->count + 1, sizeof(*order));
    uint32_t *stack = calloc(made->count + 1, sizeof(*stack));
    uint32_t count = 0, depth = 0;

    assert_non_null(order);
    assert_non_null(stack);
    for (uint32_t i = track; i < made->count; i += made->track_count) {
        uint32_t at = count++;
        for (; at > 0 && is_before(made, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t i = order[at];
        const int64_t start = made->slices[i].start_ps, end = start + made->slices[i].dur_ps;

        self_ps[i] = made->slices[i].dur_ps;
        partial[i] = false;
        for (; depth > 0; depth--) {
            const struct given *top = &made->slices[stack[depth - 1]];
            if (top->start_ps <= start && end <= top->start_ps + top->dur_ps)
                break;
            partial[i] |= top->start_ps + top->dur_ps > start;
        }
        if (depth > 0)
            self_ps[stack[depth - 1]] -= made->slices[i].dur_ps;
        stack[depth++] = i;
    }
    free(order);
    free(stack);
}

static void check_made(const char *what, struct made *made)
{
    struct arena *arena = arena_create();
    int64_t *self_ps = calloc(made->count + 1, sizeof(*self_ps));
    bool *partial = calloc(made->count + 1, sizeof(*partial));
    const struct trace *trace = picture_fed(feed_made, made, arena);

    assert_non_null(self_ps);
    assert_non_null(partial);
    for (uint32_t track = 0; track < made->track_count; track++)
        model(made, track, self_ps, partial);
    CHECK_INT(what, trace->slice_count, made->count);
    for (slice_id id = 0; id < trace->slice_count; id++) {
        struct slice slice = trace_slice(trace, id);
        const struct row *row = &trace->rows[slice.row];

        CHECK_INT(what, row->track, slice.event % made->track_count);
        CHECK_INT(what, slice.start_ps, made->slices[slice.event].start_ps);
        CHECK_INT(what, slice.dur_ps, made->slices[slice.event].dur_ps);
        CHECK_INT(what, slice.self_ps, self_ps[slice.event]);
        CHECK_INT(what, (slice.flags & SLICE_PARTIAL) != 0, partial[slice.event]);
        CHECK_INT(what, trace_slice_of_event(trace, slice.event), id);
        if (slice.parent != NO_SLICE) {
            struct slice parent = trace_slice(trace, slice.parent);
            CHECK(what, parent.start_ps <= slice.start_ps &&
                            slice.start_ps + slice.dur_ps <= parent.start_ps + parent.dur_ps);
        }
        if (id > row->first_slice) {
            struct slice before = trace_slice(trace, id - 1);
            CHECK(what, before.start_ps + before.dur_ps <= slice.start_ps);
        }
    }
    free(self_ps);
    free(partial);
    arena_destroy(arena);
}

static void like_the_model(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t count, track_count, span, dur_max, shuffle; /* shuffle: of 256, how many swap */
        enum track_role role;
    } rows[] = {
        {"none", 0, 1, 10, 10, 0, ROLE_NONE},
        {"dense, in order", 3000, 1, 2000, 60, 0, ROLE_NONE},
        {"sparse, in order", 3000, 1, 100000, 60, 0, ROLE_NONE},
        {"many ties", 2000, 1, 40, 8, 0, ROLE_NONE},
        {"shuffled", 3000, 1, 3000, 200, 256, ROLE_NONE},
        {"nearly in order", 3000, 1, 30000, 200, 2, ROLE_NONE},
        {"interleaved, in order", 4000, 7, 5000, 100, 0, ROLE_NONE},
        {"interleaved, shuffled", 4000, 5, 5000, 100, 200, ROLE_NONE},
        {"long and short", 3000, 2, 100000, 50000, 0, ROLE_NONE},
        {"long and short, of threads", 3000, 2, 100000, 50000, 0, ROLE_HOST},
        {"dense, of threads", 3000, 1, 2000, 60, 0, ROLE_HOST},
        {"shuffled, of threads", 4000, 3, 3000, 900, 256, ROLE_HOST},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        uint64_t seed = 12345 + row;
        struct made made = {
            .count = rows[row].count, .track_count = rows[row].track_count, .role = rows[row].role};
        made.slices = calloc(made.count + 1, sizeof(*made.slices));
        assert_non_null(made.slices);
        for (uint32_t i = 0; i < made.count; i++) {
            bool instant = next_random(&seed) % 8 == 0;
            made.slices[i].start_ps = (int64_t)(next_random(&seed) % rows[row].span);
            made.slices[i].dur_ps = instant ? 0 : (int64_t)(next_random(&seed) % rows[row].dur_max);
        }
        /* In order first, as far as whole slices go; then swapped as the row says. */
        for (uint32_t i = 1; i < made.count; i++) {
            struct given moved = made.slices[i];
            uint32_t at = i;
            for (; at > 0 && (moved.start_ps < made.slices[at - 1].start_ps ||
                              (moved.start_ps == made.slices[at - 1].start_ps &&
                               moved.dur_ps > made.slices[at - 1].dur_ps));
                 at--)
                made.slices[at] = made.slices[at - 1];
            made.slices[at] = moved;
        }
        for (uint32_t i = 0; i < made.count; i++) {
            if (next_random(&seed) % 256 >= rows[row].shuffle)
                continue;
            uint32_t other = (uint32_t)(next_random(&seed) % made.count);
            struct given swapped = made.slices[i];
            made.slices[i] = made.slices[other];
            made.slices[other] = swapped;
        }
        check_made(rows[row].what, &made);
        free(made.slices);
    }
}

/* Children that lie in one slice and over each other for longer than an int64_t can count. */
static void children_longer_than_counted(void **state)
{
    (void)state;
    const int64_t day_ps = 86400 * INT64_C(1000000000000);
    const int64_t start_ps = -50 * day_ps;
    struct given slices[] = {{start_ps, 100 * day_ps},
                             {start_ps + 1, 60 * day_ps},
                             {start_ps + 2, 60 * day_ps},
                             {start_ps + 3, 60 * day_ps},
                             {start_ps + 4, 60 * day_ps}};
    struct made made = {slices, COUNT(slices), 1, ROLE_NONE};
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_made, &made, arena);

    CHECK_INT("slices", trace->slice_count, COUNT(slices));
    for (slice_id id = 0; id < trace->slice_count; id++) {
        const struct slice slice = trace_slice(trace, id);
        CHECK_INT("self", slice.self_ps,
                  slice.event == 0 ? 100 * day_ps - INT64_MAX : slice.dur_ps);
    }
    arena_destroy(arena);
}

/* On a thread, calls that a step begins in lie below it: no rows are empty but for them. */
static void short_ones_make_way(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct given slices[8];
        uint32_t count;
        enum track_role role;
        uint32_t depths[8];
    } rows[] = {
        {"a step is entered by calls, twice",
         {{-10, 4}, {-9, 3}, {-8, 200}, {20, 100}, {192, 4}, {193, 3}, {194, 200}, {200, 100}},
         8,
         ROLE_HOST,
         {1, 2, 0, 1, 1, 2, 0, 1}},
        {"within what lasts longer",
         {{0, 1000}, {1, 4}, {2, 3}, {4, 200}, {20, 100}},
         5,
         ROLE_HOST,
         {0, 2, 3, 1, 2}},
        {"as long as half of it", {{0, 100}, {2, 200}, {110, 5}}, 3, ROLE_HOST, {0, 1, 2}},
        {"of no thread", {{0, 4}, {1, 3}, {2, 200}, {20, 100}}, 4, ROLE_NONE, {0, 1, 2, 3}},
        {"given out of order", {{20, 100}, {2, 200}, {1, 3}, {0, 4}}, 4, ROLE_HOST, {1, 0, 2, 1}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct given slices[8];
        struct made made = {slices, rows[i].count, 1, rows[i].role};
        struct arena *arena = arena_create();

        memcpy(slices, rows[i].slices, sizeof(slices));
        const struct trace *trace = picture_fed(feed_made, &made, arena);
        for (uint32_t event = 0; event < rows[i].count; event++) {
            const struct slice slice = trace_slice(trace, trace_slice_of_event(trace, event));
            CHECK_INT(rows[i].what, trace->rows[slice.row].depth, rows[i].depths[event]);
        }
        check_made(rows[i].what, &made);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(like_the_model),
        cmocka_unit_test(children_longer_than_counted),
        cmocka_unit_test(short_ones_make_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
