/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, written: samples wait in a spill file in the order they came and are dealt out to
 * their tracks at the finish, in the output itself, so that memory does not grow with their
 * number. */

#include <math.h>
#include <stdlib.h>

#include "trace/events/counter_levels.h"
#include "trace/writers.h"

enum { READ_SAMPLES = 4096, MERGE_SAMPLES = 1 << 15 };

struct waiting_sample { /* in the spill file */
    uint32_t track, zero;
    struct counter_sample sample;
};

struct counter_writer {
    struct part_tools tools;
    struct spill *spill;
    uint64_t *counts; /* by track */
    uint32_t track_capacity;
    uint64_t sample_count;
};

struct counter_writer *counter_writer_create(const struct part_tools *tools)
{
    struct counter_writer *writer = memory_resize(NULL, 1, sizeof(*writer));

    *writer = (struct counter_writer){
        .tools = *tools,
        .spill = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max)};
    return writer;
}

void counter_writer_sample(struct counter_writer *writer, track_id track, int64_t at_ps,
                           double value)
{
    struct waiting_sample waiting = {.track = track, .sample = {.at_ps = at_ps, .value = value}};
    struct bytes bytes = {.at = (const uint8_t *)&waiting, .count = sizeof(waiting)};
    uint64_t offset;

    if (track >= writer->track_capacity) {
        uint32_t capacity = track + track / 2 + 16;

        writer->counts = memory_resize(writer->counts, capacity, sizeof(*writer->counts));
        memset(writer->counts + writer->track_capacity, 0,
               (capacity - writer->track_capacity) * sizeof(*writer->counts));
        writer->track_capacity = capacity;
    }
    if (spill_append(writer->spill, bytes, &offset, writer->tools.err) != OK)
        return;
    writer->counts[track]++;
    writer->sample_count++;
}

static bool is_later(const struct counter_sample *a, const struct counter_sample *b)
{
    return a->at_ps > b->at_ps;
}

static void reverse(struct counter_sample *at, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        struct counter_sample one = at[i];

        at[i] = at[count - 1 - i];
        at[count - 1 - i] = one;
    }
}

/* Two sorted neighbours, the shorter of which fits the buffer. */
static void merge_buffered(struct counter_sample *at, uint64_t middle, uint64_t count,
                           struct counter_sample *buffer)
{
    if (middle <= count - middle) {
        uint64_t left = 0, right = middle, to = 0;

        memcpy(buffer, at, middle * sizeof(*at));
        while (left < middle)
            at[to++] =
                right < count && is_later(&buffer[left], &at[right]) ? at[right++] : buffer[left++];
    } else {
        uint64_t left = middle, right = count - middle, to = count;

        memcpy(buffer, at + middle, right * sizeof(*at));
        while (right > 0)
            at[--to] = left > 0 && is_later(&at[left - 1], &buffer[right - 1]) ? at[--left]
                                                                               : buffer[--right];
    }
}

/* Neighbours too long for the buffer are cut at a time and their inner parts change places. */
static void merge(struct counter_sample *at, uint64_t middle, uint64_t count,
                  struct counter_sample *buffer)
{
    while (middle > 0 && middle < count && is_later(&at[middle - 1], &at[middle])) {
        if (middle <= MERGE_SAMPLES || count - middle <= MERGE_SAMPLES) {
            merge_buffered(at, middle, count, buffer);
            return;
        }

        bool left_is_longer = middle > count - middle;
        uint64_t left = middle / 2, right = (count - middle) / 2;

        if (left_is_longer)
            right = counter_count_before(at + middle, count - middle, at[left].at_ps, false);
        else
            left = counter_count_before(at, middle, at[middle + right].at_ps, true);
        reverse(at + left, middle - left);
        reverse(at + middle, right);
        reverse(at + left, middle - left + right);
        merge(at, left, left + right, buffer);
        at += left + right;
        count -= left + right;
        middle -= left;
    }
}

static void sort_samples(struct counter_sample *at, uint64_t count, struct counter_sample *buffer)
{
    uint64_t sorted = 1;

    while (sorted < count && !is_later(&at[sorted - 1], &at[sorted]))
        sorted++;
    if (sorted >= count)
        return;
    sort_samples(at, count / 2, buffer);
    sort_samples(at + count / 2, count - count / 2, buffer);
    merge(at, count / 2, count, buffer);
}

static struct counter_range range_of(const struct counter_sample *samples, uint64_t count)
{
    struct counter_range range = {.min = (double)INFINITY, .max = -(double)INFINITY};

    for (uint64_t i = 0; i < count; i++) {
        range.min = samples[i].value < range.min ? samples[i].value : range.min;
        range.max = samples[i].value > range.max ? samples[i].value : range.max;
    }
    return range;
}

static struct counter_range range_union(const struct counter_range *ranges, uint64_t count)
{
    struct counter_range range = {.min = (double)INFINITY, .max = -(double)INFINITY};

