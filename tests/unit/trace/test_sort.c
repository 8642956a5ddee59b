/* SPDX-License-Identifier: Apache-2.0 */
/* A sort of more than fits into memory: each comes once and in order. */
#include <stdlib.h>

#include "check.h"
#include "trace/sink/sort.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static bool in_order(const struct unsorted *a, const struct unsorted *b)
{
    if (a->track != b->track)
        return a->track < b->track;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps;
    return a->event < b->event;
}

/* Each comes once and in order, from memory and from many runs on disk. */
static void each_once_in_order(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t count, tracks, span;
    } rows[] = {
        {"none", 0, 1, 1},
        {"one", 1, 1, 1},
        {"a few", 17, 2, 5},
        {"one run", 200000, 3, 1000},
        {"exactly one run", 1 << 18, 1, 1 << 30},
        {"three runs and a bit", 3 * (1 << 18) + 5, 50, 100000},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        const uint32_t count = rows[row].count;
        struct error err = {0};
        struct sorter *sorter = sorter_create(NULL, UINT64_C(1) << 30);
        uint8_t *seen = calloc(count + 1, 1);
        struct unsorted last = {0}, slice;
        uint64_t seed = 42 + row;
        uint32_t got = 0;

        assert_non_null(seen);
        for (uint32_t i = 0; i < count; i++) {
            slice = (struct unsorted){.start_ps = (int64_t)(next_random(&seed) % rows[row].span),
                                      .dur_ps = (int64_t)(next_random(&seed) % 5),
                                      .track = (uint32_t)next_random(&seed) % rows[row].tracks,
                                      .event = i,
                                      .named = i * 3};
            CHECK_OK(rows[row].what, sorter_put(sorter, &slice, &err), &err);
        }
        CHECK_OK(rows[row].what, sorter_start(sorter, &err), &err);
        for (; sorter_next(sorter, &slice, &err); last = slice) {
            if (got++ > 0 && !in_order(&last, &slice))
                check_failed(__FILE__, __LINE__, rows[row].what, "slice %u is out of order", got);
            if (slice.named != slice.event * 3 || seen[slice.event]++)
                check_failed(__FILE__, __LINE__, rows[row].what, "event %u again", slice.event);
        }
        CHECK_INT(rows[row].what, got, count);
        CHECK_INT(rows[row].what, err.code, OK);
        free(seen);
        sorter_destroy(sorter);
    }
}

static void too_much(void **state)
{
    (void)state;
    struct error err = {0};
    struct sorter *sorter = sorter_create(NULL, 1 << 20);
    enum status status = OK;

    for (uint32_t i = 0; i < 1 << 19 && status == OK; i++)
        status = sorter_put(sorter, &(struct unsorted){.event = i}, &err);
    CHECK_INT("limit", status, ERR_LIMIT);
    sorter_destroy(sorter);
    sorter_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_once_in_order),
        cmocka_unit_test(too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
