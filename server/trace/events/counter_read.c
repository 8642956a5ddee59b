/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, read: a bucket's samples are found by two searches, their range by the levels. */
#include <math.h>

#include "base/bisect.h"
#include "trace/events/counter.h"
#include "trace/events/counter_levels.h"
#include "trace/readers.h"
#include "trace/writers.h"

struct counters {
    const struct counter_record *records;
    uint32_t record_count;
    const struct counter_sample *samples;
    const struct counter_range *ranges;
};

static const struct counter_record *find_record(const struct counters *counters, track_id track)
{
    uint32_t from = BISECT(0, counters->record_count, i, counters->records[i].track < track);

    return from < counters->record_count && counters->records[from].track == track
               ? &counters->records[from]
               : NULL;
}

const struct counter_sample *trace_samples(const struct trace *trace, track_id track,
                                           uint64_t *ret_count)
{
    const struct counters *counters = trace->parts->counters;
    const struct counter_record *record = counters == NULL ? NULL : find_record(counters, track);

    *ret_count = record == NULL ? 0 : record->sample_count;
    return record == NULL ? NULL : counters->samples + record->first_sample;
}

static void widen(struct counter_range *range, double min, double max)
{
    range->min = min < range->min ? min : range->min;
    range->max = max > range->max ? max : range->max;
}

/* The range of samples [from, to): loose ends on each level, whole groups on the one above. */
static struct counter_range range_of(const struct counters *counters,
                                     const struct counter_record *record, uint64_t from,
                                     uint64_t to)
{
    const struct counter_sample *samples = counters->samples + record->first_sample;
    struct counter_range range = {.min = (double)INFINITY, .max = -(double)INFINITY};

    for (; from < to && from % COUNTER_LEVEL_FACTOR != 0; from++)
        widen(&range, samples[from].value, samples[from].value);
    for (; from < to && to % COUNTER_LEVEL_FACTOR != 0; to--)
        widen(&range, samples[to - 1].value, samples[to - 1].value);

    const struct counter_range *level = counters->ranges + record->first_range;
    uint64_t count = counter_level_count(record->sample_count);

    while (from < to) {
        from /= COUNTER_LEVEL_FACTOR;
        to /= COUNTER_LEVEL_FACTOR;
        for (; from < to && from % COUNTER_LEVEL_FACTOR != 0; from++)
            widen(&range, level[from].min, level[from].max);
        for (; from < to && to % COUNTER_LEVEL_FACTOR != 0; to--)
            widen(&range, level[to - 1].min, level[to - 1].max);
        level += count;
        count = counter_level_count(count);
    }
    if (range.min > range.max)
        range = (struct counter_range){.min = (double)NAN, .max = (double)NAN};
    return range;
}

/* Where bucket `index` begins: from + width * index / buckets, without overflow. */
static int64_t bucket_start(int64_t from_ps, uint64_t width, uint32_t buckets, uint32_t index)
{
    uint64_t whole = width / buckets * index, rest = width % buckets * index / buckets;

    return (int64_t)((uint64_t)from_ps + whole + rest);
}

/* The last of the buckets [from, buckets) that begins at or before `at`. */
static uint32_t bucket_of(int64_t at_ps, int64_t from_ps, uint64_t width, uint32_t buckets,
                          uint32_t from)
{
    return BISECT(from + 1, buckets, i, bucket_start(from_ps, width, buckets, i) <= at_ps) - 1;
}

uint32_t counter_fold(const struct trace *trace, track_id track, int64_t from_ps, int64_t to_ps,
                      uint32_t buckets, struct counter_bucket *ret)
{
    const struct counters *counters = trace->parts->counters;
    const struct counter_record *record = counters == NULL ? NULL : find_record(counters, track);
    uint64_t width = (uint64_t)to_ps - (uint64_t)from_ps;
    uint32_t count = 0, bucket = 0;

    if (record == NULL || from_ps >= to_ps || buckets == 0)
        return 0;

    const struct counter_sample *samples = counters->samples + record->first_sample;
    uint64_t end = counter_count_before(samples, record->sample_count, to_ps, false);
    uint64_t at = counter_count_before(samples, end, from_ps, false);

    while (at < end) {
        bucket = bucket_of(samples[at].at_ps, from_ps, width, buckets, bucket);

        int64_t start_ps = bucket_start(from_ps, width, buckets, bucket);
        int64_t end_ps = bucket_start(from_ps, width, buckets, bucket + 1);
        uint64_t next = at + counter_count_before(samples + at, end - at, end_ps, false);
        struct counter_range range = range_of(counters, record, at, next);
        bool begins_in_it = at == 0 || samples[at].at_ps == start_ps;

        ret[count++] = (struct counter_bucket){.from_ps = start_ps,
                                               .to_ps = end_ps,
                                               .min = range.min,
                                               .max = range.max,
                                               .first = samples[begins_in_it ? at : at - 1].value,
                                               .last = samples[next - 1].value,
                                               .count = next - at};
        at = next;
    }
    return count;
}

static bool record_fits(const struct counter_record *record, uint64_t first_sample,
                        uint64_t first_range)
{
    return record->first_sample == first_sample && record->first_range == first_range &&
           record->sample_count > 0;
}

enum status counters_open(struct trace *trace, struct arena *arena, struct error *err)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_COUNTERS);
    struct bytes samples = in.table(in.from, TABLE_COUNTER_SAMPLES);
    struct bytes ranges = in.table(in.from, TABLE_COUNTER_LEVELS);
    const struct counter_record *records = (const struct counter_record *)(const void *)table.at;
    size_t count = table.count / sizeof(*records);
    uint64_t sample_count = samples.count / sizeof(struct counter_sample);
    uint64_t next_sample = 0, next_range = 0;

    for (size_t i = 0; i < count; i++) {
        if (!record_fits(&records[i], next_sample, next_range) ||
            records[i].track >= trace->track_count ||
            (i > 0 && records[i].track <= records[i - 1].track) ||
            records[i].sample_count > sample_count - next_sample)
            return fail(err, ERR_FORMAT, "counter %zu does not fit the ones before", i);
        next_sample += records[i].sample_count;
        next_range += counter_range_count(records[i].sample_count);
    }
    if (table.count % sizeof(*records) != 0 || next_sample != sample_count ||
        samples.count % sizeof(struct counter_sample) != 0 ||
        ranges.count != next_range * sizeof(struct counter_range))
        return fail(err, ERR_FORMAT, "the tables of counters do not fit together");

    struct counters *counters = arena_new(arena, struct counters);

    *counters = (struct counters){
        .records = records,
        .record_count = (uint32_t)count,
        .samples = (const struct counter_sample *)(const void *)samples.at,
        .ranges = (const struct counter_range *)(const void *)ranges.at,
    };
    trace->parts->counters = counters;
    trace->sample_count = sample_count;
    return OK;
}
