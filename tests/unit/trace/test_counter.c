/* SPDX-License-Identifier: Apache-2.0 */
/* Counters against a plain list, folded by brute force. */
#include "trace/events/counter.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "trace/readers.h"
#include "trace/writers.h"

enum { TRACK_COUNT = 5 };

struct world {
    struct arena *arena;
    struct memory_blocks *blocks;
    struct budget budget;
    struct error err;
    struct trace_parts parts;
    struct trace trace;
};

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t end)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((random_state >> 33) % end);
}

static struct counter_writer *open_world(struct world *world)
{
    *world = (struct world){.arena = arena_create(), .budget = {.spill_bytes_max = 1 << 26}};
    world->blocks = memory_blocks_create(world->arena);
    world->parts.in = memory_blocks_in(world->blocks);
    world->trace = (struct trace){.track_count = TRACK_COUNT, .parts = &world->parts};
    return counter_writer_create(&(struct part_tools){
        .out = memory_blocks_out(world->blocks), .budget = &world->budget, .err = &world->err});
}

static void finish(struct world *world, struct counter_writer *writer)
{
    CHECK_OK("finish", counter_writer_finish(writer, &world->trace, &world->err), &world->err);
    counter_writer_destroy(writer);
    CHECK_OK("open", counters_open(&world->trace, world->arena, &world->err), &world->err);
}

typedef int64_t make_time(uint32_t i, uint32_t count);

static int64_t ascending(uint32_t i, uint32_t count)
{
    (void)count;
    return 10 * (int64_t)i - 500;
}

static int64_t descending(uint32_t i, uint32_t count)
{
    return (int64_t)(count - i);
}

static int64_t shuffled(uint32_t i, uint32_t count)
{
    (void)i;
    return random_below(count * 2) - (int64_t)count;
}

static int64_t equal(uint32_t i, uint32_t count)
{
    (void)i, (void)count;
    return 7;
}

static int64_t few_times(uint32_t i, uint32_t count)
{
    (void)i, (void)count;
    return random_below(9);
}

static int64_t two_halves(uint32_t i, uint32_t count)
{
    return i < count / 2 ? i + count : i;
}

static int64_t extremes(uint32_t i, uint32_t count)
{
    return i == 0 ? INT64_MIN : i == count - 1 ? INT64_MAX : (int64_t)i * 1000;
}

/* The value is the ordinal in the file, so that equal times show their order. */
static void samples_are_in_order(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t count;
        make_time *make;
    } rows[] = {
        {"one", 1, ascending},
        {"ascending", 1000, ascending},
        {"descending", 1000, descending},
        {"shuffled", 5000, shuffled},
        {"equal", 1000, equal},
        {"extremes", 50, extremes},
        {"many shuffled", 200000, shuffled},
        {"two long halves", 200000, two_halves},
        {"many descending", 200000, descending},
        {"many at few times", 200000, few_times},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world world;
        struct counter_writer *writer = open_world(&world);
        int64_t *times = arena_array(world.arena, int64_t, rows[i].count);

        for (uint32_t j = 0; j < rows[i].count; j++) {
            times[j] = rows[i].make(j, rows[i].count);
            counter_writer_sample(writer, 3, times[j], j);
        }
        finish(&world, writer);

        uint64_t count;
        const struct counter_sample *samples = trace_samples(&world.trace, 3, &count);

        CHECK_INT(rows[i].what, count, rows[i].count);
        for (uint64_t j = 0; j < count; j++) {
            CHECK_INT(rows[i].what, samples[j].at_ps, times[(size_t)samples[j].value]);
            if (j > 0 && samples[j - 1].at_ps == samples[j].at_ps)
                CHECK(rows[i].what, samples[j - 1].value < samples[j].value);
            if (j > 0)
                CHECK(rows[i].what, samples[j - 1].at_ps <= samples[j].at_ps);
        }
        arena_destroy(world.arena);
    }
}

static void tracks_are_apart(void **state)
{
    (void)state;
    struct world world;
    struct counter_writer *writer = open_world(&world);
    const struct {
        const char *what;
        track_id track;
        uint64_t count;
    } rows[] = {
        {"none below", 0, 0},
        {"two", 1, 2},
        {"none between", 2, 0},
        {"one", 4, 1},
    };

    counter_writer_sample(writer, 1, 5, 50);
    counter_writer_sample(writer, 4, 1, 40);
    counter_writer_sample(writer, 1, 3, 30);
    finish(&world, writer);
    CHECK_INT("all", world.trace.sample_count, 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t count;

        CHECK_INT(rows[i].what, trace_samples(&world.trace, rows[i].track, &count) != NULL,
                  rows[i].count > 0);
        CHECK_INT(rows[i].what, count, rows[i].count);
    }
    arena_destroy(world.arena);
}

