/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-rank quantiles and the spread of many lengths, and of waits, which may be below zero.
 *
 * Exact up to 65,536 values; beyond that within 0.8 % from a histogram: that of
 * trace/names/quantile.h, and its mirror image for what is below zero. Sums are of integers, so a
 * spread that was gathered in parts is the same as one that was not.
 *
 *   bucket   0 ... | SIGNED_BUCKETS / 2 - 1 | SIGNED_BUCKETS / 2 | ... SIGNED_BUCKETS - 1
 *   value    least ...           -1         |         0          | 1 ...
 */
#ifndef JVIEWD_ANALYSE_STATS_QUANTILE_H
#define JVIEWD_ANALYSE_STATS_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/names/quantile.h"

enum { QUANTILE_EXACT_MAX = 65536, SIGNED_BUCKETS = 2 * QUANTILE_BUCKETS };

__extension__ typedef __int128 wide_int; /* a sum of squares of picoseconds */
__extension__ typedef unsigned __int128 wide_uint;

struct squares { /* of distances from a value: what a deviation is made of */
    wide_int sum;
    wide_uint low, high; /* of the halves of each square */
};

static inline void squares_add(struct squares *squares, int64_t value, int64_t origin)
{
    const int64_t small = INT64_C(1) << 31;
    int64_t distance;

    if (!__builtin_sub_overflow(value, origin, &distance) && distance < small &&
        distance > -small) { /* its square fits one word, as nearly all do */
        squares->sum += distance;
        squares->low += (uint64_t)(distance * distance);
        return;
    }

    wide_int far = (wide_int)value - origin;
    wide_uint square = (wide_uint)(far * far);

    squares->sum += far;
    squares->low += (uint64_t)square;
    squares->high += (uint64_t)(square >> 64);
}

/* Of the population, to whole units; count > 0. */
int64_t squares_deviation(const struct squares *squares, uint64_t count);

static inline uint32_t signed_bucket(int64_t value)
{
    return value >= 0 ? QUANTILE_BUCKETS + quantile_bucket(value)
                      : QUANTILE_BUCKETS - 1 - quantile_bucket(-(value + 1));
}

/* The least value in a bucket, and how many there are. */
int64_t signed_bucket_first(uint32_t bucket, uint64_t *ret_width);
int64_t signed_bucket_middle(uint32_t bucket);

struct quantile_set;

struct quantiles {
    uint64_t expected, count;
    int64_t *values;          /* exact: the first `count` are filled */
    uint32_t *buckets;        /* else: SIGNED_BUCKETS */
    struct quantile_set *set; /* of the values, once a quantile of many was asked for */
    int64_t origin;
    struct squares squares; /* else */
};

/* For `count` values in all, about `origin`. */
struct quantiles *quantiles_create(uint64_t count, int64_t origin);
/* A part of another: for some of its values. */
struct quantiles *quantiles_create_like(const struct quantiles *whole);
/* Adds the part's values. */
void quantiles_join(struct quantiles *to, const struct quantiles *part);
/* The same of a part that was created like it, and frees the part. */
void quantiles_take(struct quantiles *to, struct quantiles *part);
void quantiles_free(struct quantiles *quantiles);

static inline void quantiles_add(struct quantiles *quantiles, int64_t value)
{
    if (quantiles->count == quantiles->expected)
        return;
    if (quantiles->values != NULL) {
        quantiles->values[quantiles->count++] = value;
        return;
    }
    quantiles->buckets[signed_bucket(value)]++;
    quantiles->count++;
    squares_add(&quantiles->squares, value, quantiles->origin);
}

/* The value of rank ceil(percent / 100 * n), percent 1 ... 100; 0 of none. */
int64_t quantiles_at(struct quantiles *quantiles, unsigned percent);
bool quantiles_exact(const struct quantiles *quantiles);
/* Of the population, to whole units. */
int64_t quantiles_stdev(const struct quantiles *quantiles);

/* The same of an array that may be reordered. */
int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent);

#endif
