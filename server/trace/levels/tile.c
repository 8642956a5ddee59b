/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of a row: who answers is decided by the row's base level, the same for every tile. */
#include "trace/levels/tile.h"

#include "trace/levels/pyramid.h"
#include "trace/levels/tile_writer.h"

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
    struct tile_writer writer = {.tile = ret};

    ret->count = 0;
    if (!find_tile(trace, row, level, index, &writer.first))
        return;
    if (pyramid_level(trace, row, level) >= 0)
        tile_from_cells(trace, row, level, &writer);
    else
        tile_from_slices(trace, row, level, &writer);
}

void tile_will_need(const struct trace *trace, row_id row_index, int level, int64_t index)
{
    int64_t first;

    if (!find_tile(trace, row_index, level, index, &first))
        return;
    if (pyramid_level(trace, row_index, level) >= 0) {
        pyramid_will_need(trace, row_index, level, first);
        return;
    }

    const struct row *row = &trace->rows[row_index];
    int64_t last = first + TILE_QUANTA;
    int64_t to_ps = last > row->end_ps >> level ? INT64_MAX : (int64_t)((uint64_t)last << level);

    row_will_need(trace, row, (int64_t)((uint64_t)first << level), to_ps);
}
