/* SPDX-License-Identifier: Apache-2.0 */
/* Parents of intervals that nest, overlap, and belong to several groups. */
#include "check.h"

#include <stdio.h>

#include "analyse/scan/nest.h"

struct interval {
    int64_t start_ps, end_ps;
    int parent; /* -1: none */
    int64_t covers_ps;
};

static void check_row(const char *what, const struct interval *intervals, uint32_t count)
{
    struct nest nest = nest_create(1);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = 99;
        int64_t covered_ps = -1;
        bool inside = nest_push(&nest, 0, i, intervals[i].end_ps, intervals[i].start_ps,
                                intervals[i].end_ps, &parent, &covered_ps);

        CHECK_INT(what, inside ? (int)parent : -1, intervals[i].parent);
        if (inside)
            CHECK_INT(what, covered_ps, intervals[i].covers_ps);
    }
    nest_free(&nest);
}

static void parents(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct interval intervals[5];
        uint32_t count;
    } rows[] = {
        {"one after the other", {{0, 5, -1, 0}, {5, 9, -1, 0}}, 2},
        {"inside", {{0, 9, -1, 0}, {2, 4, 0, 2}, {5, 6, 0, 1}}, 3},
        {"grandchild", {{0, 9, -1, 0}, {2, 8, 0, 6}, {3, 4, 1, 1}}, 3},
        {"equal: the earlier is the parent", {{0, 9, -1, 0}, {0, 9, 0, 9}}, 2},
        {"overlapping siblings cover once", {{0, 9, -1, 0}, {1, 5, 0, 4}, {3, 8, 0, 3}}, 3},
        {"behind an overlap the later one holds",
         {{0, 9, -1, 0}, {1, 5, 0, 4}, {3, 8, 0, 3}, {4, 5, 2, 1}},
         4},
        {"overlap at the top", {{0, 5, -1, 0}, {3, 8, -1, 0}, {4, 5, 1, 1}}, 3},
        {"instant at the end", {{0, 5, -1, 0}, {5, 5, 0, 0}}, 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(rows[i].what, rows[i].intervals, rows[i].count);
}

static void groups(void **state)
{
    (void)state;
    struct nest nest = nest_create(2);
    uint32_t parent;
    int64_t covered_ps;

    CHECK("first", !nest_push(&nest, 0, 0, 9, 0, 9, &parent, &covered_ps));
    CHECK("of another group", !nest_push(&nest, 1, 1, 4, 1, 4, &parent, &covered_ps));
    CHECK("of its group", nest_push(&nest, 0, 2, 4, 1, 4, &parent, &covered_ps));
    CHECK_INT("of its group", parent, 0);
    nest_free(&nest);
}

static void many_open(void **state)
{
    (void)state;
    struct nest nest = nest_create(1);

    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t parent = 0;
        int64_t covered_ps;
        bool inside = nest_push(&nest, 0, i, 5000 - i, i, 5000 - i, &parent, &covered_ps);

        CHECK_INT("deep", inside ? (int)parent : -1, (int)i - 1);
    }
    nest_free(&nest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents),
        cmocka_unit_test(groups),
        cmocka_unit_test(many_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
