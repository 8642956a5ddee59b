/* Sums of picoseconds. One row's times fit 64 bits (see trace.h); those of many rows, devices or
 * steps need not, if a file says so: 2^63 ps are 106 days. A sum then stops at the greatest time
 * there is instead of coming out below zero. */
#ifndef JVIEWD_TRACE_PS_H
#define JVIEWD_TRACE_PS_H

#include <stdint.h>

static inline int64_t ps_sum(int64_t a, int64_t b)
{
    int64_t ret;

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

#endif
