/* SPDX-License-Identifier: Apache-2.0 */
/* Calls come out in order with how often each came, whatever order streams gave them in. */
#include "check.h"

#include <stdlib.h>

#include "analyse/device/launch_calls.h"

enum { MOST = 4096 };

static int by_id(const void *left, const void *right)
{
    slice_id a = *(const slice_id *)left, b = *(const slice_id *)right;

    return (a > b) - (a < b);
}

/* Against qsort: all of them, their runs, and their number. */
static void check_sorted(const char *what, const slice_id *ids, uint32_t count)
{
    struct launch_calls calls = {0};
    slice_id want[MOST];
    uint32_t at = 0, different = 0;

    for (uint32_t i = 0; i < count; i++) {
        want[i] = ids[i];
        launch_calls_add(&calls, ids[i]);
    }
    launch_calls_add(&calls, NO_SLICE);
    qsort(want, count, sizeof *want, by_id);
    launch_calls_sort(&calls);
    CHECK_INT(what, calls.count, count);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(what, calls.calls[i], want[i]);
    for (uint32_t run; (run = launch_calls_run(&calls, at)) > 0; at += run, different++)
        CHECK("a run is of one", calls.calls[at] == calls.calls[at + run - 1]);
    CHECK_INT("runs are all", at, count);
    CHECK_INT("each call once, and what is unknown", launch_calls_count(&calls), different + 1);
    launch_calls_add(&calls, 7); /* there is room, or room is made */
    CHECK_INT("one more", calls.calls[count], 7);
    launch_calls_free(&calls);
}

static void in_any_order(void **state)
{
    static const uint32_t streams[] = {1, 2, 3, 5, 64, 65, 200, MOST};
    slice_id ids[MOST] = {0};
    uint32_t random = 1;

    (void)state;
    check_sorted("none", ids, 0);
    for (size_t s = 0; s < COUNT(streams); s++) {
        for (uint32_t i = 0; i < MOST; i++) {
            uint32_t each = MOST / streams[s], stream = i / each;

            ids[i] = (i % each) * 3 + stream % 3; /* each ascends; some calls launch several */
        }
        check_sorted("streams one after another", ids, MOST);
        check_sorted("one", ids, 1);
        check_sorted("a cut one", ids, MOST - 11);
    }
    for (uint32_t i = 0; i < MOST; i++) {
        random = random * 1664525 + 1013904223;
        ids[i] = random % 1000;
    }
    check_sorted("random", ids, MOST);
    for (uint32_t i = 0; i < MOST; i++)
        ids[i] = MOST - i;
    check_sorted("backwards", ids, MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_any_order)};

    return cmocka_run_group_tests_name("analyse/device/launch_calls", tests, NULL, NULL);
}
