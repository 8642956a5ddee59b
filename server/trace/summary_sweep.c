/* One pass over the slices of a track that touch some buckets. */
#include <stdlib.h>

#include "trace/summary.h"

enum { KEPT_CHUNKS = 8 };

struct summary_sweeper {
    struct chunk chunk, parents;
    uint32_t kept[KEPT_CHUNKS]; /* chunks whose kinds are at hand; UINT32_MAX: none */
    uint8_t kinds[KEPT_CHUNKS][CHUNK_SLICES];
};

struct summary_sweeper *summary_sweeper_create(void)
{
    return memory_resize(NULL, 1, sizeof(struct summary_sweeper));
}

void summary_sweeper_destroy(struct summary_sweeper *sweeper)
{
    free(sweeper);
}

bool summary_is_work(const struct track *track)
{
    return track->slice_count > 0 && !track->derived && track->kind != TRACK_COUNTER &&
           track->role != ROLE_STEPS && track->role != ROLE_MODULES && track->role != ROLE_SCOPES;
}

/* The kind of a slice above the row; parents ascend, so their chunks are mostly at hand. */
static uint8_t kind_above(struct summary_sweeper *sweeper, const struct trace *trace, row_id row,
                          slice_id parent)
{
    while (parent < trace->rows[row].first_slice)
        row--;

    uint32_t ordinal = parent - trace->rows[row].first_slice;
    uint32_t chunk = trace->rows[row].first_chunk + ordinal / CHUNK_SLICES;
    uint32_t place = chunk % KEPT_CHUNKS;

    if (sweeper->kept[place] != chunk) {
        chunk_unpack(trace, chunk, COLUMN_NAME, &sweeper->parents);
        memset(sweeper->kinds[place], KIND_OTHER, CHUNK_SLICES);
        memcpy(sweeper->kinds[place], sweeper->parents.kind, sweeper->parents.count);
        sweeper->kept[place] = chunk;
    }
    return sweeper->kinds[place][ordinal % CHUNK_SLICES];
}

/* Moves the interval from one kind to another; SUMMARY_KINDS - 1 takes what comes from nowhere. */
static void move_time(const struct summary_buckets *to, int64_t start_ps, int64_t end_ps,
                      uint8_t kind, uint8_t from_kind)
{
    int64_t first = start_ps >> to->level, last = (end_ps - 1) >> to->level;

    if (first == last) {
        if (first < to->first || first >= to->first + to->count)
            return;
        summary_add(&to->self_ps[first - to->first][kind], end_ps - start_ps);
        summary_add(&to->self_ps[first - to->first][from_kind], -(end_ps - start_ps));
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
        summary_add(&to->self_ps[bucket - to->first][from_kind], -(part_ps));
    }
}

static void sweep_chunk(struct summary_sweeper *sweeper, const struct trace *trace, row_id row,
                        uint32_t first, uint32_t end, const struct summary_buckets *to)
{
    const struct chunk *chunk = &sweeper->chunk;

    for (uint32_t i = first; i < end && i < chunk->count; i++) {
        uint8_t above = SUMMARY_KINDS - 1;

        if (chunk->dur_ps[i] == 0)
            continue;
        if (chunk->parent[i] != NO_SLICE)
            above = kind_above(sweeper, trace, row, chunk->parent[i]);
        if (above != chunk->kind[i])
            move_time(to, chunk->start_ps[i], chunk->start_ps[i] + chunk->dur_ps[i], chunk->kind[i],
                      above);
    }
}

static void sweep_row(struct summary_sweeper *sweeper, const struct trace *trace, row_id row_index,
                      const struct summary_buckets *to)
{
    const struct row *row = &trace->rows[row_index];
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

    row_window(trace, row, from_ps, to_ps, &first_slice, &end_slice);
    for (uint32_t at = first_slice; at < end_slice;) {
        uint32_t chunk = at / CHUNK_SLICES, chunk_end = (chunk + 1) * CHUNK_SLICES;
        uint32_t until = chunk_end < end_slice ? chunk_end : end_slice;

        chunk_unpack(trace, row->first_chunk + chunk,
                     COLUMN_START | COLUMN_DUR | COLUMN_NAME | COLUMN_PARENT, &sweeper->chunk);
        sweep_chunk(sweeper, trace, row_index, at - chunk * CHUNK_SLICES,
                    until - chunk * CHUNK_SLICES, to);
        at = until;
    }
}

void summary_sweep(struct summary_sweeper *sweeper, const struct trace *trace, track_id track,
                   const struct summary_buckets *to)
{
    const struct track *swept = &trace->tracks[track];

    for (uint32_t i = 0; i < KEPT_CHUNKS; i++)
        sweeper->kept[i] = UINT32_MAX;
    for (uint32_t depth = 0; depth < swept->row_count; depth++)
        sweep_row(sweeper, trace, swept->first_row + depth, to);
}
