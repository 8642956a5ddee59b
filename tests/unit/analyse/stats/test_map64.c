/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table keeps what was put, and keys that a file chose do not collide. */
#include <time.h>

#include "check.h"

#include "analyse/stats/map64.h"

static void keeps_what_was_put(void **state)
{
    (void)state;
    struct map64 map = {0};
    uint32_t value = 0;

    CHECK("nothing yet", !map64_get(&map, 0, &value));
    for (uint32_t i = 0; i < 100000; i++)
        *map64_at(&map, (uint64_t)i << 32, 0) = i;
    for (uint32_t i = 0; i < 100000; i++) {
        if (!map64_get(&map, (uint64_t)i << 32, &value) || value != i)
            CHECK_INT("kept", value, i);
    }
    CHECK("not there", !map64_get(&map, 1, &value));
    CHECK_INT("fresh", *map64_at(&map, 1, 7), 7);
    CHECK_INT("known", *map64_at(&map, 1, 9), 7);
    CHECK_INT("count", map.count, 100001);
    CHECK_INT("pair", (int64_t)map64_pair(1, 2), 0x100000002);
    map64_free(&map);
}

/* The key that a mixing without a secret, by multiplication and shifts, sends to `place`. */
static uint64_t key_to(uint64_t place)
{
    uint64_t inverse = 1;

    place ^= place >> 29 ^ place >> 58;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - 0x9E3779B97F4A7C15ULL * inverse;
    place *= inverse;
    return place ^ place >> 32;
}

static clock_t time_of(uint64_t (*key)(uint64_t), uint64_t stride)
{
    enum { KEYS = 30000 };
    struct map64 map = {0};
    clock_t begin = clock();

    for (uint64_t i = 0; i < KEYS; i++)
        *map64_at(&map, key(i * stride), 0) = 1;
    CHECK_INT("all there", map.count, KEYS);
    map64_free(&map);
    return clock() - begin;
}

static uint64_t itself(uint64_t key)
{
    return key;
}

/* Keys that would all stand in one place, and multiples of a power of two. */
static void no_file_knows_the_places(void **state)
{
    (void)state;
    clock_t usual = time_of(itself, 1);

    CHECK("all to one place", time_of(key_to, 1 << 20) < 20 * usual + CLOCKS_PER_SEC / 10);
    CHECK("high halves", time_of(itself, UINT64_C(1) << 32) < 20 * usual + CLOCKS_PER_SEC / 10);
    CHECK("multiples", time_of(itself, 1 << 20) < 20 * usual + CLOCKS_PER_SEC / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_what_was_put),
                                       cmocka_unit_test(no_file_knows_the_places)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
