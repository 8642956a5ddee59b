/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of durations by nearest rank, and the histogram's buckets. */
#include "trace/names/quantile.h"

#include "base/sort.h"

uint32_t quantile_rank(uint32_t count, uint32_t percent)
{
    return (uint32_t)(((uint64_t)count * percent + 99) / 100) - 1;
}

int64_t quantile_bucket_first(uint32_t bucket, uint64_t *ret_width)
{
    uint32_t octave = bucket < QUANTILE_STEPS ? 6 : bucket / QUANTILE_STEPS + 5;
    uint64_t steps = bucket < QUANTILE_STEPS ? bucket : QUANTILE_STEPS + bucket % QUANTILE_STEPS;

    *ret_width = UINT64_C(1) << (octave - 6);
    return (int64_t)(steps << (octave - 6));
}

int64_t quantile_bucket_middle(uint32_t bucket)
{
    uint64_t width;
    int64_t first = quantile_bucket_first(bucket, &width);

    return first + (int64_t)(width / 2);
}

int64_t quantile_of_buckets(const uint32_t *buckets, uint32_t count, uint32_t percent)
{
    uint32_t rank = quantile_rank(count, percent), bucket = 0, before = buckets[0];

    while (before <= rank)
        before += buckets[++bucket];
    return quantile_bucket_middle(bucket);
}

static bool shorter(const int64_t *a, const int64_t *b)
{
    return *a < *b;
}
SORT_DEFINE(sort_durations, int64_t, shorter)

/* Brings the value of this index in the order to its place, smaller ones before it. */
static void select_duration(int64_t *at, uint32_t count, uint32_t index)
{
    uint32_t from = 0, to = count;

    for (unsigned round = 0; to - from > SORT_SMALL && round < 64; round++) {
        int64_t pivot = sort_durations_median_(&at[from], &at[from + (to - from) / 2], &at[to - 1]);
        uint32_t low = from, high = to - 1;

        for (;; low++, high--) {
            while (at[low] < pivot)
                low++;
            while (pivot < at[high])
                high--;
            if (low >= high)
                break;

            int64_t one = at[low];

            at[low] = at[high];
            at[high] = one;
        }
        if (index < low)
            to = low;
        else
            from = low;
    }
    sort_durations(at + from, to - from);
}

int64_t quantile_select_at(int64_t *durations, uint32_t count, uint32_t index)
{
    select_duration(durations, count, index);
    return durations[index];
}

int64_t quantile_select(int64_t *durations, uint32_t count, uint32_t percent)
{
    return quantile_select_at(durations, count, quantile_rank(count, percent));
}
