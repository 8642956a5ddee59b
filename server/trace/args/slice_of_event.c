/* SPDX-License-Identifier: Apache-2.0 */
/* From events back to slices.
 *
 * Nothing is stored for this: a chunk knows the first and the last event in it, and along a row
 * events mostly ascend. One event costs a look at every chunk's entry, many cost one pass.
 */
#include "base/bisect.h"
#include "trace/args/args.h"
#include "trace/chunk.h"
#include "trace/readers.h"
#include "trace/writers.h"

/* Ordinal in the chunk of the slice with this event, or its count. */
static uint32_t find_event(const struct trace *trace, uint32_t chunk, event_id event,
                           event_id events[CHUNK_SLICES])
{
    const struct chunk_entry *entry = &trace->parts->chunks[chunk];
    const uint8_t *data = chunk_bytes(trace, chunk);
    uint32_t i = 0;

    if (!data)
        return entry->count;
    chunk_events(entry, data, events);
    while (i < entry->count && events[i] != event)
        i++;
    return i;
}

slice_id trace_slice_of_event(const struct trace *trace, event_id event)
{
    const struct trace_parts *parts = trace->parts;
    event_id events[CHUNK_SLICES];

    for (uint32_t chunk = 0; chunk < parts->chunk_count; chunk++) {
        const struct chunk_entry *entry = &parts->chunks[chunk];
        if (event < entry->event_base || event > entry->event_max)
            continue;
        uint32_t at = find_event(trace, chunk, event, events);
        if (at < entry->count) {
            const struct row *row = &trace->rows[trace_row_of_chunk(trace, chunk)];
            return row->first_slice + (chunk - row->first_chunk) * CHUNK_SLICES + at;
        }
    }
    return NO_SLICE;
}

bool chunk_may_hold(const struct trace *trace, uint32_t chunk, const uint64_t *events)
{
    const struct chunk_entry *entry = &trace->parts->chunks[chunk];
    uint64_t last = entry->event_max < trace->event_count ? entry->event_max : trace->event_count;

    for (uint64_t event = entry->event_base; event <= last;) {
        uint64_t within = event % 64, left = last - event;
        uint64_t word = events[event / 64] >> within;

        if (left < 63 - within)
            word &= (UINT64_C(1) << (left + 1)) - 1;
        if (word != 0)
            return true;
        event += 64 - within;
    }
    return false;
}

/* First of the ascending events that is not before `event`. */
static uint32_t first_not_before(const event_id *events, uint32_t count, event_id event)
{
    return BISECT(0, count, i, events[i] < event);
}

/* What is asked, and where the answers go. */
struct wanted {
    const event_id *events; /* ascending */
    uint32_t count;
    slice_id *slices;
};

/* From where the last one was found: near in rows that ascend, anywhere in a track sorted again. */
static uint32_t find_from(const struct wanted *wanted, uint32_t at, event_id event)
{
    enum { NEAR = 4 };

    if (at > 0 && wanted->events[at - 1] >= event)
        return first_not_before(wanted->events, at, event);
    for (uint32_t near = 0; near < NEAR; near++, at++)
        if (at >= wanted->count || wanted->events[at] >= event)
            return at;
    return at + first_not_before(wanted->events + at, wanted->count - at, event);
}

static void match_events(const struct wanted *wanted, const event_id *events, uint32_t event_count,
                         slice_id first_slice)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < event_count; i++) {
        at = find_from(wanted, at, events[i]);
        if (at < wanted->count && wanted->events[at] == events[i])
            wanted->slices[at] = first_slice + i;
    }
}

/* The part of what is wanted that the chunk may hold. */
static struct wanted wanted_of_chunk(const struct wanted *all, const struct chunk_entry *entry)
{
    uint32_t first = first_not_before(all->events, all->count, entry->event_base);
    uint32_t end = first_not_before(all->events, all->count, entry->event_max);

    end += end < all->count && all->events[end] == entry->event_max;
    return (struct wanted){
        .events = all->events + first, .count = end - first, .slices = all->slices + first};
}

void trace_slices_of_events(const struct trace *trace, const event_id *events, uint32_t count,
                            slice_id *ret)
{
    const struct trace_parts *parts = trace->parts;
    const struct wanted all = {events, count, ret};
    event_id unpacked[CHUNK_SLICES];

    for (uint32_t i = 0; i < count; i++)
        ret[i] = NO_SLICE;
    for (uint32_t chunk = 0; chunk < parts->chunk_count; chunk++) {
        const struct chunk_entry *entry = &parts->chunks[chunk];
        struct wanted wanted = wanted_of_chunk(&all, entry);
        const uint8_t *data = wanted.count > 0 ? chunk_bytes(trace, chunk) : NULL;

        if (!data)
            continue;
        const struct row *row = &trace->rows[trace_row_of_chunk(trace, chunk)];
        chunk_events(entry, data, unpacked);
        match_events(&wanted, unpacked, entry->count,
                     row->first_slice + (chunk - row->first_chunk) * CHUNK_SLICES);
    }
}
