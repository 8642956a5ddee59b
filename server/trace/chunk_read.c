/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of a trace, whole columns or single values, checked at the first touch.
 *
 * A chunk whose bytes are not those that were written answers as if it were empty, and the trace
 * says so from then on.
 */
#include "base/hash.h"
#include "trace/chunk.h"
#include "trace/readers.h"
#include "trace/writers.h"

enum { CHUNK_UNTOUCHED, CHUNK_WHOLE, CHUNK_DAMAGED };

const uint8_t *chunk_bytes(const struct trace *trace, uint32_t chunk)
{
    struct trace_parts *parts = trace->parts;
    const struct chunk_entry *entry = &parts->chunks[chunk];
    struct bytes bytes = parts->in.data(parts->in.from, entry->offset, entry->size);

    if (parts->chunk_checked[chunk] == CHUNK_UNTOUCHED) {
        bool whole = bytes.at && hash64(bytes) == entry->hash &&
                     chunk_data_valid(entry, bytes.at, trace->name_count);
        parts->chunk_checked[chunk] = whole ? CHUNK_WHOLE : CHUNK_DAMAGED;
    }
    if (parts->chunk_checked[chunk] == CHUNK_WHOLE)
        return bytes.at;
    parts->damaged = true;
    return NULL;
}

/* The slice `parent` of the row `lift` above; what points outside is as good as none. */
static slice_id parent_of(const struct trace *trace, row_id row, uint32_t lift, uint32_t parent)
{
    if (lift == 0 || lift > trace->rows[row].depth || parent >= trace->rows[row - lift].count)
        return NO_SLICE;
    return trace->rows[row - lift].first_slice + parent;
}

static void unpack_parents(const struct trace *trace, row_id row, const struct chunk_entry *entry,
                           const uint8_t *data, slice_id *ret)
{
    uint16_t lift[CHUNK_SLICES];

    chunk_parents(entry, data, ret, lift);
    if (entry->width[PACKED_LIFT] > 0) {
        for (uint32_t i = 0; i < entry->count; i++)
            ret[i] = parent_of(trace, row, lift[i], ret[i]);
        return;
    }

    /* Mostly all parents lie in one row. */
    bool any = entry->lift_base > 0 && entry->lift_base <= trace->rows[row].depth;
    const struct row *above = any ? &trace->rows[row - entry->lift_base] : NULL;

    for (uint32_t i = 0; i < entry->count; i++)
        ret[i] = any && ret[i] < above->count ? above->first_slice + ret[i] : NO_SLICE;
}

static void unpack_names(const struct chunk_entry *entry, const uint8_t *data, struct chunk *ret)
{
    chunk_named(entry, data, ret->name);
    for (uint32_t i = 0; i < entry->count; i++) {
        ret->kind[i] = (uint8_t)named_kind(ret->name[i]);
        ret->name[i] = named_name(ret->name[i]);
    }
}

static void unpack_places(const struct chunk_entry *entry, const uint8_t *data, struct chunk *ret)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);

    struct chunk_names names = chunk_names_at(entry, data, offset);

    if (names.width == 2)
        memcpy(ret->place, names.names, entry->count * sizeof(*ret->place));
    else
        for (uint32_t i = 0; i < entry->count; i++)
            ret->place[i] = names.width == 1 ? names.names[i] : 0;
    ret->dictionary_count = entry->dictionary_count;
    for (uint32_t i = 0; i < entry->dictionary_count; i++) {
        ret->dictionary_name[i] = named_name(names.dictionary[i]);
        ret->dictionary_kind[i] = (uint8_t)named_kind(names.dictionary[i]);
    }
}

void chunk_unpack(const struct trace *trace, uint32_t chunk, unsigned columns, struct chunk *ret)
{
    const struct chunk_entry *entry = &trace->parts->chunks[chunk];
    const row_id row = trace_row_of_chunk(trace, chunk);
    const uint8_t *data = chunk_bytes(trace, chunk);

    ret->first_slice =
        trace->rows[row].first_slice + (chunk - trace->rows[row].first_chunk) * CHUNK_SLICES;
    if (!data) {
        slice_id first_slice = ret->first_slice;
        memset(ret, 0, sizeof(*ret));
        ret->first_slice = first_slice;
        return;
    }
    ret->count = entry->count;
    if (columns & COLUMN_START)
        chunk_starts(entry, data, ret->start_ps);
    if (columns & COLUMN_DUR)
        chunk_durs(entry, data, ret->dur_ps);
    if (columns & COLUMN_SELF)
        chunk_selfs(entry, data, ret->self_ps);
    if (columns & COLUMN_NAME)
        unpack_names(entry, data, ret);
    if (columns & COLUMN_PLACE)
        unpack_places(entry, data, ret);
    if (columns & COLUMN_PARENT)
        unpack_parents(trace, row, entry, data, ret->parent);
    if (columns & COLUMN_EVENT)
        chunk_events(entry, data, ret->event);
    if (columns & COLUMN_FLAGS)
        chunk_flags(entry, data, ret->flags);
}

struct slice trace_slice_times(const struct trace *trace, const struct row *row, uint32_t ordinal,
                               unsigned columns)
{
    const uint32_t chunk = row->first_chunk + ordinal / CHUNK_SLICES;
    const uint8_t *data = chunk_bytes(trace, chunk);
    struct packed_slice packed = {0};

    if (data)
        chunk_slice_times(&trace->parts->chunks[chunk], data, ordinal % CHUNK_SLICES, columns,
                          &packed);
    return (struct slice){.id = row->first_slice + ordinal,
                          .row = (row_id)(row - trace->rows),
                          .parent = NO_SLICE,
                          .start_ps = packed.start_ps,
                          .dur_ps = packed.dur_ps,
                          .self_ps = packed.self_ps};
}

struct slice trace_slice(const struct trace *trace, slice_id id)
{
    struct slice slice = {.id = id, .row = trace_row_of(trace, id), .parent = NO_SLICE};

    if (slice.row == NO_ROW)
        return slice;
    const struct row *row = &trace->rows[slice.row];
    const uint32_t ordinal = id - row->first_slice;
    const uint32_t chunk = row->first_chunk + ordinal / CHUNK_SLICES;
    const uint8_t *data = chunk_bytes(trace, chunk);
    if (!data)
        return slice;

    struct packed_slice packed;
    chunk_slice(&trace->parts->chunks[chunk], data, ordinal % CHUNK_SLICES, &packed);
    slice.start_ps = packed.start_ps;
    slice.dur_ps = packed.dur_ps;
    slice.self_ps = packed.self_ps;
    slice.name = named_name(packed.named);
    slice.kind = named_kind(packed.named);
    slice.flags = packed.flags;
    slice.event = packed.event;
    slice.parent = parent_of(trace, slice.row, packed.lift, packed.parent);
    return slice;
}
