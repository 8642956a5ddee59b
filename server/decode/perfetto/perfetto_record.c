/* SPDX-License-Identifier: Apache-2.0 */
/* A TrackEvent that was read: its time, its track, and what it becomes.
 *
 *   begin, end, instant, complete   a record, which waits for the order of time
 *   counter, and counters beside    samples, at once: the sink takes them in any order
 *
 * Events of the old JSON's phases (B E X i b e n S F ...) are the same under other names.
 */
#include "decode/perfetto/perfetto_told.h"

#include <stdlib.h>

enum { RECORDS_MAX = 1 << 27 };

/* Deltas of old traces count from the thread's descriptor. */
static bool time_of(struct perfetto *trace, const struct packet *packet, struct sequence *sequence,
                    const struct told *told, int64_t *ret_ns)
{
    if (told->has_delta)
        sequence->reference_us =
            (int64_t)((uint64_t)sequence->reference_us + (uint64_t)told->delta_us);
    if (perfetto_clocks_time(trace, packet, sequence->default_clock, ret_ns))
        return true;
    if (!told->has_absolute && !(told->has_delta && sequence->has_thread)) {
        trace->timeless_count++;
        return false;
    }
    struct packet old = {
        .clock = 3 /* MONOTONIC */, .has_timestamp = true, .sequence = packet->sequence};
    int64_t us = told->has_absolute ? told->absolute_us : sequence->reference_us;
    old.timestamp = us > 0 && us < INT64_MAX / 1000 ? (uint64_t)us * 1000 : 0;
    return perfetto_clocks_time(trace, &old, 0, ret_ns);
}

static uint32_t track_of_event(struct perfetto *trace, const struct sequence *sequence,
                               const struct told *told)
{
    if (told->has_uuid)
        return perfetto_track_of_uuid(trace, told->uuid);
    if (sequence->has_track)
        return perfetto_track_of_uuid(trace, sequence->track_uuid);
    if (sequence->has_thread)
        return sequence->thread;
    return perfetto_track_of_uuid(trace, 0);
}

static int64_t ps_of(const struct perfetto *trace, int64_t at_ns)
{
    int64_t ps;

    if (__builtin_mul_overflow(at_ns - trace->zero_ns, 1000, &ps))
        return at_ns < trace->zero_ns ? INT64_MIN : INT64_MAX;
    return ps;
}

static void count_on(struct perfetto *trace, const struct sequence *sequence, uint64_t uuid,
                     int64_t at_ns, uint64_t bits, bool is_real)
{
    uint32_t track = perfetto_track_of_uuid(trace, uuid);
    struct descriptor *descriptor = perfetto_track_at(trace, track);
    double value;

    if (sink_failed(trace->sink))
        return;
    if (descriptor->kind == TRACK_OF_NOTHING)
        descriptor->kind = TRACK_OF_COUNTER;
    if (descriptor->kind != TRACK_OF_COUNTER) {
        trace->orphan_counter_count++;
        return;
    }
    if (is_real)
        memcpy(&value, &bits, sizeof value);
    else
        value = (double)(int64_t)bits;
    if (descriptor->multiplier != 0)
        value *= (double)descriptor->multiplier;
    if (descriptor->is_incremental) {
        if (descriptor->generation != sequence->generation)
            descriptor->counter_sum = 0;
        descriptor->generation = sequence->generation;
        value = descriptor->counter_sum += value;
    }
    sink_counter(trace->sink, perfetto_track_make(trace, track, 0), ps_of(trace, at_ns), value);
}

static void count_extras(struct perfetto *trace, const struct sequence *sequence,
                         const struct told *told, int64_t at_ns)
{
    const uint64_t *uuids = told->extra_uuid_count > 0 ? told->extra_uuids : sequence->extra_uuids;
    uint32_t count = told->extra_uuid_count > 0 ? told->extra_uuid_count : sequence->extra_count;

    for (uint32_t i = 0; i < told->extra_value_count && i < count; i++)
        count_on(trace, sequence, uuids[i], at_ns, told->extra_values[i], false);
    uuids = told->extra_real_uuid_count > 0 ? told->extra_real_uuids : sequence->extra_real_uuids;
    count =
        told->extra_real_uuid_count > 0 ? told->extra_real_uuid_count : sequence->extra_real_count;
    for (uint32_t i = 0; i < told->extra_real_count && i < count; i++)
        count_on(trace, sequence, uuids[i], at_ns, told->extra_reals[i], true);
}

