/* SPDX-License-Identifier: Apache-2.0 */
/* Places in what is in order: against a walk from the front, and at the ends of each type. */
#include "base/bisect.h"

#include "check.h"

enum { VALUES = 6 };

static const int64_t values[VALUES] = {INT64_MIN, 3, 3, 3, 7, INT64_MAX};

static void places(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t first, end;
        int64_t value;
        uint32_t lower, upper;
    } rows[] = {
        {"the first value", 0, 6, INT64_MIN, 0, 1},
        {"equal ones", 0, 6, 3, 1, 4},
        {"between two", 0, 6, 5, 4, 4},
        {"the last value", 0, 6, INT64_MAX, 5, 6},
        {"above all", 0, 5, 8, 5, 5},
        {"below all", 1, 6, 2, 1, 1},
        {"of one, it", 4, 5, 7, 4, 5},
        {"of one, less", 4, 5, 6, 4, 4},
        {"of one, more", 4, 5, 8, 5, 5},
        {"of equal ones alone", 1, 4, 3, 1, 4},
        {"of none", 3, 3, 3, 3, 3},
        {"of none, at the front", 0, 0, 3, 0, 0},
        {"of a range that ends before it begins", 4, 2, 3, 4, 4},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].what, BISECT(rows[i].first, rows[i].end, at, values[at] < rows[i].value),
                  rows[i].lower);
        CHECK_INT(rows[i].what, BISECT(rows[i].first, rows[i].end, at, values[at] <= rows[i].value),
                  rows[i].upper);
    }
}

/* Every range of every length, split at every place. */
static void splits(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 20; first++)
        for (uint32_t end = first; end < 40; end++)
            for (uint32_t split = 0; split < 42; split++) {
                uint32_t walked = first;

                while (walked < end && walked < split)
                    walked++;
                CHECK_INT("a place", BISECT(first, end, i, i < split), walked);
            }
}

/* No sum of two places wraps: the largest of their types lie behind one another. */
static void wide(void **state)
{
    (void)state;
    CHECK_INT("of 32 bits", BISECT(UINT32_MAX - 2, UINT32_MAX, i, i < UINT32_MAX - 1),
              UINT32_MAX - 1);
    CHECK_INT("of 64 bits",
              BISECT(UINT64_MAX - 2, UINT64_MAX, i, i < UINT64_MAX - 1) == UINT64_MAX - 1, 1);
    CHECK_INT("0 and a bound of 64 bits", BISECT(0, UINT64_C(1) << 40, i, i < UINT64_C(1) << 39),
              INT64_C(1) << 39);
    CHECK_INT("below zero", BISECT(-5, 5, i, i < -3), -3);
}

/* The bounds are expressions that run once. */
static void once(void **state)
{
    (void)state;
    uint32_t first = 0, end = VALUES;

    CHECK_INT("a place", BISECT(first++, end--, i, values[i] < 7), 4);
    CHECK_INT("the first bound ran", first, 1);
    CHECK_INT("the second bound ran", end, VALUES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(splits),
        cmocka_unit_test(wide),
        cmocka_unit_test(once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
