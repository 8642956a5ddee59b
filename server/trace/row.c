/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices of a row a time or a window touches: binary searches over chunks, then in one. */
#include "base/bisect.h"
#include "base/file.h"
#include "trace/chunk.h"
#include "trace/readers.h"
#include "trace/writers.h"

enum { GAP_BYTES_MAX = 1 << 17 }; /* between chunks that are asked for in one go */

row_id trace_row_of_chunk(const struct trace *trace, uint32_t chunk)
{
    return BISECT(1, trace->row_count, i, trace->rows[i].first_chunk <= chunk) - 1;
}

row_id trace_row_of(const struct trace *trace, slice_id id)
{
    if (id >= trace->slice_count)
        return NO_ROW;
    return BISECT(1, trace->row_count, i, trace->rows[i].first_slice <= id) - 1;
}

/* Does it begin before `at`; or is it over by then and no instant that stands there? */
static bool is_before(const struct chunk_entry *entry, const uint8_t *data, uint32_t at,
                      int64_t at_ps, bool by_start)
{
    struct packed_slice slice;

    chunk_times(entry, data, at, &slice);
    if (by_start)
        return slice.start_ps < at_ps;
    return slice.start_ps + slice.dur_ps <= at_ps && (slice.dur_ps > 0 || slice.start_ps < at_ps);
}

static uint32_t find_in_chunk(const struct trace *trace, uint32_t chunk, int64_t at_ps,
                              bool by_start)
{
    const struct chunk_entry *entry = &trace->parts->chunks[chunk];
    const uint8_t *data = chunk_bytes(trace, chunk);
    uint32_t count = data == NULL ? 0 : entry->count;

    return BISECT(0, count, i, is_before(entry, data, i, at_ps, by_start));
}

/* Chunks of a row ascend in start and end; so do the slices in them. */
uint32_t row_find(const struct trace *trace, const struct row *row, int64_t at_ps)
{
    const struct chunk_entry *chunks = &trace->parts->chunks[row->first_chunk];
    uint32_t from = BISECT(0, row->chunk_count, i, chunks[i].end_ps < at_ps);

    if (from == row->chunk_count)
        return row->count;
    return from * CHUNK_SLICES + find_in_chunk(trace, row->first_chunk + from, at_ps, false);
}

/* The first ordinal that begins at or after `at`. */
static uint32_t find_start(const struct trace *trace, const struct row *row, int64_t at_ps)
{
    const struct chunk_entry *chunks = &trace->parts->chunks[row->first_chunk];
    uint32_t from = BISECT(0, row->chunk_count, i, chunks[i].start_ps < at_ps);

    if (from == 0)
        return 0;
    return (from - 1) * CHUNK_SLICES +
           find_in_chunk(trace, row->first_chunk + from - 1, at_ps, true);
}

/* Chunks of a row lie in the file as they were filled, between those of other rows. Those that were
 * read before are in memory, or the kernel had a better use for it: asking again for each of many
 * small windows costs more than their pages. */
static void ask_for(const struct trace *trace, uint32_t first_chunk, uint32_t end_chunk)
{
    const struct trace_parts *parts = trace->parts;
    uint64_t from = 0, to = 0;

    for (uint32_t chunk = first_chunk; chunk <= end_chunk; chunk++) {
        const struct chunk_entry *entry = &parts->chunks[chunk];
        bool more = chunk < end_chunk;
        if (more && atomic_load_explicit(&parts->chunk_checked[chunk], memory_order_relaxed) != 0)
            continue;
        if (more && entry->offset >= to && entry->offset - to <= GAP_BYTES_MAX && to > 0) {
            to = entry->offset + entry->size;
            continue;
        }
        struct bytes span = parts->in.data(parts->in.from, from, (size_t)(to - from));
        if (to > 0 && span.at)
            file_will_need(span.at, span.count);
        from = more ? entry->offset : 0;
        to = more ? entry->offset + entry->size : 0;
    }
}

/* Chunks [first, end) of the row that may touch the window, by the directory alone. */
static uint32_t find_chunks(const struct trace *trace, const struct row *row, int64_t from_ps,
                            int64_t to_ps, uint32_t *ret_end)
{
    const struct chunk_entry *chunks = &trace->parts->chunks[row->first_chunk];
    uint32_t first = BISECT(0, row->chunk_count, i, chunks[i].end_ps < from_ps);

    *ret_end = BISECT(first, row->chunk_count, i, chunks[i].start_ps < to_ps);
    return first;
}

void row_will_need(const struct trace *trace, const struct row *row, int64_t from_ps, int64_t to_ps)
{
    uint32_t end, first = find_chunks(trace, row, from_ps, to_ps, &end);

    if (first < end)
        ask_for(trace, row->first_chunk + first, row->first_chunk + end);
}

void row_window(const struct trace *trace, const struct row *row, int64_t from_ps, int64_t to_ps,
                uint32_t *ret_first, uint32_t *ret_end)
{
    row_will_need(trace, row, from_ps, to_ps); /* the search itself looks into two of them */

    uint32_t first = row_find(trace, row, from_ps), end = find_start(trace, row, to_ps);

    *ret_first = first;
    *ret_end = end > first ? end : first;
}

void row_group(const struct trace *trace, const struct row *row, uint32_t ordinal,
               struct slice_group *ret)
{
    const uint32_t chunk = row->first_chunk + ordinal / CHUNK_SLICES;
    const uint32_t first = ordinal % CHUNK_SLICES / ROW_GROUP_SLICES * ROW_GROUP_SLICES;
    const struct chunk_entry *entry = &trace->parts->chunks[chunk];
    const uint8_t *data = chunk_bytes(trace, chunk);
    uint32_t offset[PACKED_COUNT + 1], named;
    uint8_t flags;

    ret->first = ordinal / ROW_GROUP_SLICES * ROW_GROUP_SLICES;
    ret->count = 0;
    if (data == NULL)
        return;
    chunk_layout(entry, offset);
    chunk_group(entry, data, offset, first / ROW_GROUP_SLICES, ret->start_ps, ret->dur_ps);

    struct chunk_names names = chunk_names_at(entry, data, offset);

    ret->count = entry->count - first < ROW_GROUP_SLICES ? entry->count - first : ROW_GROUP_SLICES;
    for (uint32_t i = 0; i < ret->count; i++) {
        chunk_look(&names, first + i, &named, &flags);
        ret->kind[i] = (uint8_t)named_kind(named);
        ret->name[i] = named_name(named);
    }
}
