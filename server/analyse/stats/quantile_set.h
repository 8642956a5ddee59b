/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of values where they stand, in one array or in several.
 *
 *   parts     [ 3 9 3 ]  [ 7 ]  [ 1 1 ]     borrowed
 *   buckets   1: 2   3: 2   7: 1   9: 1     how many lie in each; of a part they may be known
 *   p50       rank 3 of 6 lies in bucket 3, so only values of that bucket are looked at
 *
 * The answers are those of analyse/stats/quantile.h for the same values, exact or from the
 * histogram. One set serves many questions, one after the other, in the same memory.
 */
#ifndef JVIEWD_ANALYSE_STATS_QUANTILE_SET_H
#define JVIEWD_ANALYSE_STATS_QUANTILE_SET_H

#include "analyse/stats/quantile.h"

struct bucket_count {
    uint32_t bucket, count;
};

struct value_sums { /* what a deviation takes of values; known: none is 2^32 from the first */
    bool known;
    int64_t first, least, most;
    wide_int sum;      /* of distances from the first */
    wide_uint squares; /* of those */
};
struct value_sums value_sums_of(const int64_t *values, uint64_t count);

struct quantile_set;
struct quantile_set *quantile_set_create(void);
void quantile_set_destroy(struct quantile_set *set); /* takes NULL */

/* Empties it. */
void quantile_set_begin(struct quantile_set *set);
/* The values stay where they are until the set is emptied. */
void quantile_set_add(struct quantile_set *set, const int64_t *values, uint64_t count);
/* The same where the values' buckets are known, and their sums. */
void quantile_set_add_counted(struct quantile_set *set, const int64_t *values, uint64_t count,
                              const struct bucket_count *buckets, uint32_t bucket_count,
                              const struct value_sums *sums);
/* Those of the values that were added last. */
void quantile_set_tell(struct quantile_set *set, const struct value_sums *sums);
uint64_t quantile_set_count(const struct quantile_set *set);
bool quantile_set_exact(const struct quantile_set *set);
/* The value of rank ceil(percent / 100 * n), percent 1 ... 100; 0 of none. */
int64_t quantile_set_at(struct quantile_set *set, unsigned percent);
/* Of the population, to whole units; about `origin` where it is not exact. */
int64_t quantile_set_stdev(const struct quantile_set *set, int64_t origin);
/* The buckets that are not empty, ascending; `ret` has room for as many as there are values, or
 * for SIGNED_BUCKETS. Returns how many. */
uint32_t quantile_set_buckets(const struct quantile_set *set, struct bucket_count *ret);

#endif
