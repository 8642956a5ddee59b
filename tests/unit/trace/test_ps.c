/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of times that no 64 bits hold end at the greatest there is. */
#include "trace/ps.h"

#include "check.h"

static void ends_at_the_bounds(void **state)
{
    (void)state;
    const int64_t half = INT64_C(1) << 62;
    const struct {
        const char *what;
        int64_t a, b, sum, apart; /* a - b */
    } rows[] = {
        {"usual", 5, -7, -2, 12},
        {"two halves", half, half, INT64_MAX, 0},
        {"halves apart", half, -half - 1, -1, INT64_MAX},
        {"below", -half, -half - 1, INT64_MIN, 1},
        {"halves apart below", -half - 1, half, -1, INT64_MIN},
        {"nothing is lost at the end", INT64_MAX, 0, INT64_MAX, INT64_MAX},
        {"what ended stays there", INT64_MAX, -5, INT64_MAX, INT64_MAX},
        {"with what ended", -5, INT64_MAX, INT64_MAX, INT64_MIN},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t sum = rows[i].a;

        ps_add(&sum, rows[i].b);
        CHECK_INT(rows[i].what, sum, rows[i].sum);
        CHECK_INT(rows[i].what, ps_apart(rows[i].a, rows[i].b), rows[i].apart);
    }
}

static void a_mean_is_rounded_and_does_not_wrap(void **state)
{
    (void)state;

    CHECK_INT("down", ps_mean(13, 3), 4);
    CHECK_INT("up", ps_mean(14, 3), 5);
    CHECK_INT("of none", ps_mean(0, 0), 0);
    CHECK("of the largest", ps_mean(INT64_MAX - 1, 4) > 0);
    CHECK("no end", !ps_is_cut(INT64_MAX - 1));
    CHECK("an end", ps_is_cut(INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_at_the_bounds),
                                       cmocka_unit_test(a_mean_is_rounded_and_does_not_wrap)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
