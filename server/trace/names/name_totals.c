/* SPDX-License-Identifier: Apache-2.0 */
/* Count, sum, quantiles and deviation of one name's durations. */
#include "trace/names/name_totals.h"

#include <math.h>

#include "trace/names/quantile.h"

void name_totals_of(struct name_totals *ret, int64_t *durations, uint32_t count)
{
    *ret = (struct name_totals){.count = 0};
    for (uint32_t i = 0; i < count; i++)
        name_totals_add(ret, durations[i]);
    ret->p50_ps = ret->p95_ps = ret->min_ps;
    if (ret->min_ps == ret->max_ps)
        return;
    ret->p95_ps = quantile_select(durations, count, 95);
    ret->p50_ps = quantile_select(durations, count, 50);
}

static int64_t within(const struct name_totals *totals, int64_t dur_ps)
{
    dur_ps = dur_ps < totals->min_ps ? totals->min_ps : dur_ps;
    return dur_ps > totals->max_ps ? totals->max_ps : dur_ps;
}

void name_totals_of_buckets(struct name_totals *totals, const uint32_t *buckets)
{
    if (totals->count == 0)
        return;
    totals->p50_ps = within(totals, quantile_of_buckets(buckets, totals->count, 50));
    totals->p95_ps = within(totals, quantile_of_buckets(buckets, totals->count, 95));
}

int64_t name_totals_deviation(const struct name_totals *totals)
{
    if (totals->count == 0)
        return 0;

    double mean = totals->distance / totals->count;
    double variance = totals->squares / totals->count - mean * mean;

    return variance > 0 ? (int64_t)llround(sqrt(variance)) : 0;
}
