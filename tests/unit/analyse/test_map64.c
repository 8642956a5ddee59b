#include "check.h"

#include "analyse/map64.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_what_was_put)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
