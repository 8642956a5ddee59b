#include "analyse/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SUB_BITS = 6, SUBS = 1 << SUB_BITS, BUCKETS = (64 - SUB_BITS + 1) * SUBS };

struct quantiles {
    uint64_t expected, count;
    int64_t *values;   /* exact: the first `count` are filled */
    uint64_t *buckets; /* else */
    bool sorted;
    int64_t first; /* sums are of distances from it, which keeps digits */
    double sum, squares;
};

struct quantiles *quantiles_create(uint64_t count)
{
    struct quantiles *quantiles = memory_resize(NULL, 1, sizeof(*quantiles));

    *quantiles = (struct quantiles){.expected = count};
    if (count <= QUANTILE_EXACT_MAX) {
        quantiles->values = memory_resize(NULL, count, sizeof(int64_t));
    } else {
        quantiles->buckets = memory_resize(NULL, BUCKETS, sizeof(uint64_t));
        memset(quantiles->buckets, 0, BUCKETS * sizeof(uint64_t));
    }
    return quantiles;
}

void quantiles_free(struct quantiles *quantiles)
{
    if (quantiles == NULL)
        return;
    free(quantiles->values);
    free(quantiles->buckets);
    free(quantiles);
}

static uint32_t bucket_of(int64_t value)
{
    uint64_t bits = value > 0 ? (uint64_t)value : 0;

    if (bits < SUBS)
        return (uint32_t)bits;

    unsigned octave = 63 - (unsigned)__builtin_clzll(bits);

    return (octave - SUB_BITS + 1) * SUBS + (uint32_t)(bits >> (octave - SUB_BITS) & (SUBS - 1));
}

static int64_t middle_of(uint32_t bucket)
{
    if (bucket < SUBS)
        return bucket;

    unsigned shift = bucket / SUBS - 1;
    uint64_t low = (uint64_t)(SUBS + bucket % SUBS) << shift;

    return (int64_t)(low + ((1ULL << shift) - 1) / 2);
}

void quantiles_add(struct quantiles *quantiles, int64_t value)
{
    if (quantiles->count == 0)
        quantiles->first = value;

    double distance = (double)(value - quantiles->first);

    quantiles->sum += distance;
    quantiles->squares += distance * distance;
    if (quantiles->buckets != NULL)
        quantiles->buckets[bucket_of(value)]++;
    else if (quantiles->count < quantiles->expected)
        quantiles->values[quantiles->count] = value;
    else
        return;
    quantiles->count++;
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static uint64_t rank_of(uint64_t count, unsigned percent)
{
    uint64_t rank = (count * percent + 99) / 100;

    return rank > 0 ? rank : 1;
}

int64_t quantiles_at(struct quantiles *quantiles, unsigned percent)
{
    if (quantiles->count == 0)
        return 0;

    uint64_t rank = rank_of(quantiles->count, percent), seen = 0;

    if (quantiles->buckets == NULL) {
        if (!quantiles->sorted)
            qsort(quantiles->values, quantiles->count, sizeof(int64_t), by_value);
        quantiles->sorted = true;
        return quantiles->values[rank - 1];
    }

    uint32_t bucket = 0;

    while (bucket + 1 < BUCKETS && (seen += quantiles->buckets[bucket]) < rank)
        bucket++;
    return middle_of(bucket);
}

bool quantiles_exact(const struct quantiles *quantiles)
{
    return quantiles->buckets == NULL;
}

int64_t quantiles_stdev(const struct quantiles *quantiles)
{
    double count = (double)quantiles->count;
    double mean, variance;

    if (quantiles->count == 0)
        return 0;
    mean = quantiles->sum / count;
    variance = quantiles->squares / count - mean * mean;
    return variance > 0 ? (int64_t)llround(sqrt(variance)) : 0;
}

int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(*values), by_value);
    return values[rank_of(count, percent) - 1];
}