/* Bucket i holds at with from + width * i / buckets <= at: told with 128 bits. */
static bool brute_bucket(const struct counter_sample *samples, uint64_t sample_count, int64_t from,
                         int64_t to, uint32_t buckets, uint32_t index, struct counter_bucket *ret)
{
    __extension__ typedef __int128 wide;
    wide width = (wide)to - from;
    int64_t start = (int64_t)(from + width * index / buckets);
    int64_t end = (int64_t)(from + width * (index + 1) / buckets);
    double before = 0;
    bool any_before = false;

    *ret = (struct counter_bucket){
        .from_ps = start, .to_ps = end, .min = (double)INFINITY, .max = -(double)INFINITY};
    for (uint64_t i = 0; i < sample_count; i++) {
        const struct counter_sample *sample = &samples[i];

        if (sample->at_ps < start) {
            before = sample->value;
            any_before = true;
        }
        if (sample->at_ps < start || sample->at_ps >= end)
            continue;
        if (ret->count++ == 0)
            ret->first = sample->at_ps == start || !any_before ? sample->value : before;
        ret->last = sample->value;
        ret->min = sample->value < ret->min ? sample->value : ret->min;
        ret->max = sample->value > ret->max ? sample->value : ret->max;
    }
    return ret->count > 0;
}

static void check_fold(const char *what, const struct world *world, int64_t from, int64_t to,
                       uint32_t buckets)
{
    uint64_t sample_count;
    const struct counter_sample *samples = trace_samples(&world->trace, 3, &sample_count);
    struct counter_bucket *got = arena_array(world->arena, struct counter_bucket, buckets + 1);
    uint32_t count = counter_fold(&world->trace, 3, from, to, buckets, got), at = 0;

    for (uint32_t i = 0; i < buckets; i++) {
        struct counter_bucket want;

        if (!brute_bucket(samples, sample_count, from, to, buckets, i, &want))
            continue;
        CHECK(what, at < count);
        CHECK_INT(what, got[at].from_ps, want.from_ps);
        CHECK_INT(what, got[at].to_ps, want.to_ps);
        CHECK_INT(what, got[at].count, want.count);
        CHECK(what, got[at].min == want.min && got[at].max == want.max);
        CHECK(what, got[at].first == want.first && got[at].last == want.last);
        at++;
    }
    CHECK_INT(what, count, at);
}

static void folds_equal_brute_force(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        struct world world;
        struct counter_writer *writer = open_world(&world);
        uint32_t count = round == 0 ? 1 : 1 + random_below(6000);
        int64_t spread = INT64_C(1) << (round * 3);

        for (uint32_t i = 0; i < count; i++)
            counter_writer_sample(writer, 3, (random_below(1000) - INT64_C(500)) * spread + i,
                                  random_below(1000) - 500.0);
        finish(&world, writer);
        check_fold("everything", &world, INT64_MIN, INT64_MAX, 100);
        check_fold("one bucket", &world, -500 * spread, 500 * spread, 1);
        check_fold("more buckets than picoseconds", &world, 0, 7, 20);
        for (int i = 0; i < 8; i++) {
            int64_t from = (random_below(1000) - INT64_C(500)) * spread;

            check_fold("a window", &world, from, from + random_below(500) * spread + 1,
                       1 + random_below(40));
        }
        arena_destroy(world.arena);
    }
}

static void odd_questions(void **state)
{
    (void)state;
    struct world world;
    struct counter_writer *writer = open_world(&world);
    struct counter_bucket bucket;

    counter_writer_sample(writer, 3, 5, (double)NAN);
    counter_writer_sample(writer, 3, 15, 1);
    finish(&world, writer);
    CHECK_INT("empty window", counter_fold(&world.trace, 3, 5, 5, 1, &bucket), 0);
    CHECK_INT("window behind", counter_fold(&world.trace, 3, 100, 200, 1, &bucket), 0);
    CHECK_INT("no buckets", counter_fold(&world.trace, 3, 0, 100, 0, &bucket), 0);
    CHECK_INT("no samples", counter_fold(&world.trace, 2, 0, 100, 1, &bucket), 0);
    CHECK_INT("only what is no number", counter_fold(&world.trace, 3, 0, 10, 1, &bucket), 1);
    CHECK("has no range", isnan(bucket.min) && isnan(bucket.max));
    CHECK_INT("beside a number", counter_fold(&world.trace, 3, 0, 20, 1, &bucket), 1);
    CHECK("has that range", bucket.min == 1 && bucket.max == 1);
    arena_destroy(world.arena);
}

static void damage_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 24; i++) {
        struct world world;
        struct counter_writer *writer = open_world(&world);

        counter_writer_sample(writer, 1, 5, 50);
        counter_writer_sample(writer, 2, 5, 50);
        finish(&world, writer);
        struct bytes table = world.parts.in.table(world.parts.in.from, TABLE_COUNTERS);

        ((uint8_t *)(uintptr_t)table.at)[8 + i] ^= 0x40;
        CHECK_INT("first and count", counters_open(&world.trace, world.arena, &world.err),
                  ERR_FORMAT);
        arena_destroy(world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_in_order),    cmocka_unit_test(tracks_are_apart),
        cmocka_unit_test(folds_equal_brute_force), cmocka_unit_test(odd_questions),
        cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
