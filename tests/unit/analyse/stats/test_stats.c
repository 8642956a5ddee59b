/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists against each other. The p values are those of scipy.stats.mannwhitneyu, exact without
 * ties and up to 400 pairs, else asymptotic. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/stats/stats.h"

enum { LIST_MAX = 32 };

static void mann_whitney_tests(void **state)
{
    static const struct {
        const char *what;
        uint32_t a_count, b_count;
        int64_t a[LIST_MAX], b[LIST_MAX];
        double p;
    } rows[] = {
        {"three below three", 3, 3, {1, 2, 3}, {4, 5, 6}, 0.1},
        {"one tie", 5, 5, {1, 2, 3, 4, 5}, {3, 6, 7, 8, 9}, 0.046532985074510584},
        {"many ties",
         8,
         8,
         {10, 12, 11, 13, 12, 11, 10, 14},
         {12, 13, 15, 14, 16, 13, 12, 15},
         0.01919806193687092},
        {"twenty and twenty, one after another",
         20,
         20,
         {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38},
         {7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45},
         0.0859140199856938},
        {"of different lengths",
         6,
         5,
         {3, 1, 4, 15, 9, 26},
         {5, 35, 8, 97, 93},
         0.12554112554112554},
        {"one and one", 1, 1, {1}, {2}, 1},
        {"equal", 3, 3, {5, 5, 5}, {5, 5, 5}, 1},
        {"nothing", 0, 3, {0}, {5, 5, 5}, 1},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        double p = mann_whitney(rows[i].a, rows[i].a_count, rows[i].b, rows[i].b_count);
        double back = mann_whitney(rows[i].b, rows[i].b_count, rows[i].a, rows[i].a_count);

        CHECK(rows[i].what, fabs(p - rows[i].p) < 1e-12);
        CHECK(rows[i].what, fabs(p - back) < 1e-12);
    }
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void medians(void **state)
{
    (void)state;
    srand(7);
    for (uint32_t count = 1; count < 200; count++) {
        int64_t values[200], sorted[200];

        for (uint32_t i = 0; i < count; i++)
            sorted[i] = values[i] = rand() % (int)(count < 100 ? 1000 : 5) - 2;
        qsort(sorted, count, sizeof *sorted, ascending);
        int64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
        CHECK_INT("as sorting finds it", median_of(values, count), low + (high - low) / 2);
    }
    CHECK_INT("of nothing", median_of(NULL, 0), 0);
}

/* A value about a middle, nearly normal. */
static int64_t noisy(double middle, double deviation)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)rand() / RAND_MAX;
    return (int64_t)(middle * (1 + deviation * (sum - 6)));
}

/* Of lists with one middle the interval holds 0 about 95 times of 100; a shift of 10 % at 5 % noise
 * is nearly always outside of it. */
static void intervals(void **state)
{
    enum { ROUNDS = 400, STEPS = 20 };
    uint32_t holds_zero = 0, finds = 0;
    (void)state;

    srand(11);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t a[STEPS], b[STEPS], slower[STEPS];

        for (int i = 0; i < STEPS; i++) {
            a[i] = noisy(1e9, 0.05);
            b[i] = noisy(1e9, 0.05);
            slower[i] = noisy(1.1e9, 0.05);
        }
        struct shift same = shift_of(a, STEPS, b, STEPS, 0.95);
        struct shift shifted = shift_of(a, STEPS, slower, STEPS, 0.95);

        CHECK("ordered", same.low <= same.delta && same.delta <= same.high);
        holds_zero += same.low <= 0 && same.high >= 0;
        finds += shifted.low > 0 && shifted.p < 0.01;
    }
    CHECK("of equals it holds zero", holds_zero >= ROUNDS * 92 / 100);
    CHECK("a shift is found", finds >= ROUNDS * 97 / 100);
}

static void few(void **state)
{
    const int64_t a[] = {100}, b[] = {130, 110, 120};
    (void)state;

    struct shift shift = shift_of(a, 1, b, 3, 0.95);
    CHECK_INT("median of three", shift.b_median, 120);
    CHECK_INT("delta", shift.delta, 20);
    CHECK("one value has no interval", shift.low == 20 && shift.high == 20);
    struct shift again = shift_of(a, 1, b, 3, 0.95);
    CHECK("the same again", again.low == shift.low && again.p == shift.p);
    shift = shift_of(b, 3, b, 3, 0.95);
    CHECK_INT("against itself", shift.delta, 0);
    CHECK("around zero", shift.low <= 0 && shift.high >= 0 && shift.p == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mann_whitney_tests),
        cmocka_unit_test(medians),
        cmocka_unit_test(intervals),
        cmocka_unit_test(few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