    for (uint64_t i = 0; i < count; i++) {
        range.min = ranges[i].min < range.min ? ranges[i].min : range.min;
        range.max = ranges[i].max > range.max ? ranges[i].max : range.max;
    }
    return range;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void make_ranges(const struct counter_sample *samples, uint64_t sample_count,
                        struct counter_range *to)
{
    if (sample_count <= 1)
        return;

    struct counter_range *level = to;
    uint64_t count = 0;

    for (uint64_t i = 0; i < sample_count; i += COUNTER_LEVEL_FACTOR)
        level[count++] = range_of(samples + i, shorter(COUNTER_LEVEL_FACTOR, sample_count - i));
    while (count > 1) {
        struct counter_range *above = level + count;
        uint64_t above_count = 0;

        for (uint64_t i = 0; i < count; i += COUNTER_LEVEL_FACTOR)
            above[above_count++] = range_union(level + i, shorter(COUNTER_LEVEL_FACTOR, count - i));
        level = above;
        count = above_count;
    }
}

/* Deals the waiting samples out; next[track] is where its next one goes. */
static enum status deal_samples(struct counter_writer *writer, uint64_t *next,
                                struct counter_sample *to, struct waiting_sample *room,
                                struct error *err)
{
    for (uint64_t i = 0; i < writer->sample_count; i += READ_SAMPLES) {
        uint64_t count = shorter(READ_SAMPLES, writer->sample_count - i);

        TRY(spill_read(writer->spill, i * sizeof(*room), room, count * sizeof(*room), err));
        for (uint64_t j = 0; j < count; j++)
            to[next[room[j].track]++] = room[j].sample;
    }
    return OK;
}

static uint32_t count_records(const struct counter_writer *writer, uint64_t *ret_range_count)
{
    uint32_t count = 0;

    *ret_range_count = 0;
    for (uint32_t track = 0; track < writer->track_capacity; track++) {
        count += writer->counts[track] > 0;
        *ret_range_count += counter_range_count(writer->counts[track]);
    }
    return count;
}

static void fill_records(const struct counter_writer *writer, struct counter_record *records,
                         uint64_t *next)
{
    uint64_t sample = 0, range = 0;

    for (uint32_t track = 0; track < writer->track_capacity; track++) {
        uint64_t count = writer->counts[track];

        if (count == 0)
            continue;
        next[track] = sample;
        *records++ = (struct counter_record){
            .track = track, .first_sample = sample, .sample_count = count, .first_range = range};
        sample += count;
        range += counter_range_count(count);
    }
}

static enum status write_tables(struct counter_writer *writer, struct arena *arena,
                                struct error *err)
{
    struct block_out out = writer->tools.out;
    uint64_t range_count;
    uint32_t record_count = count_records(writer, &range_count);
    struct counter_record *records = arena_array(arena, struct counter_record, record_count);
    uint64_t *next = arena_array(arena, uint64_t, writer->track_capacity);
    struct waiting_sample *room = arena_array(arena, struct waiting_sample, READ_SAMPLES);
    struct counter_sample *buffer =
        arena_array(arena, struct counter_sample, shorter(writer->sample_count, MERGE_SAMPLES));
    uint8_t *samples_at;

    fill_records(writer, records, next);
    TRY(out.table(out.to, TABLE_COUNTERS,
                  (struct bytes){(const uint8_t *)records, record_count * sizeof(*records)}, err));
    TRY(out.table_reserve(out.to, TABLE_COUNTER_SAMPLES,
                          writer->sample_count * sizeof(struct counter_sample), &samples_at, err));

    struct counter_sample *samples = (struct counter_sample *)(void *)samples_at;

    TRY(deal_samples(writer, next, samples, room, err));
    for (uint32_t i = 0; i < record_count; i++)
        sort_samples(samples + records[i].first_sample, records[i].sample_count, buffer);

    struct counter_range *ranges = memory_resize(NULL, range_count + 1, sizeof(*ranges));

    for (uint32_t i = 0; i < record_count; i++)
        make_ranges(samples + records[i].first_sample, records[i].sample_count,
                    ranges + records[i].first_range);
    enum status status =
        out.table(out.to, TABLE_COUNTER_LEVELS,
                  (struct bytes){(const uint8_t *)ranges, range_count * sizeof(*ranges)}, err);

    free(ranges);
    return status;
}

enum status counter_writer_finish(struct counter_writer *writer, const struct trace *trace,
                                  struct error *err)
{
    struct arena *arena = arena_create();
    enum status status = write_tables(writer, arena, err);

    (void)trace;
    arena_destroy(arena);
    return status;
}

void counter_writer_destroy(struct counter_writer *writer)
{
    if (writer == NULL)
        return;
    spill_destroy(writer->spill);
    free(writer->counts);
    free(writer);
}
