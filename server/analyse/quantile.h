/* Nearest-rank quantiles and the spread of many lengths.
 *
 * Exact up to 65,536 values; beyond that from the histogram of trace/quantile.h. Sums are of
 * integers, so a spread that was gathered in parts is the same as one that was not.
 */
#ifndef JVIEWD_ANALYSE_QUANTILE_H
#define JVIEWD_ANALYSE_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/quantile.h"

enum { QUANTILE_EXACT_MAX = 65536 };

#define SMALL_DISTANCE (INT64_C(1) << 31)

__extension__ typedef __int128 wide_int; /* a sum of squares of picoseconds */
__extension__ typedef unsigned __int128 wide_uint;

struct quantiles {
    uint64_t expected, count;
    int64_t *values;   /* exact: the first `count` are filled */
    uint32_t *buckets; /* else */
    int64_t origin;    /* sums are of distances from it */
    wide_int sum;
    wide_uint squares_low, squares_high; /* of the halves of each square */
};

/* For `count` values in all, about `origin`. */
struct quantiles *quantiles_create(uint64_t count, int64_t origin);
/* A part of another: for some of its values. */
struct quantiles *quantiles_create_like(const struct quantiles *whole);
/* Adds the part's values. */
void quantiles_join(struct quantiles *to, const struct quantiles *part);
void quantiles_free(struct quantiles *quantiles);

/* What lies far from the origin, once it is counted. */
static inline void quantiles_add_far(struct quantiles *quantiles, int64_t value)
{
    wide_int distance = (wide_int)value - quantiles->origin;
    wide_uint square = (wide_uint)(distance * distance);

    quantiles->sum += distance;
    quantiles->squares_low += (uint64_t)square;
    quantiles->squares_high += (uint64_t)(square >> 64);
}

static inline void quantiles_add(struct quantiles *quantiles, int64_t value)
{
    if (quantiles->count == quantiles->expected)
        return;
    if (quantiles->values != NULL) {
        quantiles->values[quantiles->count++] = value;
        return;
    }

    int64_t distance;

    quantiles->buckets[quantile_bucket(value)]++;
    quantiles->count++;
    if (!__builtin_sub_overflow(value, quantiles->origin, &distance) && distance < SMALL_DISTANCE &&
        distance > -SMALL_DISTANCE) { /* its square fits one word, as nearly all do */
        quantiles->sum += distance;
        quantiles->squares_low += (uint64_t)(distance * distance);
        return;
    }
    quantiles_add_far(quantiles, value);
}

/* The value of rank ceil(percent / 100 * n), percent 1 ... 100; 0 of none. */
int64_t quantiles_at(struct quantiles *quantiles, unsigned percent);
bool quantiles_exact(const struct quantiles *quantiles);
/* Of the population, to whole units. */
int64_t quantiles_stdev(const struct quantiles *quantiles);

/* The same of an array that may be reordered. */
int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent);

#endif
