/* SPDX-License-Identifier: Apache-2.0 */
/* Pyramids, written at the finish: one pass over each row makes all its levels at once.
 *
 * Slices go into the open cell of the base level; a cell that closes goes into the open one of the
 * level above, with its sums still exact, and is rounded only where it is stored. Cells wait in a
 * spill file, level by level in parts, because the table holds them row by row.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "trace/levels/pyramid.h"
#include "trace/levels/tile_writer.h"
#include "trace/writers.h"

enum { BUFFER_CELLS = 2048 };

struct open_cell {       /* folded; slices 0: none */
    int64_t first, last; /* absolute quanta */
    int64_t covered_ps, longest_ps;
    uint32_t slices, named;
    uint8_t flags;
};

struct open_level {
    struct open_cell cell;
    struct pyramid_cell *buffer;
    uint32_t buffered;
};

struct part_of_level { /* cells in the spill file */
    uint64_t offset;
    uint32_t count;
    uint32_t level;
};

struct builder {
    const struct part_tools *tools;
    const struct trace *trace;
    struct error *err;
    struct chunk *chunk;
    struct spill *cells;
    struct open_level levels[PYRAMID_LEVELS_MAX];
    int64_t start_ps; /* of the row at hand */
    struct pyramid_record *record;

    struct pyramid_record *records;
    uint32_t *first_part; /* of each record */
    uint32_t record_count, record_capacity;
    struct part_of_level *parts;
    uint32_t part_count, part_capacity;
    uint64_t cell_count;
};

/* About how many quanta of a level hold begins, in sixteenths: each 32 slices fill what they span,
 * but no more than 32. */
static uint64_t quanta_sixteenths(const struct trace *trace, row_id row, int level)
{
    uint32_t count;
    const struct slice_sample *samples = row_samples(trace, row, &count);
    uint64_t quanta = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t end_ps = i + 1 < count ? samples[i + 1].start_ps : trace->rows[row].end_ps;
        uint64_t span_ps = (uint64_t)end_ps - (uint64_t)samples[i].start_ps;

        if (span_ps >> level >= SAMPLE_SLICES)
            quanta += SAMPLE_SLICES * 16;
        else
            quanta += level >= 4 ? span_ps >> (level - 4) : span_ps << (4 - level);
    }
    return quanta;
}

static int64_t span_of(const struct row *row, int level)
{
    return (row->end_ps >> level) - (row->start_ps >> level) + 1;
}

static int choose_base(const struct trace *trace, row_id row_index)
{
    const struct row *row = &trace->rows[row_index];
    uint64_t most = row->count * (UINT64_C(16) / PYRAMID_SLICES);
    int from = BISECT(0, TILE_LEVEL_MAX, i, quanta_sixteenths(trace, row_index, i) > most);

    while (from < TILE_LEVEL_MAX && span_of(row, from) > CELL_OFFSET_MASK)
        from++;
    return from;
}

static enum status flush_level(struct builder *builder, uint32_t level)
{
    struct open_level *open = &builder->levels[level];
    struct part_of_level part = {.count = open->buffered, .level = level};
    struct bytes bytes = {.at = (const uint8_t *)open->buffer,
                          .count = open->buffered * sizeof(*open->buffer)};

    if (open->buffered == 0)
        return OK;
    if (builder->part_count == builder->part_capacity) {
        builder->part_capacity = builder->part_capacity == 0 ? 256 : builder->part_capacity * 2;
        builder->parts =
            memory_resize(builder->parts, builder->part_capacity, sizeof(*builder->parts));
    }
    TRY(spill_append(builder->cells, bytes, &part.offset, builder->err));
    builder->parts[builder->part_count++] = part;
    builder->record->cell_count[level] += open->buffered;
    builder->cell_count += open->buffered;
    open->buffered = 0;
    return OK;
}

static enum status add_to_level(struct builder *builder, uint32_t level,
                                const struct open_cell *cell);

/* Stores a finished cell and hands it to the level above. */
static enum status store_cell(struct builder *builder, uint32_t level, const struct open_cell *cell)
{
    struct open_level *open = &builder->levels[level];
    int quantum = builder->record->base + (int)level * PYRAMID_STEP;
    uint64_t width = (uint64_t)(cell->last - cell->first + 1);
    bool wide = width > 2;
    uint32_t offset = (uint32_t)(cell->first - (builder->start_ps >> quantum));

    if (open->buffered == BUFFER_CELLS)
        TRY(flush_level(builder, level));
    open->buffer[open->buffered++] = (struct pyramid_cell){
        .place = offset | (wide ? CELL_WIDE : 0) | (uint32_t)cell->flags << CELL_FLAGS_BIT,
        .extent = wide ? (uint32_t)width : cell->slices | (width == 2 ? CELL_STRADDLES : 0),
        .named = cell->named,
        .busy = tile_share((uint64_t)cell->covered_ps, width << quantum),
        .weight = dur_weight(cell->longest_ps)};
    if (level + 1 == builder->record->level_count)
        return OK;

    struct open_cell above = *cell;

    above.first >>= PYRAMID_STEP;
    above.last >>= PYRAMID_STEP;
    return add_to_level(builder, level + 1, &above);
}

static enum status close_level(struct builder *builder, uint32_t level)
{
    struct open_cell cell = builder->levels[level].cell;

    builder->levels[level].cell.slices = 0;
    return cell.slices > 0 ? store_cell(builder, level, &cell) : OK;
}

