/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that are many, that collide, or that are absent. */
#include "check.h"
#include "decode/id_map.h"

/* Ids that step through all their bits, so that they meet in slots, and as many that are absent. */
static uint64_t nth(uint32_t n)
{
    return (uint64_t)n << (n % 50);
}

static void many(void **state)
{
    (void)state;
    struct id_map map = {0};
    uint32_t found = 0;
    bool is_new;

    CHECK("empty", !id_map_find(&map, 0, &found));
    for (uint32_t n = 1; n < 5000; n += 2) {
        bool known = id_map_find(&map, nth(n), &found);
        uint32_t value = id_map_add(&map, nth(n), n, &is_new);
        CHECK("new unless equal to an earlier one", is_new != known);
        CHECK("value", value == (known ? found : n));
        CHECK("absent", !id_map_find(&map, UINT64_MAX - n, &found));
    }
    for (uint32_t n = 1; n < 5000; n += 2)
        CHECK("present", id_map_find(&map, nth(n), &found) && nth(found) == nth(n));
    id_map_free(&map);
    CHECK("freed", !id_map_find(&map, 1, &found));
}

static void first_value_stays(void **state)
{
    (void)state;
    struct id_map map = {0};
    uint32_t found;
    bool is_new;

    CHECK_INT("first", id_map_add(&map, 0, 7, &is_new), 7);
    CHECK("first", is_new);
    CHECK_INT("again", id_map_add(&map, 0, 8, &is_new), 7);
    CHECK("again", !is_new);
    CHECK("zero is an id", id_map_find(&map, 0, &found) && found == 7);
    id_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many),
        cmocka_unit_test(first_value_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
