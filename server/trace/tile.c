/* A tile of a row: who answers is decided by the row's base level, the same for every tile. */
#include "trace/tile.h"

#include "trace/pyramid.h"
#include "trace/sink_parts.h"

uint16_t tile_share(uint64_t covered, uint64_t whole)
{
    while (covered >> 47 != 0) {
        covered >>= 1;
        whole >>= 1;
    }
    if (covered == 0)
        return 0;
    if (covered >= whole)
        return UINT16_MAX;

    uint64_t share = (covered * UINT16_MAX + whole / 2) / whole;

    return (uint16_t)(share == 0 ? 1 : share);
}

static void write_cell(struct tile_pen *pen, uint32_t at)
{
    const struct tile_piece *cell = &pen->cell;
    struct tile *tile = pen->tile;
    int64_t tile_last = pen->first + TILE_QUANTA - 1;
    int64_t first = cell->first < pen->first ? pen->first : cell->first;
    int64_t last = cell->last > tile_last ? tile_last : cell->last;

    tile->offset[at] = (uint16_t)(first - pen->first);
    tile->width[at] = (uint16_t)(last - first + 1);
    tile->name[at] = cell->named & NAMED_NAME_MASK;
    tile->kind[at] = (uint8_t)(cell->named >> NAMED_KIND_SHIFT);
    tile->flags[at] = (uint8_t)(cell->flags | (cell->first < pen->first ? TILE_BEFORE : 0) |
                                (cell->last > tile_last ? TILE_AFTER : 0));
    tile->slices[at] = cell->slices;
    tile->busy[at] =
        tile_share(cell->covered, (uint64_t)(cell->last - cell->first + 1) * pen->quantum_units);
}

void tile_put(struct tile_pen *pen, const struct tile_piece *piece)
{
    struct tile *tile = pen->tile;
    struct tile_piece *cell = &pen->cell;
    int64_t offset = piece->first < pen->first ? 0 : piece->first - pen->first;

    if (tile->count > 0 && tile->offset[tile->count - 1] > offset)
        return; /* only in a damaged trace: cells of a tile are no more than its quanta */
    if (tile->count > 0 && tile->offset[tile->count - 1] == offset) {
        if (piece->weight > cell->weight) {
            cell->weight = piece->weight;
            cell->named = piece->named;
            cell->flags = piece->flags;
        }
        cell->last = piece->last > cell->last ? piece->last : cell->last;
        cell->covered += piece->covered;
        cell->slices += piece->slices;
    } else {
        *cell = *piece;
        tile->count++;
    }
    write_cell(pen, tile->count - 1);
}

/* The tile's first quantum; false where the row has nothing in it. */
static bool find_tile(const struct trace *trace, row_id row_index, int level, int64_t index,
                      int64_t *ret_first)
{
    if (row_index >= trace->row_count || level < 0 || level > TILE_LEVEL_MAX)
        return false;

    const struct row *row = &trace->rows[row_index];
    int64_t index_first = (row->start_ps >> level) >> 10, index_last = (row->end_ps >> level) >> 10;

    if (row->count == 0 || index < index_first || index > index_last)
        return false;
    *ret_first = index * TILE_QUANTA;
    return true;
}

void tile_fold(const struct trace *trace, row_id row, int level, int64_t index, struct tile *ret)
{
    struct tile_pen pen = {.tile = ret};

    ret->count = 0;
    if (!find_tile(trace, row, level, index, &pen.first))
        return;
    if (pyramid_level(trace, row, level) >= 0)
        tile_from_cells(trace, row, level, &pen);
    else
        tile_from_slices(trace, row, level, &pen);
}

void tile_will_need(const struct trace *trace, row_id row_index, int level, int64_t index)
{
    int64_t first;
    uint32_t first_slice, end_slice;

    if (!find_tile(trace, row_index, level, index, &first))
        return;
    if (pyramid_level(trace, row_index, level) >= 0) {
        pyramid_will_need(trace, row_index, level, first);
        return;
    }

    const struct row *row = &trace->rows[row_index];
    int64_t last = first + TILE_QUANTA;
    int64_t to_ps = last > row->end_ps >> level ? INT64_MAX : (int64_t)((uint64_t)last << level);

    row_window(trace, row, (int64_t)((uint64_t)first << level), to_ps, &first_slice, &end_slice);
}
