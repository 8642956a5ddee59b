/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names, tracks, rows, chunks and samples, when the last slice has been written.
 *
 * Rows are numbered by (track, depth), slices along the rows, chunks along the rows: until now
 * they had no ids.
 */
#include <stdlib.h>

#include "trace/sink/sink_state.h"

enum status sink_table(struct sink *sink, enum table_kind kind, const void *records, size_t count,
                       size_t size)
{
    return sink->out.table(sink->out.to, kind, (struct bytes){.at = records, .count = count * size},
                           sink->err);
}

struct ordered_name {
    uint64_t prefix; /* first eight bytes, so that most comparisons need no text */
    name_id id;
    uint32_t zero;
};

static uint64_t prefix_of(struct str text)
{
    uint8_t bytes[8] = {0};

    memcpy(bytes, text.at, text.count < 8 ? text.count : 8);
    uint64_t prefix = 0;
    for (int i = 0; i < 8; i++)
        prefix = prefix << 8 | bytes[i];
    return prefix;
}

static int compare_names(const void *one, const void *other, void *data)
{
    const struct ordered_name *a = one, *b = other;
    const struct names *names = data;

    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return str_compare(names_get(names, a->id), names_get(names, b->id));
}

static enum status write_name_order(struct sink *sink, uint32_t count)
{
    struct ordered_name *ordered = memory_resize(NULL, count, sizeof(*ordered));
    uint8_t *table;

    for (name_id id = 0; id < count; id++)
        ordered[id] =
            (struct ordered_name){.prefix = prefix_of(names_get(sink->names, id)), .id = id};
    qsort_r(ordered, count, sizeof(*ordered), compare_names, sink->names);
    enum status status = sink->out.table_reserve(sink->out.to, TABLE_NAME_ORDER,
                                                 count * sizeof(name_id), &table, sink->err);
    for (uint32_t i = 0; i < count && status == OK; i++)
        ((name_id *)table)[i] = ordered[i].id;
    free(ordered);
    return status;
}

static enum status write_names(struct sink *sink)
{
    const uint32_t count = names_count(sink->names);
    uint8_t *table;
    uint64_t at = 0;

    TRY(sink->out.table_reserve(sink->out.to, TABLE_NAME_OFFSETS, (count + 1) * sizeof(uint64_t),
                                &table, sink->err));
    for (name_id id = 0; id < count; id++) {
        ((uint64_t *)table)[id] = at;
        at += names_get(sink->names, id).count;
    }
    ((uint64_t *)table)[count] = at;
    TRY(sink->out.table_reserve(sink->out.to, TABLE_NAME_TEXTS, at, &table, sink->err));
    for (name_id id = 0; id < count; id++) {
        struct str text = names_get(sink->names, id);
        if (text.count > 0)
            memcpy(table, text.at, text.count);
        table += text.count;
    }
    return write_name_order(sink, count);
}

struct totals {
    uint64_t row_count, slice_count, chunk_count, sample_count;
};

static struct totals count_all(const struct sink *sink)
{
    struct totals totals = {0};

    for (track_id id = 0; id < sink->track_count; id++) {
        const struct open_track *track = &sink->tracks[id];
        totals.row_count += track->row_count;
        for (uint32_t depth = 0; depth < track->row_count; depth++) {
            uint32_t count = track->rows[depth].first;
            totals.slice_count += count;
            totals.chunk_count += (count + CHUNK_SLICES - 1) / CHUNK_SLICES;
            totals.sample_count += (count + SAMPLE_SLICES - 1) / SAMPLE_SLICES;
        }
    }
    return totals;
}

static void take_totals(struct open_track *open)
{
    struct track *track = &open->track;

    track->row_count = open->row_count;
    for (uint32_t depth = 0; depth < open->row_count; depth++) {
        const struct open_row *row = &open->rows[depth];
        if (depth == 0 || row->start_ps < track->start_ps)
            track->start_ps = row->start_ps;
        if (depth == 0 || row->end_ps > track->end_ps)
            track->end_ps = row->end_ps;
        track->slice_count += row->first;
        if (__builtin_add_overflow(track->duration_sum_ps, row->dur_before,
                                   &track->duration_sum_ps))
            track->duration_sum_ps = INT64_MAX;
    }
}

static enum status write_tracks(struct sink *sink)
{
    uint8_t *table;
    uint32_t first_row = 0;

    TRY(sink->out.table_reserve(sink->out.to, TABLE_TRACKS,
                                sink->track_count * sizeof(struct track), &table, sink->err));
    for (track_id id = 0; id < sink->track_count; id++) {
        struct track *track = &sink->tracks[id].track;
        take_totals(&sink->tracks[id]);
        track->first_row = first_row;
        first_row += track->row_count;
        memcpy((struct track *)table + id, track, sizeof(*track));
    }
    return OK;
}

