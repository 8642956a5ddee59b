/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the slices of a track that touch some buckets, in groups of 32 as they are
 * packed. */
#include "trace/levels/summary.h"
#include "trace/writers.h"

enum { GROUP_SLICES = SAMPLE_SLICES, CHUNK_GROUPS = CHUNK_SLICES / GROUP_SLICES, KEPT_CHUNKS = 8 };

struct sweep {
    const struct trace *trace;
    const struct summary_buckets *to;

    row_id row;
    const struct chunk_entry *entry; /* of the chunk at hand */
    struct chunk_names names;
    struct chunk_parents parents;

    uint32_t kept[KEPT_CHUNKS]; /* chunks of parents; UINT32_MAX: none */
    struct chunk_names kept_names[KEPT_CHUNKS];
    uint32_t kept_count[KEPT_CHUNKS]; /* slices; 0: damaged */
};

bool summary_is_work(const struct track *track)
{
    return track->slice_count > 0 && !track->derived && track->kind != TRACK_COUNTER &&
           track->role != ROLE_STEPS && track->role != ROLE_MODULES && track->role != ROLE_SCOPES;
}

uint8_t summary_kinds(const struct trace *trace, track_id track)
{
    const struct track *looked = &trace->tracks[track];
    uint8_t kinds = 0;

    for (uint32_t depth = 0; depth < looked->row_count; depth++) {
        const struct row *row = &trace->rows[looked->first_row + depth];

        for (uint32_t i = row->first_chunk; i < row->first_chunk + row->chunk_count; i++) {
            const struct chunk_entry *entry = &trace->parts->chunks[i];
            const uint8_t *data = chunk_bytes(trace, i);
            uint32_t offset[PACKED_COUNT + 1];

            if (data == NULL)
                continue;
            chunk_layout(entry, offset);

            struct chunk_names names = chunk_names_at(entry, data, offset);

            for (uint32_t j = 0; j < entry->dictionary_count; j++)
                kinds |= (uint8_t)(1 << named_kind(names.dictionary[j]));
        }
    }
    return kinds;
}

/* The kind of the slice `lift` rows above; parents ascend, so their chunks are mostly at hand. */
static uint32_t kind_above(struct sweep *sweep, uint32_t lift, uint32_t ordinal)
{
    const struct trace *trace = sweep->trace;

    if (lift > trace->rows[sweep->row].depth || ordinal >= trace->rows[sweep->row - lift].count)
        return KIND_OTHER; /* only in a damaged trace */

    uint32_t chunk = trace->rows[sweep->row - lift].first_chunk + ordinal / CHUNK_SLICES;
    uint32_t place = chunk % KEPT_CHUNKS, named;
    uint8_t flags;

    if (sweep->kept[place] != chunk) {
        const struct chunk_entry *entry = &trace->parts->chunks[chunk];
        const uint8_t *data = chunk_bytes(trace, chunk);
        uint32_t offset[PACKED_COUNT + 1];

        chunk_layout(entry, offset);
        sweep->kept[place] = chunk;
        sweep->kept_count[place] = data == NULL ? 0 : entry->count;
        if (data != NULL)
            sweep->kept_names[place] = chunk_names_at(entry, data, offset);
    }
    if (ordinal % CHUNK_SLICES >= sweep->kept_count[place])
        return KIND_OTHER;
    chunk_look(&sweep->kept_names[place], ordinal % CHUNK_SLICES, &named, &flags);
    return named_kind(named);
}

/* Moves an interval from one kind to another. */
static void move_time(const struct summary_buckets *to, int64_t start_ps, int64_t end_ps,
                      uint32_t kind, uint32_t from_kind)
{
    int64_t first = start_ps >> to->level, last = (end_ps - 1) >> to->level;

    if (first == last) {
        if (first < to->first || first >= to->first + to->count)
            return;
        summary_add(&to->self_ps[first - to->first][kind], end_ps - start_ps);
        summary_add(&to->self_ps[first - to->first][from_kind], start_ps - end_ps);
        return;
    }
    if (last >= to->first + to->count)
        last = to->first + to->count - 1;
    for (int64_t bucket = first < to->first ? to->first : first; bucket <= last; bucket++) {
        int64_t from_ps = (int64_t)((uint64_t)bucket << to->level);
        int64_t until_ps = (int64_t)((uint64_t)(bucket + 1) << to->level);
        int64_t part_ps =
            (end_ps < until_ps ? end_ps : until_ps) - (start_ps > from_ps ? start_ps : from_ps);

        summary_add(&to->self_ps[bucket - to->first][kind], part_ps);
        summary_add(&to->self_ps[bucket - to->first][from_kind], -part_ps);
    }
}

