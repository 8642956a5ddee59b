/* SPDX-License-Identifier: Apache-2.0 */
/* Totals and quantiles of one name: of all its durations at once, or as they come. */
#ifndef JVIEWD_TRACE_NAMES_NAME_TOTALS_H
#define JVIEWD_TRACE_NAMES_NAME_TOTALS_H

#include <stdint.h>

struct name_totals {
    uint32_t count;
    int64_t total_ps, min_ps, max_ps, p50_ps, p95_ps;
    int64_t first_ps;         /* distances from the first duration keep more digits */
    double distance, squares; /* sums of them and of their squares */
};

/* Sums stop at the greatest time there is. */
static inline int64_t name_total_add(int64_t total_ps, int64_t dur_ps)
{
    int64_t sum;

    return __builtin_add_overflow(total_ps, dur_ps, &sum) ? INT64_MAX : sum;
}

static inline void name_totals_add(struct name_totals *totals, int64_t dur_ps)
{
    if (totals->count++ == 0)
        totals->first_ps = totals->min_ps = totals->max_ps = dur_ps;

    double distance = (double)(dur_ps - totals->first_ps);

    totals->distance += distance;
    totals->squares += distance * distance;
    totals->total_ps = name_total_add(totals->total_ps, dur_ps);
    totals->min_ps = dur_ps < totals->min_ps ? dur_ps : totals->min_ps;
    totals->max_ps = dur_ps > totals->max_ps ? dur_ps : totals->max_ps;
}

/* Everything, exactly; the durations change their order. */
void name_totals_of(struct name_totals *ret, int64_t *durations, uint32_t count);
/* The quantiles of totals that were added up, within 0.8 %; see quantile.h. */
void name_totals_of_buckets(struct name_totals *totals, const uint32_t *buckets);
int64_t name_totals_deviation(const struct name_totals *totals);

#endif
