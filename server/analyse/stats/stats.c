/* SPDX-License-Identifier: Apache-2.0 */
/* Medians, the bootstrap's interval of their difference, and the Mann-Whitney test, exact for
 * short lists. */
#include "analyse/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sort.h"

enum { EXACT_MAX = 400, DRAWN_MAX = 4096 };

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Puts the k-th smallest at place k, and nothing larger before it. */
static int64_t select_kth(int64_t *values, uint32_t count, uint32_t k)
{
    int64_t low = 0, high = (int64_t)count - 1;

    while (low < high) {
        int64_t pivot = values[low + (high - low) / 2], i = low, j = high;

        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i > j)
                break;
            int64_t moved = values[i];
            values[i++] = values[j];
            values[j--] = moved;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

/* Between both, rounded down. */
static int64_t middle_of(int64_t low, int64_t high)
{
    return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}

int64_t median_of(int64_t *values, uint32_t count)
{
    if (count == 0)
        return 0;
    int64_t high = select_kth(values, count, count / 2);
    if (count % 2 == 1)
        return high;
    int64_t low = values[0];
    for (uint32_t i = 1; i < count / 2; i++)
        low = values[i] > low ? values[i] : low;
    return middle_of(low, high);
}

struct placed {
    int64_t value;
    uint32_t place; /* in the list it came from; of two lists, the second behind the first */
};

static bool is_lower(const struct placed *a, const struct placed *b)
{
    return a->value < b->value;
}

SORT_DEFINE(sort_placed, struct placed, is_lower)

/* Twice the sum of the ranks of a, the first `a_count` of all; equal values share theirs. *ret_ties
 * is the sum of t^3 - t. */
static double ranks_of(struct placed *all, uint32_t count, uint32_t a_count, double *ret_ties)
{
    double twice = 0;

    *ret_ties = 0;
    sort_placed(all, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && all[end].value == all[first].value;)
            end++;
        double tied = end - first;

        *ret_ties += tied * tied * tied - tied;
        for (uint32_t i = first; i < end; i++)
            twice += all[i].place < a_count ? (double)first + 1 + (double)end : 0;
    }
    return twice;
}

/* ways[u]: how many of the ways to lay out a and b have U = u; a_count * b_count + 1 of them, to be
 * freed. The number for (a, b) is that for (a - 1, b) with u - b and for (a, b - 1) with u. */
static double *ways_of(uint32_t a_count, uint32_t b_count)
{
    uint32_t size = a_count * b_count + 1;
    double *ways = memory_resize(NULL, (size_t)(a_count + 1) * size, sizeof *ways);

    memset(ways, 0, (size_t)(a_count + 1) * size * sizeof *ways);
    for (uint32_t a = 0; a <= a_count; a++)
        ways[(size_t)a * size] = 1; /* of no b: U = 0 */
    for (uint32_t b = 1; b <= b_count; b++) {
        for (uint32_t a = 1; a <= a_count; a++) {
            double *of = ways + (size_t)a * size;
            const double *less = of - size;

            /* of[u] is (a, b - 1) so far; less[] is (a - 1, b) already. */
            for (uint32_t u = b; u < size; u++)
                of[u] += less[u - b];
        }
    }
    memmove(ways, ways + (size_t)a_count * size, size * sizeof *ways);
    return ways;
}

static double sum_of(const double *ways, uint32_t count)
{
    double ret = 0;

    for (uint32_t u = 0; u < count; u++)
        ret += ways[u];
    return ret;
}

/* The share of all ways that have a U of at most `most`. */
static double exact_share(uint32_t a_count, uint32_t b_count, uint32_t most)
{
    double *ways = ways_of(a_count, b_count);
    double share = sum_of(ways, most + 1) / sum_of(ways, a_count * b_count + 1);

    free(ways);
    return share;
}

uint32_t mann_whitney_rank(uint32_t a_count, uint32_t b_count, double p)
{
    double *ways = ways_of(a_count, b_count);
    double all = sum_of(ways, a_count * b_count + 1), below = 0;
    uint32_t rank = 0;

    while (rank <= a_count * b_count && below + ways[rank] <= p * all)
        below += ways[rank++];
    free(ways);
    return rank;
}

static double by_normal(double u, double a_count, double b_count, double ties)
{
    double all = a_count + b_count, mean = a_count * b_count / 2;
    double variance = a_count * b_count / 12 * (all + 1 - ties / (all * (all - 1)));
    double away = fabs(u - mean) - 0.5;

    return variance <= 0 || away <= 0 ? 1 : erfc(away / sqrt(2 * variance));
}

double mann_whitney(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count)
{
    uint32_t count = a_count + b_count;

    if (a_count == 0 || b_count == 0)
        return 1;
    struct placed *all = memory_resize(NULL, count, sizeof *all);
    for (uint32_t i = 0; i < a_count; i++)
        all[i] = (struct placed){a[i], i};
    for (uint32_t i = 0; i < b_count; i++)
        all[a_count + i] = (struct placed){b[i], a_count + i};
    double ties, ranks = ranks_of(all, count, a_count, &ties) / 2;
    free(all);

    double u = ranks - (double)a_count * (a_count + 1.0) / 2;
    double product = (double)a_count * b_count;
    if (ties > 0 || product > EXACT_MAX)
        return by_normal(u, a_count, b_count, ties);
    double p = 2 * exact_share(a_count, b_count, (uint32_t)fmin(u, product - u));
    return p < 1 ? p : 1;
}

