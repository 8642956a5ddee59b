/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles and deviations of values that are added one by one: all kept, or a histogram where
 * they are many. */
#include "analyse/stats/quantile_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SELECT_MAX = 2048 }; /* more are parted by their buckets first */

static uint32_t *buckets_create(void)
{
    uint32_t *buckets = memory_zeroed(SIGNED_BUCKETS, sizeof(*buckets));
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
    for (uint32_t i = 0; to->buckets != NULL && i < SIGNED_BUCKETS; i++)
        to->buckets[i] += part->buckets[i];
    to->count += count;
    to->squares.sum += part->squares.sum;
    to->squares.low += part->squares.low;
    to->squares.high += part->squares.high;
}

/* Whose values come first leaves them where they are: they are not written once more. */
void quantiles_take(struct quantiles *to, struct quantiles *part)
{
    if (to->values != NULL && to->count == 0) {
        int64_t *unused = to->values;

        to->values = part->values;
        part->values = unused;
        to->count = part->count;
    } else {
        quantiles_join(to, part);
    }
    quantiles_free(part);
}

void quantiles_free(struct quantiles *quantiles)
{
    if (quantiles == NULL)
        return;
    free(quantiles->values);
    free(quantiles->buckets);
    quantile_set_destroy(quantiles->set);
    free(quantiles);
}

static int64_t select_of_many(struct quantiles *quantiles, unsigned percent)
{
    if (quantiles->set == NULL) {
        quantiles->set = quantile_set_create();
        quantile_set_add(quantiles->set, quantiles->values, quantiles->count);
    }
    return quantile_set_at(quantiles->set, percent);
}

int64_t signed_bucket_first(uint32_t bucket, uint64_t *ret_width)
{
    if (bucket >= QUANTILE_BUCKETS)
        return quantile_bucket_first(bucket - QUANTILE_BUCKETS, ret_width);

    int64_t mirrored = quantile_bucket_first(QUANTILE_BUCKETS - 1 - bucket, ret_width);

    return -mirrored - (int64_t)*ret_width; /* its last value is -mirrored - 1 */
}

int64_t signed_bucket_middle(uint32_t bucket)
{
    return bucket >= QUANTILE_BUCKETS ? quantile_bucket_middle(bucket - QUANTILE_BUCKETS)
                                      : -quantile_bucket_middle(QUANTILE_BUCKETS - 1 - bucket) - 1;
}

static int64_t middle_of_rank(const uint32_t *buckets, uint32_t rank)
{
    uint32_t bucket = 0, before = buckets[0];

    while (before <= rank)
        before += buckets[++bucket];
    return signed_bucket_middle(bucket);
}

int64_t quantiles_at(struct quantiles *quantiles, unsigned percent)
{
    uint32_t count = (uint32_t)quantiles->count;

    if (count == 0)
        return 0;
    if (quantiles->buckets != NULL)
        return middle_of_rank(quantiles->buckets, quantile_rank(count, percent));
    return count > SELECT_MAX ? select_of_many(quantiles, percent)
                              : quantile_select(quantiles->values, count, percent);
}

bool quantiles_exact(const struct quantiles *quantiles)
{
    return quantiles->buckets == NULL;
}

int64_t squares_deviation(const struct squares *squares, uint64_t number)
{
    double count = (double)number, mean = (double)squares->sum / count;
    double sum = (double)squares->low + ldexp((double)squares->high, 64);
    double variance = sum / count - mean * mean;

    return variance > 0 ? (int64_t)llround(sqrt(variance)) : 0;
}

/* About their mean, so that digits are kept; in integers, so that their order does not matter. */
static int64_t deviation_of_values(const struct quantiles *quantiles)
{
    struct squares squares = {0};
    wide_int sum = 0;

    for (uint64_t i = 0; i < quantiles->count; i++)
        sum += quantiles->values[i];

    int64_t mean = (int64_t)(sum / (wide_int)quantiles->count);

    for (uint64_t i = 0; i < quantiles->count; i++)
        squares_add(&squares, quantiles->values[i], mean);
    return squares_deviation(&squares, quantiles->count);
}

int64_t quantiles_stdev(const struct quantiles *quantiles)
{
    if (quantiles->count == 0)
        return 0;
    return quantiles->values != NULL ? deviation_of_values(quantiles)
                                     : squares_deviation(&quantiles->squares, quantiles->count);
}

int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent)
{
    return count > 0 ? quantile_select(values, (uint32_t)count, percent) : 0;
}
