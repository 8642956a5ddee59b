/* SPDX-License-Identifier: Apache-2.0 */
/* Counter tracks: samples and levels of min and max. */
#ifndef JVIEWD_TRACE_EVENTS_COUNTER_H
#define JVIEWD_TRACE_EVENTS_COUNTER_H

#include "trace/trace.h"

/* All samples of a track in time order; NULL when it has none. */
const struct counter_sample *trace_samples(const struct trace *trace, track_id track,
                                           uint64_t *ret_count);

struct counter_bucket {
    int64_t from_ps, to_ps;
    double min, max, first, last; /* first: the value that held when the bucket began */
    uint64_t count;
};
/* At most `buckets` of equal width over [from, to), empty ones left out; returns how many. */
uint32_t counter_fold(const struct trace *trace, track_id track, int64_t from_ps, int64_t to_ps,
                      uint32_t buckets, struct counter_bucket *ret);

#endif
