/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `slices` and `derived_slices`: host by host, row by row, chunk by chunk. */
#include <stdlib.h>

#include "analyse/table.h"
#include "serve/answer/slice_out.h"
#include "serve/tables/tables_parts.h"

enum { BATCH_CHUNKS = BATCH_ROWS_MAX / CHUNK_SLICES, OWN_COUNT = 14, FLAG_TEXTS = 64 };
#define CHUNK_COLUMNS                                                                              \
    (COLUMN_START | COLUMN_DUR | COLUMN_SELF | COLUMN_PLACE | COLUMN_FLAGS | COLUMN_PARENT)

struct slices_fill {
    struct data_source *source;
    const struct host_trace *host;
    const struct row *row;
    struct chunk *chunk;
    struct cell track, track_name;
    struct str flags[FLAG_TEXTS]; /* "" not made yet */
};

static struct cell id_cell(const struct slices_fill *fill, slice_id id)
{
    return id == NO_SLICE ? cell_null(STR(""))
                          : cell_text(slice_text(fill->source->arena, fill->host, id));
}

static struct cell flags_cell(struct slices_fill *fill, uint8_t flags)
{
    struct str *text = &fill->flags[flags % FLAG_TEXTS];

    if (flags != 0 && text->count == 0)
        *text = slice_flags_text(fill->source->arena, flags);
    return cell_text(flags == 0 ? STR("") : *text);
}

/* In the order of slice_columns of tables_schema.c. */
static void put_slice(struct slices_fill *fill, uint32_t at, const struct cell *names,
                      struct cell *ret)
{
    const struct chunk *chunk = fill->chunk;
    int64_t start_ps = run_time(fill->host, chunk->start_ps[at]);
    const struct cell own[OWN_COUNT] = {
        cell_text(fill->host->name),
        fill->track,
        fill->track_name,
        cell_integer(fill->row->depth),
        id_cell(fill, chunk->first_slice + at),
        cell_integer(start_ps),
        cell_integer(start_ps + chunk->dur_ps[at]),
        cell_integer(chunk->dur_ps[at]),
        cell_integer(chunk->self_ps[at]),
        names[chunk->place[at]],
        cell_text(str_of(kind_word((enum kind)chunk->dictionary_kind[chunk->place[at]]))),
        flags_cell(fill, chunk->flags[at]),
        id_cell(fill, chunk->parent[at]),
        cell_null(STR("")),
    };

    memcpy(ret, fill->source->whose, fill->source->own_first * sizeof *ret);
    memcpy(ret + fill->source->own_first, own, sizeof own);
}

static void put_chunk(struct slices_fill *fill, uint32_t chunk, struct cell *cells,
                      struct data_batch *batch)
{
    const struct data_table *table = fill->source->table;
    struct arena *arena = fill->source->arena;

    chunk_unpack(fill->host->trace, chunk, CHUNK_COLUMNS, fill->chunk);
    struct cell *names = arena_array(arena, struct cell, fill->chunk->dictionary_count + 1);
    for (uint32_t i = 0; i < fill->chunk->dictionary_count; i++)
        names[i] = cell_text(
            str_utf8(arena, trace_name(fill->host->trace, fill->chunk->dictionary_name[i])));
    for (uint32_t i = 0; i < fill->chunk->count; i++)
        put_slice(fill, i, names, &cells[(size_t)batch->row_count++ * table->column_count]);
}

/* The next row of the table's tracks that has chunks left; false: none has. */
static bool find_row(struct data_source *source)
{
    bool wants_derived = strcmp(source->table->name, "derived_slices") == 0;
    struct slices_at *at = &source->at;

    for (; at->host < source->traces->host_count; at->host++, at->row = 0) {
        const struct trace *trace = source->traces->hosts[at->host].trace;

        for (; at->row < trace->row_count; at->row++, at->chunk = 0) {
            const struct row *row = &trace->rows[at->row];

            if (trace->tracks[row->track].derived == wants_derived && at->chunk < row->chunk_count)
                return true;
        }
    }
    return false;
}

static void begin_row(struct slices_fill *fill)
{
    const struct data_source *source = fill->source;
    struct str name;

    fill->host = &source->traces->hosts[source->at.host];
    fill->row = &fill->host->trace->rows[source->at.row];
    name = trace_name(fill->host->trace, fill->host->trace->tracks[fill->row->track].name);
    fill->track = cell_text(track_text(source->arena, fill->host, fill->row->track));
    fill->track_name = cell_text(str_utf8(source->arena, name));
}

enum status data_slices_next(struct data_source *source, struct data_batch *ret, struct error *err)
{
    struct cell *cells = arena_array(source->arena, struct cell,
                                     (size_t)BATCH_ROWS_MAX * source->table->column_count);
    struct slices_fill *fill = arena_new(source->arena, struct slices_fill);

    (void)err;
    *ret = (struct data_batch){.cells = cells};
    fill->source = source;
    fill->chunk = arena_new(source->arena, struct chunk);
    for (uint32_t i = 0; i < BATCH_CHUNKS && find_row(source); i++) {
        begin_row(fill);
        put_chunk(fill, fill->row->first_chunk + source->at.chunk++, cells, ret);
    }
    return OK;
}
