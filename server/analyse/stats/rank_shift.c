/* SPDX-License-Identifier: Apache-2.0 */
/* Hodges and Lehmann's shift: the k-th smallest of all differences, found without making them. */
#include "analyse/stats/rank_shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/stats/stats.h"
#include "base/arena.h"

enum { EXACT_MAX = 400, HALVINGS = 60 };
#define BY_CHANCE 0.08 /* of lists without correlation */
#define MOST_ALIKE 0.9

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int64_t *sorted_copy(const int64_t *values, uint32_t count)
{
    int64_t *ret = memory_resize(NULL, (size_t)count + 1, sizeof *ret);

    if (count > 0)
        memcpy(ret, values, count * sizeof *ret);
    qsort(ret, count, sizeof *ret, ascending);
    return ret;
}

struct pairs { /* of two sorted lists */
    const int64_t *a, *b;
    uint32_t a_count, b_count;
};

static int64_t difference(int64_t to, int64_t from)
{
    int64_t ret;

    if (__builtin_sub_overflow(to, from, &ret))
        return to > from ? INT64_MAX : INT64_MIN;
    return ret;
}

/* How many of the differences are at most that: one walk along both lists. */
static uint64_t pairs_up_to(const struct pairs *pairs, int64_t most)
{
    uint64_t count = 0;
    uint32_t first = 0; /* of a: the first that is near enough to b[j] */

    for (uint32_t j = 0; j < pairs->b_count; j++) {
        while (first < pairs->a_count && difference(pairs->b[j], pairs->a[first]) > most)
            first++;
        count += pairs->a_count - first;
    }
    return count;
}

/* The k-th smallest difference, from 1 on. The span of values may not fit their type: no BISECT. */
static int64_t kth_difference(const struct pairs *pairs, uint64_t k)
{
    int64_t low = difference(pairs->b[0], pairs->a[pairs->a_count - 1]);
    int64_t high = difference(pairs->b[pairs->b_count - 1], pairs->a[0]);

    while (low < high) {
        int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);

        if (pairs_up_to(pairs, middle) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double normal_above(double probability)
{
    double low = -40, high = 40;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (erfc(middle / sqrt(2)) / 2 > probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The k-th smallest and the k-th largest difference are the bounds; 0: none are that sure. */
static uint64_t rank_of_bound(uint32_t a_count, uint32_t b_count, double confidence)
{
    double product = (double)a_count * b_count;

    if (product <= EXACT_MAX)
        return mann_whitney_rank(a_count, b_count, 1 - confidence);
    double deviation = sqrt(product * ((double)a_count + b_count + 1) / 12);
    double rank = floor(product / 2 - normal_above(1 - confidence) * deviation);
    return rank >= 1 ? (uint64_t)rank : 0;
}

static int64_t rounded(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)llround(value);
}

struct rank_shift rank_shift_of(const int64_t *a, uint32_t a_count, const int64_t *b,
                                uint32_t b_count, double confidence, double widening)
{
    if (a_count == 0 || b_count == 0)
        return (struct rank_shift){0};
    int64_t *from = sorted_copy(a, a_count), *to = sorted_copy(b, b_count);
    const struct pairs pairs = {from, to, a_count, b_count};
    uint64_t all = (uint64_t)a_count * b_count;
    int64_t below = kth_difference(&pairs, (all + 1) / 2), above = below;

    if (all % 2 == 0)
        above = kth_difference(&pairs, all / 2 + 1);
    struct rank_shift ret = {.middle = below + (int64_t)(((uint64_t)above - (uint64_t)below) / 2)};
    uint64_t rank = rank_of_bound(a_count, b_count, confidence);
    double times = sqrt(widening), middle = (double)ret.middle;
    ret.bounded = rank > 0;
    ret.low = ret.high = ret.middle;
    if (ret.bounded) {
        ret.low = rounded(middle - times * (middle - (double)kth_difference(&pairs, rank)));
        ret.high =
            rounded(middle + times * ((double)kth_difference(&pairs, all + 1 - rank) - middle));
    }
    free(from);
    free(to);
    return ret;
}

/* Adds up products of neighbours, and squares, of what values are away from their median; a stray
 * one counts as no more than three deviations. */
static void add_correlation(const int64_t *values, uint32_t count, double *products,
                            double *squares)
{
    double *away = memory_resize(NULL, (size_t)count + 1, sizeof *away), mean = 0;
    int64_t *copy = memory_resize(NULL, (size_t)count + 1, sizeof *copy);

    if (count > 0)
        memcpy(copy, values, count * sizeof *copy);
    double middle = (double)median_of(copy, count);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = (int64_t)fmin(fabs((double)values[i] - middle), 9e18);
    double most = 3 * 1.4826 * (double)median_of(copy, count);
    for (uint32_t i = 0; i < count; i++) {
        away[i] = fmax(-most, fmin(most, (double)values[i] - middle));
        mean += away[i] / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        *squares += (away[i] - mean) * (away[i] - mean);
        *products += i > 0 ? (away[i] - mean) * (away[i - 1] - mean) : 0;
    }
    free(copy);
    free(away);
}

double rank_shift_widening(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count)
{
    double products = 0, squares = 0, all = (double)a_count + b_count;

    add_correlation(a, a_count, &products, &squares);
    add_correlation(b, b_count, &products, &squares);
    if (!(squares > 0) || products / squares < normal_above(BY_CHANCE) / sqrt(all))
        return 1;
    /* The lists' own means take off of it about (1 + 4 r) / count. */
    double each = all / (a_count > 0 && b_count > 0 ? 2 : 1), r = products / squares;
    r = fmin(MOST_ALIKE, each > 8 ? (r + 1 / each) / (1 - 4 / each) : r);
    return (1 + r) / (1 - r);
}
