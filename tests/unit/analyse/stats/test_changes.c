/* SPDX-License-Identifier: Apache-2.0 */
/* Change points: found where they were made, none where there is none. */
#include "check.h"

#include <math.h>

#include "analyse/stats/changes.h"
#include "base/arena.h"

enum { VALUES_MAX = 256 };

static uint64_t seed = 1;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

static void make(int64_t *values, uint32_t count, double level, double noise)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int64_t)(1e9 * level * (1 + noise * normal()));
}

static void by_hand(void **state)
{
    static const struct {
        const char *what;
        uint32_t count;
        int64_t values[20];
        uint32_t segments, second;
    } rows[] = {
        {"nothing", 0, {0}, 0, 0},
        {"one", 1, {5}, 1, 0},
        {"all alike", 12, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 1, 0},
        {"one jump", 14, {10, 11, 10, 12, 11, 10, 11, 20, 21, 20, 22, 21, 20, 21}, 2, 7},
        {"a jump of the finest", 14, {1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2}, 2, 7},
        {"a stray run", 14, {10, 11, 10, 12, 11, 10, 99, 11, 10, 12, 11, 10, 11, 12}, 1, 0},
        {"too few to say", 4, {1, 1, 9, 9}, 1, 0},
        {"as far as numbers go",
         12,
         {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX,
          INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
         2,
         6},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct level *levels;
        uint32_t count = changes_find(rows[i].values, rows[i].count, arena, &levels);

        CHECK_INT(rows[i].what, count, rows[i].segments);
        if (count > 1)
            CHECK_INT(rows[i].what, levels[1].first, rows[i].second);
        for (uint32_t k = 0; k < count; k++)
            CHECK_INT("one after another", levels[k].first, k == 0 ? 0 : levels[k - 1].end);
        arena_destroy(arena);
    }
}

static void levels_are_medians_with_noise(void **state)
{
    static const int64_t values[] = {10, 12, 11, 10, 11, 12, 11};
    struct arena *arena = arena_create();
    struct level *levels;
    (void)state;

    CHECK_INT("one", changes_find(values, COUNT(values), arena, &levels), 1);
    CHECK_INT("median", levels[0].median, 11);
    CHECK_INT("low", levels[0].low, 8);
    CHECK_INT("high", levels[0].high, 14);
    arena_destroy(arena);
}

/* Of noise alone a jump is seen in fewer than 1 of 100 series; one of three deviations nearly
 * always, within two runs of where it is. */
static void noise_and_jumps(void **state)
{
    enum { ROUNDS = 400, HALF = 30 };
    uint32_t wolves = 0, found = 0;
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        struct arena *arena = arena_create();
        int64_t values[2 * HALF];
        struct level *levels;

        make(values, 2 * HALF, 1, 0.05);
        wolves += changes_find(values, 2 * HALF, arena, &levels) > 1;
        make(values + HALF, HALF, 1.15, 0.05);
        found += changes_find(values, 2 * HALF, arena, &levels) == 2 &&
                 levels[1].first + 2 >= HALF && levels[1].first <= HALF + 2;
        arena_destroy(arena);
    }
    CHECK("quiet", wolves * 100 < ROUNDS);
    CHECK("found", found * 10 >= ROUNDS * 9);
}

/* A machine that others use is slow for some runs and fast for some. What drifts is no jump, a jump
 * far beyond the drift is one. */
static void what_drifts_does_not_jump(void **state)
{
    static const struct {
        const char *what;
        double alike;
        int runs;
        uint32_t wolves_most, found_least; /* of a thousand */
    } rows[] = {
        {"not alike", 0, 40, 10, 990},
        {"a little", 0.3, 40, 20, 990},
        {"alike", 0.6, 20, 30, 400},
        {"alike, more runs", 0.6, 40, 30, 800},
        {"alike, many runs", 0.6, 100, 25, 990},
        {"much alike", 0.8, 40, 50, 500},
        {"much alike, many runs", 0.8, 100, 40, 950},
    };
    enum { ROUNDS = 1000 };
    (void)state;

    for (size_t row = 0; row < COUNT(rows); row++) {
        uint32_t wolves = 0, found = 0;
        double r = rows[row].alike;

        for (int round = 0; round < ROUNDS; round++) {
            struct arena *arena = arena_create();
            int64_t values[VALUES_MAX];
            struct level *levels;
            double away = normal();

            for (int i = 0; i < rows[row].runs; i++) {
                away = r * away + sqrt(1 - r * r) * normal();
                values[i] = (int64_t)(1e9 * (1 + 0.05 * away));
            }
            wolves += changes_find(values, (uint32_t)rows[row].runs, arena, &levels) > 1;
            for (int i = rows[row].runs / 2; i < rows[row].runs; i++)
                values[i] += 300000000; /* six deviations */
            found += changes_find(values, (uint32_t)rows[row].runs, arena, &levels) > 1;
            arena_destroy(arena);
        }
        CHECK(rows[row].what, wolves <= rows[row].wolves_most);
        CHECK(rows[row].what, found >= rows[row].found_least);
    }
}

static void there_and_back(void **state)
{
    enum { PART = 20 };
    struct arena *arena = arena_create();
    int64_t values[3 * PART];
    struct level *levels;
    (void)state;

    for (int part = 0; part < 3; part++)
        make(values + PART * part, PART, part == 1 ? 1.3 : 1, 0.02);
    CHECK_INT("three levels", changes_find(values, 3 * PART, arena, &levels), 3);
    CHECK_INT("up", levels[1].first, PART);
    CHECK_INT("down", levels[2].first, 2 * PART);
    arena_destroy(arena);
}

/* Another unit, or any other stretch of the values, has the same jumps. */
static void stretching_changes_nothing(void **state)
{
    int unlike = 0; /* a split that was settled elsewhere may just fail to be a jump */
    (void)state;

    for (int round = 0; round < 50; round++) {
        struct arena *arena = arena_create();
        int64_t values[VALUES_MAX], stretched[VALUES_MAX];
        struct level *before, *after;

        for (int i = 0; i < 8; i++)
            make(values + 32 * (size_t)i, 32, 1 + 0.3 * uniform(), 0.05);
        for (int i = 0; i < VALUES_MAX; i++)
            stretched[i] = values[i] / 1000 * (values[i] / 1000);
        uint32_t count = changes_find(values, VALUES_MAX, arena, &before);
        CHECK("some", count > 1);
        bool alike = changes_find(stretched, VALUES_MAX, arena, &after) == count;
        for (uint32_t i = 0; alike && i < count; i++)
            alike = after[i].first <= before[i].first + 2 && before[i].first <= after[i].first + 2;
        unlike += !alike;
        arena_destroy(arena);
    }
    CHECK("nearly the same places", unlike <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),         cmocka_unit_test(levels_are_medians_with_noise),
        cmocka_unit_test(noise_and_jumps), cmocka_unit_test(what_drifts_does_not_jump),
        cmocka_unit_test(there_and_back),  cmocka_unit_test(stretching_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
