/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles over borrowed arrays: buckets are counted first, and one bucket's values selected
 * from. */
#include "analyse/stats/quantile_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct part {
    const int64_t *values;
    uint64_t count;
    struct value_sums sums;
};

struct quantile_set {
    struct part *parts;
    uint32_t part_count, part_capacity;
    uint64_t count;
    uint32_t low, high; /* buckets beyond are empty */
    int64_t *within;    /* the values of one bucket */
    uint64_t within_capacity;
    uint32_t buckets[SIGNED_BUCKETS];
};

struct quantile_set *quantile_set_create(void)
{
    struct quantile_set *set = memory_resize(NULL, 1, sizeof *set);

    *set = (struct quantile_set){.low = SIGNED_BUCKETS};
    return set;
}

void quantile_set_destroy(struct quantile_set *set)
{
    if (set == NULL)
        return;
    free(set->parts);
    free(set->within);
    free(set);
}

void quantile_set_begin(struct quantile_set *set)
{
    if (set->low <= set->high)
        memset(set->buckets + set->low, 0, (set->high - set->low + 1) * sizeof *set->buckets);
    set->low = SIGNED_BUCKETS;
    set->high = 0;
    set->part_count = 0;
    set->count = 0;
}

static void add_part(struct quantile_set *set, const int64_t *values, uint64_t count)
{
    if (set->part_count == set->part_capacity) {
        set->part_capacity = set->part_capacity == 0 ? 16 : 2 * set->part_capacity;
        set->parts = memory_resize(set->parts, set->part_capacity, sizeof *set->parts);
    }
    set->parts[set->part_count++] = (struct part){.values = values, .count = count};
    set->count += count;
}

void quantile_set_add(struct quantile_set *set, const int64_t *values, uint64_t count)
{
    uint32_t low = set->low, high = set->high;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t bucket = signed_bucket(values[i]);

        set->buckets[bucket]++;
        low = bucket < low ? bucket : low;
        high = bucket > high ? bucket : high;
    }
    set->low = low;
    set->high = high;
    add_part(set, values, count);
}

void quantile_set_add_counted(struct quantile_set *set, const int64_t *values, uint64_t count,
                              const struct bucket_count *buckets, uint32_t bucket_count,
                              const struct value_sums *sums)
{
    for (uint32_t i = 0; i < bucket_count; i++)
        set->buckets[buckets[i].bucket] += buckets[i].count;
    if (bucket_count > 0) {
        uint32_t first = buckets[0].bucket, last = buckets[bucket_count - 1].bucket;

        set->low = first < set->low ? first : set->low;
        set->high = last > set->high ? last : set->high;
    }
    add_part(set, values, count);
    quantile_set_tell(set, sums);
}

void quantile_set_tell(struct quantile_set *set, const struct value_sums *sums)
{
    set->parts[set->part_count - 1].sums = *sums;
}

/* So near that a square fits one word, also about another value as near. */
static bool is_near(int64_t value, int64_t origin)
{
    int64_t distance;

    return !__builtin_sub_overflow(value, origin, &distance) && distance < INT64_C(1) << 32 &&
           distance > -(INT64_C(1) << 32);
}

struct value_sums value_sums_of(const int64_t *values, uint64_t count)
{
    struct value_sums sums = {0};

    if (count == 0)
        return sums;
    sums.first = sums.least = sums.most = values[0];
    for (uint64_t i = 1; i < count; i++) {
        sums.least = values[i] < sums.least ? values[i] : sums.least;
        sums.most = values[i] > sums.most ? values[i] : sums.most;
    }
    sums.known = is_near(sums.least, sums.first) && is_near(sums.most, sums.first);
    for (uint64_t i = 0; sums.known && i < count; i++) {
        int64_t distance = values[i] - sums.first;

        sums.sum += distance;
        sums.squares += (uint64_t)distance * (uint64_t)distance;
    }
    return sums;
}

uint64_t quantile_set_count(const struct quantile_set *set)
{
    return set->count;
}

bool quantile_set_exact(const struct quantile_set *set)
{
    return set->count <= QUANTILE_EXACT_MAX;
}

/* Of the values in one bucket the one of that index in their order. */
static int64_t select_within(struct quantile_set *set, uint32_t bucket, uint32_t index)
{
    uint32_t found = 0, count = set->buckets[bucket];

    if (count > set->within_capacity) {
        set->within = memory_resize(set->within, count, sizeof *set->within);
        set->within_capacity = count;
    }

    uint64_t width;
    int64_t first = signed_bucket_first(bucket, &width);

    for (uint32_t i = 0; i < set->part_count; i++) {
        const struct part *part = &set->parts[i];

        for (uint64_t at = 0; at < part->count && found < count; at++) {
            set->within[found] = part->values[at];
            found += (uint64_t)part->values[at] - (uint64_t)first < width;
        }
    }
    return quantile_select_at(set->within, count, index);
}

int64_t quantile_set_at(struct quantile_set *set, unsigned percent)
{
    if (set->count == 0)
        return 0;

    uint32_t rank = quantile_rank((uint32_t)set->count, percent), bucket = set->low, before = 0;

    while (before + set->buckets[bucket] <= rank)
        before += set->buckets[bucket++];
    return quantile_set_exact(set) ? select_within(set, bucket, rank - before)
                                   : signed_bucket_middle(bucket);
}

static int64_t mean_of(const struct quantile_set *set)
{
    wide_int sum = 0;

    for (uint32_t i = 0; i < set->part_count; i++) {
        const struct part *part = &set->parts[i];

        if (part->sums.known)
            sum += part->sums.sum + (wide_int)part->sums.first * (wide_int)part->count;
        for (uint64_t at = 0; !part->sums.known && at < part->count; at++)
            sum += part->values[at];
    }
    return (int64_t)(sum / (wide_int)set->count);
}

/* As value by value: (v - o)^2 = (v - f)^2 + 2 (f - o) (v - f) + (f - o)^2, and none has a half
 * that is high. False where that is not known. */
static bool add_by_sums(const struct part *part, int64_t origin, struct squares *ret)
{
    const struct value_sums *sums = &part->sums;
    wide_int count = (wide_int)part->count;

    if (!sums->known || !is_near(sums->first, origin) || !is_near(sums->least, origin) ||
        !is_near(sums->most, origin))
        return false;

    wide_int apart = (wide_int)sums->first - origin;

    ret->sum += sums->sum + apart * count;
    ret->low +=
        (wide_uint)((wide_int)sums->squares + 2 * apart * sums->sum + apart * apart * count);
    return true;
}

int64_t quantile_set_stdev(const struct quantile_set *set, int64_t origin)
{
    struct squares squares = {0};

    if (set->count == 0)
        return 0;
    if (quantile_set_exact(set))
        origin = mean_of(set);
    for (uint32_t i = 0; i < set->part_count; i++) {
        const struct part *part = &set->parts[i];
        bool done = add_by_sums(part, origin, &squares);

        for (uint64_t at = 0; !done && at < part->count; at++)
            squares_add(&squares, part->values[at], origin);
    }
    return squares_deviation(&squares, set->count);
}

uint32_t quantile_set_buckets(const struct quantile_set *set, struct bucket_count *ret)
{
    uint32_t count = 0;

    for (uint32_t bucket = set->low; bucket <= set->high && bucket < SIGNED_BUCKETS; bucket++) {
        if (set->buckets[bucket] > 0)
            ret[count++] = (struct bucket_count){bucket, set->buckets[bucket]};
    }
    return count;
}