static uint64_t mix(uint64_t hash, struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        hash = (hash ^ (uint8_t)text.at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Asynchronous events of one id lie on a track of their own. */
static uint32_t track_of_id(struct perfetto *trace, const struct told *told, uint32_t beside)
{
    struct str scope = told->scope.count > 0 ? told->scope : text_str(&told->categories);
    const struct descriptor *of = perfetto_track_at(trace, beside);
    uint64_t uuid = mix(UINT64_C(0xcbf29ce484222325) ^ told->id, scope);
    bool has_process = of->kind == TRACK_OF_THREAD || of->kind == TRACK_OF_PROCESS;
    int64_t pid = has_process ? of->pid : 0;

    if (told->is_local_id)
        uuid = uuid * 31 + (uint64_t)pid;
    uint32_t track = perfetto_track_of_uuid(trace, uuid);
    struct descriptor *descriptor = perfetto_track_at(trace, track);
    if (descriptor->name == 0) {
        descriptor->name = told->name;
        descriptor->pid = pid;
    }
    return track;
}

/* What a phase of the JSON format is here; 0 where it is not read. */
static uint8_t type_of_phase(int phase)
{
    switch (phase) {
    case 'B':
    case 'b':
    case 'S':
        return RECORD_BEGIN;
    case 'E':
    case 'e':
    case 'F':
        return RECORD_END;
    case 'X':
        return RECORD_COMPLETE;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p':
        return RECORD_INSTANT;
    default:
        return 0;
    }
}

static void keep_record(struct perfetto *trace, const struct told *told, struct record record)
{
    struct record *kept;

    record.category =
        told->categories.count > 0 ? sink_name(trace->sink, text_str(&told->categories)) : 0;
    record.name = told->name;
    record.mate = NO_RECORD;
    record.ordinal = trace->records.count;
    record.first_arg = trace->args.count - told->arg_count;
    record.arg_count = (uint16_t)told->arg_count;
    record.first_flow = trace->flows.count - told->flow_count;
    record.flow_count = (uint16_t)told->flow_count;
    kept = perfetto_add(trace, &trace->records, sizeof *kept, RECORDS_MAX);
    if (kept != NULL)
        *kept = record;
}

static bool is_async(int phase)
{
    return phase == 'b' || phase == 'e' || phase == 'n' || phase == 'S' || phase == 'T' ||
           phase == 'F' || phase == 'p';
}

/* An event that is no counter. */
static void take_event(struct perfetto *trace, const struct sequence *sequence, struct told *told,
                       int64_t at_ns)
{
    struct record record = {.at_ns = at_ns, .type = (uint8_t)told->type};

    if (told->type == 0 && told->has_phase)
        record.type = type_of_phase(told->phase);
    if (record.type == 0) {
        trace->phase_count++;
        return;
    }
    if (record.type == RECORD_COMPLETE &&
        (told->duration_us < 0 ||
         __builtin_mul_overflow(told->duration_us, INT64_C(1000), &record.dur_ns)))
        record.dur_ns = 0;
    record.track = track_of_event(trace, sequence, told);
    if (told->type == 0 && is_async(told->phase) && told->has_id)
        record.track = track_of_id(trace, told, record.track);
    if (told->has_bind_id && told->direction != 0)
        perfetto_put_flow(trace, told, told->bind_id, told->direction == 1);
    keep_record(trace, told, record);
}

bool perfetto_keep(struct perfetto *trace, const struct packet *packet, struct sequence *sequence,
                   struct told *told)
{
    const uint32_t records = trace->records.count;
    int64_t at_ns;

    if (told->type >= EVENT_TYPES) {
        trace->phase_count++;
        return false;
    }
    trace->event_counts[told->type]++;
    if (!time_of(trace, packet, sequence, told, &at_ns))
        return false;
    count_extras(trace, sequence, told, at_ns);
    if (told->type != 4)
        take_event(trace, sequence, told, at_ns);
    else if (told->has_value)
        count_on(trace, sequence, told->has_uuid ? told->uuid : sequence->track_uuid, at_ns,
                 told->value, told->is_real);
    return trace->records.count != records;
}