/* Slices [first, end) of the chunk; all in one group. */
static void sweep_group(struct sweep *sweep, const uint8_t *data, const uint32_t *offset,
                        uint32_t first, uint32_t end)
{
    int64_t start_ps[GROUP_SLICES], dur_ps[GROUP_SLICES];

    chunk_group(sweep->entry, data, offset, first / GROUP_SLICES, start_ps, dur_ps);
    for (uint32_t i = first; i < end; i++) {
        int64_t start = start_ps[i % GROUP_SLICES], dur = dur_ps[i % GROUP_SLICES];
        uint32_t lift = chunk_lift(&sweep->parents, i), named, above = SUMMARY_NOWHERE;
        uint8_t flags;

        if (dur == 0)
            continue;
        chunk_look(&sweep->names, i, &named, &flags);
        if (lift > 0)
            above = kind_above(sweep, lift, chunk_parent(&sweep->parents, i));
        if (above != named_kind(named))
            move_time(sweep->to, start, start + dur, named_kind(named), above);
    }
}

/* Slices [first, end) of a chunk. */
static void sweep_chunk(struct sweep *sweep, uint32_t chunk, uint32_t first, uint32_t end)
{
    const struct chunk_entry *entry = &sweep->trace->parts->chunks[chunk];
    const uint8_t *data = chunk_bytes(sweep->trace, chunk);
    bool nested = entry->width[PACKED_LIFT] == 0 && entry->lift_base > 0;
    uint32_t offset[PACKED_COUNT + 1];

    if (data == NULL || (nested && sweep->to->one_kind))
        return;
    chunk_layout(entry, offset);
    sweep->entry = entry;
    sweep->names = chunk_names_at(entry, data, offset);
    sweep->parents = chunk_parents_at(entry, data, offset);
    for (uint32_t next; first < end; first = next) {
        next = (first / GROUP_SLICES + 1) * GROUP_SLICES;
        sweep_group(sweep, data, offset, first, next < end ? next : end);
    }
}

static void sweep_row(struct sweep *sweep)
{
    const struct row *row = &sweep->trace->rows[sweep->row];
    const struct summary_buckets *to = sweep->to;
    int64_t end = to->first + to->count;
    uint32_t first_slice, end_slice;

    if (row->count == 0 || row->start_ps >> to->level >= end ||
        row->end_ps >> to->level < to->first)
        return;

    int64_t from_ps = row->start_ps >> to->level >= to->first
                          ? row->start_ps
                          : (int64_t)((uint64_t)to->first << to->level);
    int64_t to_ps =
        row->end_ps >> to->level < end ? INT64_MAX : (int64_t)((uint64_t)end << to->level);

    row_window(sweep->trace, row, from_ps, to_ps, &first_slice, &end_slice);
    for (uint32_t at = first_slice, until; at < end_slice; at = until) {
        uint32_t chunk = at / CHUNK_SLICES;

        until = (chunk + 1) * CHUNK_SLICES < end_slice ? (chunk + 1) * CHUNK_SLICES : end_slice;
        sweep_chunk(sweep, row->first_chunk + chunk, at % CHUNK_SLICES,
                    until - chunk * CHUNK_SLICES);
    }
}

void summary_sweep(const struct trace *trace, track_id track, const struct summary_buckets *to)
{
    const struct track *swept = &trace->tracks[track];
    struct sweep sweep = {.trace = trace, .to = to};

    for (uint32_t i = 0; i < KEPT_CHUNKS; i++)
        sweep.kept[i] = UINT32_MAX;
    for (uint32_t depth = 0; depth < swept->row_count; depth++) {
        sweep.row = swept->first_row + depth;
        sweep_row(&sweep);
    }
}
