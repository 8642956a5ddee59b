/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of detail of a row, made once.
 *
 *   TABLE_PYRAMIDS       a record a row of at least PYRAMID_SLICES_MIN slices, by row
 *   TABLE_PYRAMID_CELLS  the cells of all rows, level by level
 *
 * A level has quanta of 2^level ps and cells only where something begins:
 *
 *   quanta    |         |         |         |         |         |
 *   slices     - --  [================================]  -
 *   cells     F(3)     W(width 4)                       F(1)
 *
 * F, a folded cell: all slices that begin in the quantum and touch at most the next one. W, a wide
 * one: a single slice that touches three quanta or more. So a quantum has at most one of each, F in
 * front of W, and which is which follows for a coarser level from a finer one, as do counts and
 * extents, exactly. Base is the least level with at most one quantum for 8 slices; every fourth
 * level from there on is stored, until few cells are left.
 */
#ifndef JVIEWD_TRACE_LEVELS_PYRAMID_H
#define JVIEWD_TRACE_LEVELS_PYRAMID_H

#include "trace/levels/tile.h"
#include "trace/readers.h"

enum {
    PYRAMID_SLICES_MIN = 256,
    PYRAMID_SLICES = 8,      /* a base quantum, at least, on the average */
    PYRAMID_STEP = 4,        /* levels from one stored level to the next: a factor of 16 */
    PYRAMID_LEVELS_MAX = 14, /* 0, 4, ... 52 */
    PYRAMID_CELLS_FEW = 64,  /* no coarser level above this */
    CELL_OFFSET_BITS = 25,
    CELL_FLAGS_BIT = 26,
};
#define CELL_OFFSET_MASK ((UINT32_C(1) << CELL_OFFSET_BITS) - 1)
#define CELL_WIDE (UINT32_C(1) << CELL_OFFSET_BITS)
#define CELL_STRADDLES (UINT32_C(1) << 31)

struct pyramid_cell {
    uint32_t place;  /* quanta from the row's first one; CELL_WIDE; slice_flags of the longest */
    uint32_t extent; /* wide: its width in quanta; folded: slices, and CELL_STRADDLES where the last
                        one touches the next quantum */
    uint32_t named;  /* name and kind of the longest */
    uint16_t busy;   /* covered share of the cell's quanta, 65535 = all; 0: instants only */
    uint16_t weight; /* of the longest */
};

struct pyramid_record {
    uint32_t row;
    uint8_t base, level_count;
    uint16_t zero;
    uint64_t first_cell;
    uint32_t cell_count[PYRAMID_LEVELS_MAX];
};

/* The stored level that answers for tiles of a level; -1: their slices do. */
int pyramid_level(const struct trace *trace, row_id row, int level);

void pyramid_will_need(const struct trace *trace, row_id row, int level, int64_t first);
MUST_CHECK enum status pyramids_open(struct trace *trace, struct arena *arena, struct error *err);

struct tile_writer;
void tile_from_cells(const struct trace *trace, row_id row, int level, struct tile_writer *writer);
void tile_from_slices(const struct trace *trace, row_id row, int level, struct tile_writer *writer);

#endif
