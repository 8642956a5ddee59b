#include "analyse/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SELECT_MAX = 2048 }; /* more are parted by their buckets first */

static uint32_t *buckets_create(void)
{
    uint32_t *buckets = calloc(QUANTILE_BUCKETS, sizeof(*buckets));

    if (buckets == NULL)
        abort(); /* out of memory: as base/arena.h says */
    return buckets;
}

struct quantiles *quantiles_create(uint64_t count, int64_t origin)
{
    struct quantiles *quantiles = memory_resize(NULL, 1, sizeof(*quantiles));

    *quantiles = (struct quantiles){.expected = count, .origin = origin};
    if (count <= QUANTILE_EXACT_MAX)
        quantiles->values = memory_resize(NULL, count + 1, sizeof(*quantiles->values));
    else
        quantiles->buckets = buckets_create();
    return quantiles;
}

struct quantiles *quantiles_create_like(const struct quantiles *whole)
{
    return quantiles_create(whole->expected, whole->origin);
}

void quantiles_join(struct quantiles *to, const struct quantiles *part)
{
    uint64_t room = to->expected - to->count, count = part->count < room ? part->count : room;

    if (to->values != NULL)
        memcpy(to->values + to->count, part->values, count * sizeof(*to->values));
    for (uint32_t i = 0; to->buckets != NULL && i < QUANTILE_BUCKETS; i++)
        to->buckets[i] += part->buckets[i];
    to->count += count;
    to->sum += part->sum;
    to->squares_low += part->squares_low;
    to->squares_high += part->squares_high;
}

void quantiles_free(struct quantiles *quantiles)
{
    if (quantiles == NULL)
        return;
    free(quantiles->values);
    free(quantiles->buckets);
    free(quantiles);
}

/* Counts into buckets, then looks among the values of one bucket alone: each value is read twice
 * and moved seldom. */
static int64_t select_by_bucket(const struct quantiles *quantiles, uint32_t index)
{
    uint32_t count = (uint32_t)quantiles->count, *buckets = buckets_create();
    uint32_t bucket = 0, before = 0, found = 0;

    for (uint32_t i = 0; i < count; i++)
        buckets[quantile_bucket(quantiles->values[i])]++;
    while (before + buckets[bucket] <= index)
        before += buckets[bucket++];

    int64_t *within = memory_resize(NULL, buckets[bucket], sizeof(*within));

    for (uint32_t i = 0; i < count; i++) {
        if (quantile_bucket(quantiles->values[i]) == bucket)
            within[found++] = quantiles->values[i];
    }

    int64_t value = quantile_select_at(within, found, index - before);

    free(within);
    free(buckets);
    return value;
}

int64_t quantiles_at(struct quantiles *quantiles, unsigned percent)
{
    uint32_t count = (uint32_t)quantiles->count;

    if (count == 0)
        return 0;
    if (quantiles->buckets != NULL)
        return quantile_of_buckets(quantiles->buckets, count, percent);
    return count > SELECT_MAX ? select_by_bucket(quantiles, quantile_rank(count, percent))
                              : quantile_select(quantiles->values, count, percent);
}

bool quantiles_exact(const struct quantiles *quantiles)
{
    return quantiles->buckets == NULL;
}

/* About their mean, so that digits are kept; in integers, so that their order does not matter. */
static double deviation_of_values(const struct quantiles *quantiles)
{
    wide_int sum = 0;
    wide_uint squares_low = 0, squares_high = 0;

    for (uint64_t i = 0; i < quantiles->count; i++)
        sum += quantiles->values[i];

    int64_t mean = (int64_t)(sum / (wide_int)quantiles->count);
    double rest =
        (double)(sum - (wide_int)mean * (wide_int)quantiles->count) / (double)quantiles->count;

    for (uint64_t i = 0; i < quantiles->count; i++) {
        wide_int distance = (wide_int)quantiles->values[i] - mean;
        wide_uint square = (wide_uint)(distance * distance);

        squares_low += (uint64_t)square;
        squares_high += (uint64_t)(square >> 64);
    }

    double squares = (double)squares_low + ldexp((double)squares_high, 64);
    double variance = squares / (double)quantiles->count - rest * rest;

    return variance > 0 ? sqrt(variance) : 0;
}

int64_t quantiles_stdev(const struct quantiles *quantiles)
{
    if (quantiles->count == 0)
        return 0;
    if (quantiles->values != NULL)
        return (int64_t)llround(deviation_of_values(quantiles));

    double count = (double)quantiles->count, mean = (double)quantiles->sum / count;
    double squares = (double)quantiles->squares_low + ldexp((double)quantiles->squares_high, 64);
    double variance = squares / count - mean * mean;

    return variance > 0 ? (int64_t)llround(sqrt(variance)) : 0;
}

int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent)
{
    return count > 0 ? quantile_select(values, (uint32_t)count, percent) : 0;
}
