#include "check.h"

#include <stdlib.h>

#include "analyse/quantile.h"

static void nearest_rank(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t values[10];
        uint64_t count;
        int64_t p50, p95, stdev;
    } rows[] = {
        {"none", {0}, 0, 0, 0, 0},
        {"one", {7}, 1, 7, 7, 0},
        {"two", {9, 1}, 2, 1, 9, 4},
        {"three", {3, 1, 2}, 3, 2, 3, 1},
        {"ten", {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 10, 5, 10, 3},
        {"equal and far from zero",
         {1000000000000000000, 1000000000000000000, 1000000000000000002},
         3,
         1000000000000000000,
         1000000000000000002,
         1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct quantiles *quantiles = quantiles_create(rows[i].count, 0);

        for (uint64_t j = 0; j < rows[i].count; j++)
            quantiles_add(quantiles, rows[i].values[j]);
        CHECK_INT(rows[i].what, quantiles_at(quantiles, 50), rows[i].p50);
        CHECK_INT(rows[i].what, quantiles_at(quantiles, 95), rows[i].p95);
        CHECK_INT(rows[i].what, quantiles_stdev(quantiles), rows[i].stdev);
        CHECK("exact", quantiles_exact(quantiles));
        quantiles_free(quantiles);
    }
    quantiles_free(NULL);
}

static void within_a_percent(void **state)
{
    (void)state;
    const uint64_t count = QUANTILE_EXACT_MAX + 1000;
    static const unsigned percents[] = {1, 50, 95, 99};
    int64_t *values = malloc(count * sizeof(*values));
    struct quantiles *quantiles = quantiles_create(count, 0);
    uint64_t seed = 1;

    for (uint64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        values[i] = (int64_t)(seed >> 33) >> (seed & 15);
        quantiles_add(quantiles, values[i]);
    }
    CHECK("from a histogram", !quantiles_exact(quantiles));
    for (size_t i = 0; i < COUNT(percents); i++) {
        int64_t want = quantile_of(values, count, percents[i]);
        int64_t got = quantiles_at(quantiles, percents[i]);

        CHECK("within 1 %", llabs(got - want) * 100 <= want + 100);
    }
    quantiles_free(quantiles);
    free(values);
}

static void edges_of_the_histogram(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, 63, 64, 127, 128, INT64_MAX / 4};

    for (size_t i = 0; i < COUNT(values); i++) {
        struct quantiles *quantiles = quantiles_create(QUANTILE_EXACT_MAX + 1, 0);

        quantiles_add(quantiles, values[i]);
        CHECK("near",
              (double)llabs(quantiles_at(quantiles, 50) - values[i]) <= (double)values[i] * 0.01);
        quantiles_free(quantiles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_rank),
        cmocka_unit_test(within_a_percent),
        cmocka_unit_test(edges_of_the_histogram),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
