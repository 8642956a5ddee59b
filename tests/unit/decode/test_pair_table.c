/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs put, found and removed at random, against a plain list. */
#include "check.h"
#include "decode/pair_table.h"

enum { SIDE = 40, STEPS = 200000 };

static void against_a_list(void **state)
{
    (void)state;
    static uint32_t list[SIDE][SIDE];
    struct pair_table table = {0};
    uint64_t chance = 1;
    uint32_t count = 0;

    for (uint32_t step = 1; step <= STEPS; step++) {
        chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t a = (uint32_t)(chance >> 33) % SIDE, b = (uint32_t)(chance >> 43) % SIDE;

        CHECK_INT("found", pair_table_find(&table, a, b), list[a][b] > 0 ? list[a][b] : PAIR_NONE);
        if (chance >> 63) {
            pair_table_remove(&table, a, b);
            count -= list[a][b] > 0;
            list[a][b] = 0;
        } else {
            uint32_t *index = pair_table_at(&table, a, b);

            CHECK_INT("there", *index, list[a][b] > 0 ? list[a][b] : PAIR_NONE);
            *index = step;
            count += list[a][b] == 0;
            list[a][b] = step;
        }
        CHECK_INT("count", table.count, count);
    }
    pair_table_free(&table);
    CHECK_INT("empty again", pair_table_find(&table, 1, 1), PAIR_NONE);
}

static void halves(void **state)
{
    (void)state;
    struct pair_table table = {0};

    *pair_table_at(&table, 1, 2) = 7;
    CHECK_INT("not the other way round", pair_table_find(&table, 2, 1), PAIR_NONE);
    CHECK_INT("high bits count", pair_table_find(&table, 1 | UINT64_C(1) << 63, 2), PAIR_NONE);
    CHECK_INT("itself", pair_table_find(&table, 1, 2), 7);
    pair_table_remove(&table, 2, 1);
    CHECK_INT("what is not there is not removed", table.count, 1);
    pair_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_list),
        cmocka_unit_test(halves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
