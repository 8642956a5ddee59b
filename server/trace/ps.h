/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of picoseconds. One row's times fit 64 bits (see trace.h); those of many rows, devices or
 * steps need not, if a file says so: 2^63 ps are 106 days. A sum then stops at the greatest time
 * there is instead of coming out below zero, stays there, and has no mean and no share: whoever
 * tells it says so. All sums of _ps are made by ps_add (tests/house.py). */
#ifndef JVIEWD_TRACE_PS_H
#define JVIEWD_TRACE_PS_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing more is known of such a sum than that it is larger than what there is. */
static inline bool ps_is_cut(int64_t sum_ps)
{
    return sum_ps == INT64_MAX || sum_ps == INT64_MIN;
}

static inline int64_t ps_sum(int64_t a, int64_t b)
{
    int64_t ret;

    if (a == INT64_MAX || b == INT64_MAX)
        return INT64_MAX;
    return __builtin_add_overflow(a, b, &ret) ? (b < 0 ? INT64_MIN : INT64_MAX) : ret;
}

static inline int64_t ps_apart(int64_t to, int64_t from)
{
    int64_t ret;

    return __builtin_sub_overflow(to, from, &ret) ? (from > 0 ? INT64_MIN : INT64_MAX) : ret;
}

static inline void ps_add(int64_t *sum, int64_t ps)
{
    *sum = ps_sum(*sum, ps);
}

/* Rounded; 0 of none. */
static inline int64_t ps_mean(int64_t sum_ps, uint64_t count)
{
    return count == 0 ? 0 : ps_sum(sum_ps, (int64_t)(count / 2)) / (int64_t)count;
}

#endif
