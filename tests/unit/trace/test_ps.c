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
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t sum = rows[i].a;

        ps_add(&sum, rows[i].b);
        CHECK_INT(rows[i].what, sum, rows[i].sum);
        CHECK_INT(rows[i].what, ps_apart(rows[i].a, rows[i].b), rows[i].apart);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_at_the_bounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
