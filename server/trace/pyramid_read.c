/* A tile from the cells of a row's pyramid. */
#include "base/file.h"
#include "trace/pyramid.h"
#include "trace/sink_parts.h"

enum { WILL_NEED_CELLS = 1 << 10 }; /* fewer are not worth a system call */

struct pyramids {
    const struct pyramid_record *records;
    uint32_t *of_row; /* index + 1; 0: the row has none */
};

struct level { /* a stored one */
    const struct pyramid_cell *cells;
    uint32_t count;
    int level;
    int64_t origin; /* absolute quantum of offset 0 */
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
    return true;
}

/* The first cell that begins at or after a quantum of the stored level. */
static uint32_t find_cell(const struct level *stored, int64_t quantum)
{
    uint32_t from = 0, to = stored->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (stored->origin + (stored->cells[middle].place & CELL_OFFSET_MASK) < quantum)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct tile_piece piece_of(const struct level *stored, const struct pyramid_cell *cell,
                                  int coarser)
{
    bool wide = cell->place & CELL_WIDE;
    int64_t first = stored->origin + (cell->place & CELL_OFFSET_MASK);
    uint32_t width = wide ? cell->extent : cell->extent & CELL_STRADDLES ? 2 : 1;

    return (struct tile_piece){.first = first >> coarser,
                               .last = (first + width - 1) >> coarser,
                               .covered = (uint64_t)cell->busy * width,
                               .slices = wide ? 1 : cell->extent & ~CELL_STRADDLES,
                               .named = cell->named,
                               .weight = cell->weight,
                               .flags = (uint8_t)(cell->place >> CELL_FLAGS_BIT)};
}

/* Pieces of one quantum are put at once. */
static void join_piece(struct tile_piece *to, const struct tile_piece *piece)
{
    if (piece->weight > to->weight) {
        to->weight = piece->weight;
        to->named = piece->named;
        to->flags = piece->flags;
    }
    to->last = piece->last > to->last ? piece->last : to->last;
    to->covered += piece->covered;
    to->slices += piece->slices;
}

void tile_from_cells(const struct trace *trace, row_id row, int level, struct tile_pen *pen)
{
    struct level stored;

    if (!find_level(trace, row, level, &stored))
        return;

    int coarser = level - stored.level;
    int64_t end = pen->first + TILE_QUANTA;
    uint32_t at = find_cell(&stored, (int64_t)((uint64_t)pen->first << coarser));
    struct tile_piece open = {.slices = 0};

    pen->quantum_units = (uint64_t)UINT16_MAX << coarser;
    if (at > 0 && stored.cells[at - 1].place & CELL_WIDE) { /* may reach into the tile */
        open = piece_of(&stored, &stored.cells[at - 1], coarser);
        if (open.last >= pen->first)
            tile_put(pen, &open);
        open.slices = 0;
    }
    for (; at < stored.count; at++) {
        struct tile_piece piece = piece_of(&stored, &stored.cells[at], coarser);

        if (piece.first >= end)
            break;
        if (open.slices > 0 && piece.first == open.first) {
            join_piece(&open, &piece);
            continue;
        }
        if (open.slices > 0)
            tile_put(pen, &open);
        open = piece;
    }
    if (open.slices > 0)
        tile_put(pen, &open);
}

void pyramid_will_need(const struct trace *trace, row_id row, int level, int64_t first)
{
    struct level stored;

    if (!find_level(trace, row, level, &stored))
        return;

    int coarser = level - stored.level;
    uint32_t from = find_cell(&stored, (int64_t)((uint64_t)first << coarser));
    uint32_t to = find_cell(&stored, (int64_t)((uint64_t)(first + TILE_QUANTA) << coarser));

    if (to - from >= WILL_NEED_CELLS)
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