/* xorshift64*: any generator would do, this one is two lines. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Drawn values are counted by their rank, 256 ranks a group, so that the middle one is found
 * without sorting what was drawn:
 *
 *   rank     0  1  2  3 ...           value = sorted[rank]
 *   counts   2  0  1  3 ...           how often it was drawn
 *   groups   [      6      ] ...
 */
struct pool {
    int64_t *sorted;
    uint32_t *rank_of; /* by place in the list */
    uint32_t *drawn;   /* ranks */
    uint16_t *counts, *groups;
    uint32_t count;
};

enum { GROUP_BITS = 8 };

static struct pool pool_create(const int64_t *values, uint32_t count)
{
    size_t group_count = (count >> GROUP_BITS) + 1;
    struct placed *order = memory_resize(NULL, count, sizeof *order);
    struct pool pool = {.sorted = memory_resize(NULL, count, sizeof *pool.sorted),
                        .rank_of = memory_resize(NULL, count, sizeof *pool.rank_of),
                        .drawn = memory_resize(NULL, DRAWN_MAX, sizeof *pool.drawn),
                        .counts = memory_resize(NULL, count, sizeof *pool.counts),
                        .groups = memory_resize(NULL, group_count, sizeof *pool.groups),
                        .count = count};

    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct placed){values[i], i};
    sort_placed(order, count);
    for (uint32_t rank = 0; rank < count; rank++) {
        pool.sorted[rank] = order[rank].value;
        pool.rank_of[order[rank].place] = rank;
    }
    free(order);
    memset(pool.counts, 0, count * sizeof *pool.counts);
    memset(pool.groups, 0, group_count * sizeof *pool.groups);
    return pool;
}

static void pool_free(struct pool *pool)
{
    free(pool->sorted);
    free(pool->rank_of);
    free(pool->drawn);
    free(pool->counts);
    free(pool->groups);
}

/* The rank of the k-th of the drawn ones, from 0; *ret_before: how many have a smaller one. */
static uint32_t drawn_rank(const struct pool *pool, uint32_t k, uint32_t *ret_before)
{
    uint32_t before = 0, group = 0;

    while (before + pool->groups[group] <= k)
        before += pool->groups[group++];
    uint32_t rank = group << GROUP_BITS;
    while (before + pool->counts[rank] <= k)
        before += pool->counts[rank++];
    *ret_before = before;
    return rank;
}

static int64_t drawn_median(const struct pool *pool, uint64_t *state)
{
    uint32_t drawn = pool->count < DRAWN_MAX ? pool->count : DRAWN_MAX, before;

    for (uint32_t i = 0; i < drawn; i++) {
        uint32_t rank = pool->rank_of[(uint32_t)((draw(state) >> 32) * pool->count >> 32)];

        pool->drawn[i] = rank;
        pool->counts[rank]++;
        pool->groups[rank >> GROUP_BITS]++;
    }
    int64_t high = pool->sorted[drawn_rank(pool, drawn / 2, &before)], low = high;
    if (drawn % 2 == 0 && before == drawn / 2)
        low = pool->sorted[drawn_rank(pool, drawn / 2 - 1, &before)];
    for (uint32_t i = 0; i < drawn; i++) {
        pool->counts[pool->drawn[i]] = 0;
        pool->groups[pool->drawn[i] >> GROUP_BITS] = 0;
    }
    return middle_of(low, high);
}

static void bound(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count,
                  double confidence, struct shift *ret)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    int64_t *deltas = memory_resize(NULL, SHIFT_DRAWS, sizeof *deltas);
    struct pool from = pool_create(a, a_count), to = pool_create(b, b_count);

    for (uint32_t i = 0; i < SHIFT_DRAWS; i++) {
        int64_t from_median = drawn_median(&from, &state);

        deltas[i] = drawn_median(&to, &state) - from_median;
    }
    pool_free(&from);
    pool_free(&to);
    qsort(deltas, SHIFT_DRAWS, sizeof *deltas, ascending);
    uint32_t left_out = (uint32_t)((1 - confidence) / 2 * SHIFT_DRAWS);
    ret->low = deltas[left_out];
    ret->high = deltas[SHIFT_DRAWS - 1 - left_out];
    free(deltas);
}

struct shift shift_of(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count,
                      double confidence)
{
    int64_t *values = memory_resize(NULL, (size_t)a_count + b_count + 1, sizeof *values);
    struct shift ret = {.p = mann_whitney(a, a_count, b, b_count)};

    if (a_count > 0)
        memcpy(values, a, a_count * sizeof *values);
    if (b_count > 0)
        memcpy(values + a_count, b, b_count * sizeof *values);
    ret.a_median = median_of(values, a_count);
    ret.b_median = median_of(values + a_count, b_count);
    ret.delta = ret.low = ret.high = ret.b_median - ret.a_median;
    if (a_count > 1 && b_count > 1)
        bound(values, a_count, values + a_count, b_count, confidence, &ret);
    free(values);
    return ret;
}
