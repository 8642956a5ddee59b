/* SPDX-License-Identifier: Apache-2.0 */
/* A tile from the cells of a row's pyramid. */
#include "base/bisect.h"
#include "base/file.h"
#include "trace/levels/pyramid.h"
#include "trace/levels/tile_writer.h"
#include "trace/writers.h"

/* Around where cells are thought to be: 16 KiB. */
enum { WILL_NEED_CELLS = 1 << 10 };

struct pyramids {
    const struct pyramid_record *records;
    uint32_t *of_row; /* index + 1; 0: the row has none */
};

struct level { /* a stored one */
    const struct pyramid_cell *cells;
    uint32_t count;
    int level;
    int64_t origin; /* absolute quantum of offset 0 */
    int64_t end;    /* behind the row's last one */
};

static const struct pyramid_record *record_of(const struct trace *trace, row_id row)
{
    const struct pyramids *pyramids = trace->parts->pyramids;

    if (pyramids == NULL || pyramids->of_row[row] == 0)
        return NULL;
    return &pyramids->records[pyramids->of_row[row] - 1];
}

static int index_of(const struct pyramid_record *record, int level)
{
    int index = (level - record->base) / PYRAMID_STEP;

    return index < record->level_count ? index : record->level_count - 1;
}

int pyramid_level(const struct trace *trace, row_id row, int level)
{
    const struct pyramid_record *record = record_of(trace, row);

    if (record == NULL || level < record->base)
        return -1;
    return record->base + PYRAMID_STEP * index_of(record, level);
}

/* The coarsest stored level that is at most as coarse. */
static bool find_level(const struct trace *trace, row_id row, int level, struct level *ret)
{
    const struct pyramid_record *record = record_of(trace, row);
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_PYRAMID_CELLS);
    uint64_t first_cell = record->first_cell;
    int index = index_of(record, level);

    for (int i = 0; i < index; i++)
        first_cell += record->cell_count[i];
    ret->count = record->cell_count[index];
    if ((first_cell + ret->count) * sizeof(*ret->cells) > table.count)
        return false;
    ret->cells = (const struct pyramid_cell *)(const void *)table.at + first_cell;
    ret->level = record->base + index * PYRAMID_STEP;
    ret->origin = trace->rows[row].start_ps >> ret->level;
    ret->end = (trace->rows[row].end_ps >> ret->level) + 1;
    return true;
}

/* Where a cell begins, absolute. */
static inline int64_t quantum_of(const struct level *stored, uint32_t at)
{
    return stored->origin + (stored->cells[at].place & CELL_OFFSET_MASK);
}

/* Where the cell of a quantum would be if they were spread evenly. */
static uint32_t guess_cell(const struct level *stored, int64_t quantum)
{
    if (quantum <= stored->origin || stored->count == 0)
        return 0;
    if (quantum >= stored->end)
        return stored->count;

    uint32_t guess = (uint32_t)((double)(quantum - stored->origin) /
                                (double)(stored->end - stored->origin) * stored->count);

    return guess < stored->count ? guess : stored->count;
}

/* The first cell that begins at or after a quantum of the stored level: galloped for from the
 * guess, so that few pages are touched. */
static uint32_t find_cell(const struct level *stored, int64_t quantum)
{
    uint32_t guess = guess_cell(stored, quantum), from = guess, to = guess;

    for (uint32_t step = 1; to < stored->count && quantum_of(stored, to) < quantum; step *= 2) {
        from = to + 1;
        to = stored->count - to > step ? to + step : stored->count;
    }
    for (uint32_t step = 1; from > 0 && quantum_of(stored, from - 1) >= quantum; step *= 2) {
        to = from - 1;
        from = from - 1 > step ? from - 1 - step : 0;
    }
    return BISECT(from, to, i, quantum_of(stored, i) < quantum);
}

static inline uint32_t width_of(const struct pyramid_cell *cell)
{
    if (cell->place & CELL_WIDE)
        return cell->extent;
    return cell->extent & CELL_STRADDLES ? 2 : 1;
}

static inline uint32_t slices_of(const struct pyramid_cell *cell)
{
    return cell->place & CELL_WIDE ? 1 : cell->extent & ~CELL_STRADDLES;
}