static enum status write_rows(struct sink *sink, uint64_t row_count)
{
    uint8_t *table;
    uint32_t slice = 0, chunk = 0;

    TRY(sink->out.table_reserve(sink->out.to, TABLE_ROWS, row_count * sizeof(struct row), &table,
                                sink->err));
    struct row *row = (struct row *)table;
    for (track_id id = 0; id < sink->track_count; id++) {
        const struct open_track *track = &sink->tracks[id];
        for (uint32_t depth = 0; depth < track->row_count; depth++, row++) {
            const struct open_row *open = &track->rows[depth];
            *row = (struct row){.track = id,
                                .depth = depth,
                                .first_slice = slice,
                                .count = open->first,
                                .first_chunk = chunk,
                                .chunk_count = (open->first + CHUNK_SLICES - 1) / CHUNK_SLICES,
                                .start_ps = open->start_ps,
                                .end_ps = open->end_ps};
            slice += row->count;
            chunk += row->chunk_count;
        }
    }
    return OK;
}

/* Walks the written chunks along the rows. */
static enum status write_chunks(struct sink *sink, uint64_t chunk_count)
{
    uint8_t *table;

    TRY(sink->out.table_reserve(sink->out.to, TABLE_CHUNKS,
                                chunk_count * sizeof(struct chunk_entry), &table, sink->err));
    struct chunk_entry *entry = (struct chunk_entry *)table;
    for (track_id id = 0; id < sink->track_count; id++)
        for (uint32_t depth = 0; depth < sink->tracks[id].row_count; depth++)
            for (uint32_t chunk = sink->tracks[id].rows[depth].first_chunk; chunk != NO_CHUNK;
                 chunk = sink->chunks[chunk].next)
                *entry++ = sink->chunks[chunk].entry;
    return OK;
}

static enum status write_samples(struct sink *sink, uint64_t sample_count)
{
    struct bytes samples;
    uint8_t *table;

    TRY(spill_map(sink->samples, &samples, sink->err));
    TRY(sink->out.table_reserve(sink->out.to, TABLE_SAMPLES32,
                                sample_count * sizeof(struct slice_sample), &table, sink->err));
    for (track_id id = 0; id < sink->track_count; id++)
        for (uint32_t depth = 0; depth < sink->tracks[id].row_count; depth++)
            for (uint32_t chunk = sink->tracks[id].rows[depth].first_chunk; chunk != NO_CHUNK;
                 chunk = sink->chunks[chunk].next) {
                const struct written_chunk *written = &sink->chunks[chunk];
                size_t bytes = (written->entry.count + SAMPLE_SLICES - 1u) / SAMPLE_SLICES *
                               sizeof(struct slice_sample);
                memcpy(table, samples.at + written->samples_offset, bytes);
                table += bytes;
            }
    return OK;
}

static enum status write_meta(struct sink *sink, uint64_t slice_count, name_id format)
{
    bool any = sink->has_samples;
    struct meta meta = {.kind_rules_version = KIND_RULES_VERSION,
                        .has_epoch = sink->has_epoch,
                        .format = format,
                        .hostname = sink->hostname,
                        .epoch_reason = sink->epoch_reason,
                        .epoch_ns = sink->epoch_ns,
                        .start_ps = sink->sample_start_ps,
                        .end_ps = sink->sample_end_ps,
                        .slice_count = slice_count,
                        .event_count = sink->event_count,
                        .sample_count = sink->sample_count};

    for (track_id id = 0; id < sink->track_count; id++) {
        const struct track *track = &sink->tracks[id].track;
        if (track->slice_count == 0)
            continue;
        meta.start_ps = !any || track->start_ps < meta.start_ps ? track->start_ps : meta.start_ps;
        meta.end_ps = !any || track->end_ps > meta.end_ps ? track->end_ps : meta.end_ps;
        any = true;
    }
    return sink_table(sink, TABLE_META, &meta, 1, sizeof(meta));
}

enum status sink_write_tables(struct sink *sink)
{
    const struct totals totals = count_all(sink);
    const name_id format = sink_name(sink, str_of(sink->format));

    if (sink_failed(sink))
        return sink->err->code;
    TRY(write_names(sink));
    TRY(write_tracks(sink));
    TRY(write_rows(sink, totals.row_count));
    TRY(write_chunks(sink, totals.chunk_count));
    TRY(write_samples(sink, totals.sample_count));
    return write_meta(sink, totals.slice_count, format);
}