static enum status add_to_level(struct builder *builder, uint32_t level,
                                const struct open_cell *cell)
{
    struct open_cell *open = &builder->levels[level].cell;

    if (cell->last - cell->first >= 2) {
        TRY(close_level(builder, level));
        return store_cell(builder, level, cell);
    }
    if (open->slices == 0 || open->first != cell->first) {
        TRY(close_level(builder, level));
        *open = *cell;
        return OK;
    }
    if (cell->longest_ps > open->longest_ps) {
        open->longest_ps = cell->longest_ps;
        open->named = cell->named;
        open->flags = cell->flags;
    }
    open->last = cell->last > open->last ? cell->last : open->last;
    open->covered_ps += cell->covered_ps;
    open->slices += cell->slices;
    return OK;
}

static enum status add_chunk(struct builder *builder)
{
    const struct chunk *chunk = builder->chunk;
    int base = builder->record->base;

    for (uint32_t i = 0; i < chunk->count; i++) {
        int64_t first = chunk->start_ps[i] >> base;
        int64_t last = (chunk->start_ps[i] + chunk->dur_ps[i] - 1) >> base;
        struct open_cell cell = {.first = first,
                                 .last = last > first ? last : first,
                                 .covered_ps = chunk->dur_ps[i],
                                 .longest_ps = chunk->dur_ps[i],
                                 .slices = 1,
                                 .named = named_of(chunk->name[i], (enum kind)chunk->kind[i]),
                                 .flags = chunk->flags[i]};

        TRY(add_to_level(builder, 0, &cell));
    }
    return OK;
}

static void begin_record(struct builder *builder, row_id row_index)
{
    const struct row *row = &builder->trace->rows[row_index];
    int level = choose_base(builder->trace, row_index);

    if (builder->record_count == builder->record_capacity) {
        builder->record_capacity =
            builder->record_capacity == 0 ? 64 : builder->record_capacity * 2;
        builder->records =
            memory_resize(builder->records, builder->record_capacity, sizeof(*builder->records));
        builder->first_part = memory_resize(builder->first_part, builder->record_capacity + 1u,
                                            sizeof(*builder->first_part));
    }
    builder->first_part[builder->record_count] = builder->part_count;
    builder->record = &builder->records[builder->record_count++];
    memset(builder->record, 0, sizeof(*builder->record));
    builder->start_ps = row->start_ps;
    builder->record->row = row_index;
    builder->record->base = (uint8_t)level;
    builder->record->level_count = 1;
    builder->record->first_cell = builder->cell_count;
    for (; level + PYRAMID_STEP <= TILE_LEVEL_MAX && span_of(row, level) > PYRAMID_CELLS_FEW;
         level += PYRAMID_STEP)
        builder->record->level_count++;
}

static enum status build_row(struct builder *builder, row_id row_index)
{
    const struct row *row = &builder->trace->rows[row_index];

    begin_record(builder, row_index);
    for (uint32_t i = 0; i < row->chunk_count; i++) {
        chunk_unpack(builder->trace, row->first_chunk + i,
                     COLUMN_START | COLUMN_DUR | COLUMN_NAME | COLUMN_FLAGS, builder->chunk);
        TRY(add_chunk(builder));
    }
    for (uint32_t level = 0; level < builder->record->level_count; level++)
        TRY(close_level(builder, level));
    for (uint32_t level = 0; level < builder->record->level_count; level++)
        TRY(flush_level(builder, level));
    return OK;
}

/* The cells of one record, level by level. */
static enum status copy_record(struct builder *builder, uint32_t index, struct pyramid_cell **to)
{
    for (uint32_t level = 0; level < builder->records[index].level_count; level++)
        for (uint32_t i = builder->first_part[index]; i < builder->first_part[index + 1]; i++) {
            const struct part_of_level *part = &builder->parts[i];

            if (part->level != level)
                continue;
            TRY(spill_read(builder->cells, part->offset, *to, part->count * sizeof(**to),
                           builder->err));
            *to += part->count;
        }
    return OK;
}

static enum status write_tables(struct builder *builder)
{
    struct block_out out = builder->tools->out;
    struct bytes records = {.at = (const uint8_t *)builder->records,
                            .count = builder->record_count * sizeof(*builder->records)};
    uint8_t *table;

    TRY(out.table(out.to, TABLE_PYRAMIDS, records, builder->err));
    TRY(out.table_reserve(out.to, TABLE_PYRAMID_CELLS,
                          builder->cell_count * sizeof(struct pyramid_cell), &table, builder->err));

    struct pyramid_cell *to = (struct pyramid_cell *)(void *)table;

    if (builder->record_count > 0)
        builder->first_part[builder->record_count] = builder->part_count;
    for (uint32_t i = 0; i < builder->record_count; i++)
        TRY(copy_record(builder, i, &to));
    return OK;
}

static enum status build(struct builder *builder)
{
    for (row_id row = 0; row < builder->trace->row_count; row++)
        if (builder->trace->rows[row].count >= PYRAMID_SLICES_MIN)
            TRY(build_row(builder, row));
    return write_tables(builder);
}

static enum status finish(void *state, const struct trace *trace, struct error *err)
{
    const struct part_tools *tools = state;
    struct arena *arena = arena_create();
    struct builder builder = {
        .tools = tools,
        .trace = trace,
        .err = err,
        .chunk = arena_new(arena, struct chunk),
        .cells = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max)};

    for (uint32_t i = 0; i < PYRAMID_LEVELS_MAX; i++)
        builder.levels[i].buffer = arena_array(arena, struct pyramid_cell, BUFFER_CELLS);

    enum status status = build(&builder);

    spill_destroy(builder.cells);
    free(builder.records);
    free(builder.first_part);
    free(builder.parts);
    arena_destroy(arena);
    return status;
}

const struct part part_pyramid = {.name = "pyramid",
                                  .create = part_tools_keep,
                                  .finish = finish,
                                  .destroy = free,
                                  .open = pyramids_open};
