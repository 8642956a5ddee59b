/* SPDX-License-Identifier: Apache-2.0 */
/* Counters as they lie in the file.
 *
 *   TABLE_COUNTERS         a record a track, by track
 *   TABLE_COUNTER_SAMPLES  each track's samples in time order; equal times keep file order
 *   TABLE_COUNTER_LEVELS   each track's ranges, level by level
 *
 *   samples   0 1 2 ... 15 | 16 ... 31 | ... | 240 ... 255 | 256
 *   level 0   [min, max]     [min, max]  ...   [min, max]    [min, max]     one for 16 samples
 *   level 1   [min, max ........................ of 16 below][min, max]     until one is left
 *
 * A sample that is no number takes no part in ranges.
 */
#ifndef JVIEWD_TRACE_EVENTS_COUNTER_LEVELS_H
#define JVIEWD_TRACE_EVENTS_COUNTER_LEVELS_H

#include "base/bisect.h"
#include "trace/trace.h"

enum { COUNTER_LEVEL_FACTOR = 16 };

struct counter_record {
    uint32_t track, zero;
    uint64_t first_sample, sample_count;
    uint64_t first_range; /* level 0 begins here, each further level behind the one below */
};

struct counter_range { /* min > max: of no numbers */
    double min, max;
};

static inline uint64_t counter_level_count(uint64_t below)
{
    return below / COUNTER_LEVEL_FACTOR + (below % COUNTER_LEVEL_FACTOR != 0);
}

/* Of all levels. */
static inline uint64_t counter_range_count(uint64_t sample_count)
{
    uint64_t count = 0;

    while (sample_count > 1) {
        sample_count = counter_level_count(sample_count);
        count += sample_count;
    }
    return count;
}

/* How many of the sorted samples lie before `at`; with `equal` those at it too. */
static inline uint64_t counter_count_before(const struct counter_sample *samples, uint64_t count,
                                            int64_t at_ps, bool equal)
{
    return BISECT(0, count, i, samples[i].at_ps < at_ps || (equal && samples[i].at_ps == at_ps));
}

#endif
