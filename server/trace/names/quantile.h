/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of durations by nearest rank: the least value that so many percent do not exceed.
 *
 * Exact over gathered durations, or within 0.8 % by a histogram of 64 steps an octave:
 *
 *   bucket   0 1 ... 63 | 64 65 ... 127 | 128 130 132 ... 254 | 256 260 ...
 */
#ifndef JVIEWD_TRACE_NAMES_QUANTILE_H
#define JVIEWD_TRACE_NAMES_QUANTILE_H

#include <stdint.h>

enum { QUANTILE_STEPS = 64, QUANTILE_BUCKETS = (62 - 6 + 2) * QUANTILE_STEPS };

/* Changes the order of the durations; count > 0, percent 1 ... 100. */
int64_t quantile_select(int64_t *durations, uint32_t count, uint32_t percent);

/* The same by the index in the order, below count. */
int64_t quantile_select_at(int64_t *durations, uint32_t count, uint32_t index);
uint32_t quantile_rank(uint32_t count, uint32_t percent); /* that index */

/* The bucket of a duration >= 0. */
static inline uint32_t quantile_bucket(int64_t dur_ps)
{
    uint64_t dur = (uint64_t)dur_ps;

    if (dur < QUANTILE_STEPS)
        return (uint32_t)dur;

    uint32_t octave = 63 - (uint32_t)__builtin_clzll(dur); /* 6 ... 62 */

    return (octave - 5) * QUANTILE_STEPS + (uint32_t)(dur >> (octave - 6)) % QUANTILE_STEPS;
}
/* The least duration in a bucket, and how many there are. */
int64_t quantile_bucket_first(uint32_t bucket, uint64_t *ret_width);
int64_t quantile_bucket_middle(uint32_t bucket);
/* The middle of the bucket in which the quantile of all `count` durations lies. */
int64_t quantile_of_buckets(const uint32_t *buckets, uint32_t count, uint32_t percent);

#endif
