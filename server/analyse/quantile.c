#include "analyse/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/quantile.h"

struct quantiles {
    uint64_t expected, count;
    int64_t *values;   /* exact: the first `count` are filled */
    uint32_t *buckets; /* else */
    int64_t first;     /* sums are of distances from it, which keeps digits */
    double sum, squares;
};

struct quantiles *quantiles_create(uint64_t count)
{
    struct quantiles *quantiles = memory_resize(NULL, 1, sizeof(*quantiles));

    *quantiles = (struct quantiles){.expected = count};
    if (count <= QUANTILE_EXACT_MAX) {
        quantiles->values = memory_resize(NULL, count, sizeof(*quantiles->values));
    } else {
        quantiles->buckets = memory_resize(NULL, QUANTILE_BUCKETS, sizeof(*quantiles->buckets));
        memset(quantiles->buckets, 0, QUANTILE_BUCKETS * sizeof(*quantiles->buckets));
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

void quantiles_add(struct quantiles *quantiles, int64_t value)
{
    if (quantiles->count == quantiles->expected)
        return;
    if (quantiles->count == 0)
        quantiles->first = value;

    double distance = (double)(value - quantiles->first);

    quantiles->sum += distance;
    quantiles->squares += distance * distance;
    if (quantiles->buckets != NULL)
        quantiles->buckets[quantile_bucket(value)]++;
    else
        quantiles->values[quantiles->count] = value;
    quantiles->count++;
}

int64_t quantiles_at(struct quantiles *quantiles, unsigned percent)
{
    uint32_t count = (uint32_t)quantiles->count;

    if (count == 0)
        return 0;
    return quantiles->buckets != NULL ? quantile_of_buckets(quantiles->buckets, count, percent)
                                      : quantile_select(quantiles->values, count, percent);
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
    return count > 0 ? quantile_select(values, (uint32_t)count, percent) : 0;
}
