/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-rank quantiles against a sorted list, exact and from the histogram, whole and in
 * parts. */
#include "check.h"

#include <stdlib.h>

#include "analyse/stats/quantile_set.h"

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

/* Gathered in parts, of which one may have none; asked more than once, and in any order. */
static void exact_of_many(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static const unsigned percents[] = {95, 1, 50, 100, 95};
    const struct {
        const char *what;
        uint64_t first; /* so many in the first part */
        int shift;
    } rows[] = {{"halves", MANY / 2, 33}, {"all in the second", 0, 33}, {"many equal", 1, 60}};
    int64_t *values = malloc(MANY * sizeof(*values));

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct quantiles *whole = quantiles_create(MANY, 0);
        struct quantiles *parts[] = {quantiles_create_like(whole), quantiles_create_like(whole)};
        uint64_t seed = 1;

        for (uint64_t i = 0; i < MANY; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            values[i] = (int64_t)(seed >> rows[row].shift);
            quantiles_add(parts[i >= rows[row].first], values[i]);
        }
        quantiles_take(whole, parts[0]);
        quantiles_take(whole, parts[1]);
        CHECK_INT(rows[row].what, whole->count, MANY);
        for (size_t i = 0; i < COUNT(percents); i++)
            CHECK_INT(rows[row].what, quantiles_at(whole, percents[i]),
                      quantile_of(values, MANY, percents[i]));
        quantiles_free(whole);
    }
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

/* Waits, some of them below zero; widths from one to far beyond an hour. */
static int64_t *made_values(uint64_t count)
{
    int64_t *values = malloc(count * sizeof(*values));
    uint64_t seed = 7;

    for (uint64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        values[i] = (int64_t)(seed >> 10) >> (seed & 31);
        if (seed % 3 == 0)
            values[i] = -values[i];
    }
    return values;
}

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static int64_t at_rank(const int64_t *sorted, uint64_t count, unsigned percent)
{
    return sorted[(count * percent + 99) / 100 - 1];
}

static void below_zero(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 5, 1000, 5000, QUANTILE_EXACT_MAX, QUANTILE_EXACT_MAX + 1};
    static const unsigned percents[] = {1, 20, 33, 34, 50, 95, 100};

    for (size_t i = 0; i < COUNT(counts); i++) {
        int64_t *values = made_values(counts[i]);
        struct quantiles *quantiles = quantiles_create(counts[i], 0);

        for (uint64_t j = 0; j < counts[i]; j++)
            quantiles_add(quantiles, values[j]);
        qsort(values, counts[i], sizeof(*values), ascending);
        for (size_t j = 0; j < COUNT(percents); j++) {
            int64_t want = at_rank(values, counts[i], percents[j]);
            int64_t got = quantiles_at(quantiles, percents[j]);

            CHECK("same sign", (want < 0) == (got < 0));
            CHECK("near", llabs(got - want) <= llabs(want) / 100 + 1);
            if (quantiles_exact(quantiles))
                CHECK_INT("exact", got, want);
        }
        quantiles_free(quantiles);
        free(values);
    }
}

static void each_value_lies_in_its_bucket(void **state)
{
    (void)state;
    const int64_t edges[] = {
        INT64_MIN, -(INT64_C(1) << 40), -129,     -128, -65, -64, -2, -1, 0, 1, 63, 64, 65, 127,
        128,       INT64_C(1) << 40,    INT64_MAX};
    uint32_t before = 0;

    for (size_t i = 0; i < COUNT(edges); i++) {
        uint32_t bucket = signed_bucket(edges[i]);
        uint64_t width;
        int64_t first = signed_bucket_first(bucket, &width);

        CHECK("within the histogram", bucket < SIGNED_BUCKETS && bucket >= before);
        CHECK("within its bucket",
              first <= edges[i] && (uint64_t)edges[i] - (uint64_t)first < width);
        CHECK_INT("its middle too", signed_bucket(signed_bucket_middle(bucket)), bucket);
        before = bucket;
    }
}

struct whole { /* the same values, added one by one */
    struct quantiles *quantiles;
    int64_t origin;
};

static void check_set(struct quantile_set *set, const struct whole *whole)
{
    CHECK_INT("count", quantile_set_count(set), whole->quantiles->count);
    CHECK_INT("exact", quantile_set_exact(set), quantiles_exact(whole->quantiles));
    for (unsigned percent = 1; percent <= 100; percent += 11)
        CHECK_INT("quantile", quantile_set_at(set, percent),
                  quantiles_at(whole->quantiles, percent));
    CHECK_INT("deviation", quantile_set_stdev(set, whole->origin),
              quantiles_stdev(whole->quantiles));
}

/* In three parts, one of which is counted; then again, in the memory of the time before. */
static void a_set_answers_alike(void **state)
{
    (void)state;
    static const uint64_t counts[] = {3, 90000, 7, 4000, 65538, 65535, 0};
    struct quantile_set *set = quantile_set_create();
    struct bucket_count *buckets = malloc(SIGNED_BUCKETS * sizeof(*buckets));

    for (size_t i = 0; i < 2 * COUNT(counts); i++) { /* far apart, then as near as most are */
        uint64_t count = counts[i % COUNT(counts)], third = count / 3;
        int64_t *values = made_values(count + 1);

        for (uint64_t j = 0; i >= COUNT(counts) && j < count; j++)
            values[j] = values[j] % (INT64_C(1) << 31) - 77;

        struct value_sums sums = value_sums_of(values + third, third);

        CHECK_INT("sums are known", sums.known, third == 1 || (i >= COUNT(counts) && third > 0));

        struct whole whole = {.quantiles = quantiles_create(count, 1234), .origin = 1234};

        quantile_set_begin(set);
        quantile_set_add(set, values + third, third);

        uint32_t bucket_count = quantile_set_buckets(set, buckets);

        quantile_set_begin(set);
        CHECK_INT("empty", quantile_set_at(set, 50), 0);
        CHECK_INT("empty", quantile_set_stdev(set, 0), 0);
        quantile_set_add(set, values, third);
        quantile_set_add_counted(set, values + third, third, buckets, bucket_count, &sums);
        quantile_set_add(set, values + 2 * third, count - 2 * third);
        for (uint64_t j = 0; j < count; j++)
            quantiles_add(whole.quantiles, values[j]);
        check_set(set, &whole);
        quantiles_free(whole.quantiles);
        free(values);
    }
    free(buckets);
    quantile_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_rank),        cmocka_unit_test(within_a_percent),
        cmocka_unit_test(exact_of_many),       cmocka_unit_test(edges_of_the_histogram),
        cmocka_unit_test(below_zero),          cmocka_unit_test(each_value_lies_in_its_bucket),
        cmocka_unit_test(a_set_answers_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