/* Cells [at, end) that begin in one quantum of the tile. */
static inline void put_cells(const struct level *stored, uint32_t at, uint32_t end, int64_t quantum,
                             int coarser, struct tile_writer *writer)
{
    const struct pyramid_cell *longest = &stored->cells[at];
    const struct pyramid_cell *cell = longest;
    uint64_t covered = 0;
    uint32_t slices = 0;
    int64_t last = 0;

    for (; at < end; at++) {
        cell = &stored->cells[at];
        covered += (uint64_t)cell->busy * width_of(cell);
        slices += slices_of(cell);
        longest = cell->weight > longest->weight ? cell : longest;
    }
    last = stored->origin + (cell->place & CELL_OFFSET_MASK) + width_of(cell) - 1;
    tile_put(writer, quantum, last >> coarser, covered, slices, longest->named,
             (uint8_t)(longest->place >> CELL_FLAGS_BIT), longest->weight);
}

void tile_from_cells(const struct trace *trace, row_id row, int level, struct tile_writer *writer)
{
    struct level stored;

    if (!find_level(trace, row, level, &stored))
        return;

    int coarser = level - stored.level;
    int64_t end = writer->first + TILE_QUANTA;
    uint32_t at = find_cell(&stored, (int64_t)((uint64_t)writer->first << coarser)), next;

    tile_writer_shares(writer, coarser);
    if (at > 0 && stored.cells[at - 1].place & CELL_WIDE) { /* may reach into the tile */
        int64_t last = quantum_of(&stored, at - 1) + stored.cells[at - 1].extent - 1;

        if (last >> coarser >= writer->first)
            put_cells(&stored, at - 1, at, quantum_of(&stored, at - 1) >> coarser, coarser, writer);
    }
    for (; at < stored.count; at = next) {
        int64_t quantum = quantum_of(&stored, at) >> coarser;

        if (quantum >= end)
            break;
        for (next = at + 1; next < stored.count && quantum_of(&stored, next) >> coarser == quantum;)
            next++;
        put_cells(&stored, at, next, quantum, coarser, writer);
    }
}

void pyramid_will_need(const struct trace *trace, row_id row, int level, int64_t first)
{
    struct level stored;

    if (!find_level(trace, row, level, &stored))
        return;

    int coarser = level - stored.level;
    uint32_t from = guess_cell(&stored, (int64_t)((uint64_t)first << coarser));
    uint32_t to = guess_cell(&stored, (int64_t)((uint64_t)(first + TILE_QUANTA) << coarser));

    from = from > WILL_NEED_CELLS ? from - WILL_NEED_CELLS : 0;
    to = stored.count - to > WILL_NEED_CELLS ? to + WILL_NEED_CELLS : stored.count;
    if (from < to)
        file_will_need(stored.cells + from, (to - from) * sizeof(*stored.cells));
}

static bool record_fits(const struct trace *trace, const struct pyramid_record *record,
                        uint64_t first_cell)
{
    return record->row < trace->row_count && record->first_cell == first_cell &&
           record->level_count > 0 && record->level_count <= PYRAMID_LEVELS_MAX &&
           record->base + PYRAMID_STEP * (record->level_count - 1) <= TILE_LEVEL_MAX;
}

enum status pyramids_open(struct trace *trace, struct arena *arena, struct error *err)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_PYRAMIDS);
    const struct pyramid_record *records = (const struct pyramid_record *)(const void *)table.at;
    size_t count = table.count / sizeof(*records);
    struct pyramids *pyramids = arena_new(arena, struct pyramids);
    uint64_t first_cell = 0;

    pyramids->records = records;
    pyramids->of_row = arena_array(arena, uint32_t, trace->row_count + 1);
    if (table.count % sizeof(*records) != 0 || count > trace->row_count)
        return fail(err, ERR_FORMAT, "the table of pyramids has %zu bytes", table.count);
    for (size_t i = 0; i < count; i++) {
        if (!record_fits(trace, &records[i], first_cell) ||
            (i > 0 && records[i].row <= records[i - 1].row))
            return fail(err, ERR_FORMAT, "pyramid %zu does not fit the ones before", i);
        for (uint32_t level = 0; level < records[i].level_count; level++)
            first_cell += records[i].cell_count[level];
        pyramids->of_row[records[i].row] = (uint32_t)i + 1;
    }
    trace->parts->pyramids = pyramids;
    return OK;
}
