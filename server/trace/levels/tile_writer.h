/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the cells of a tile, in time order: pieces that begin in one quantum become one cell. */
#ifndef JVIEWD_TRACE_LEVELS_TILE_WRITER_H
#define JVIEWD_TRACE_LEVELS_TILE_WRITER_H

#include "trace/levels/tile.h"
#include "trace/writers.h"

struct tile_writer {
    struct tile *tile;
    int64_t first; /* quantum of the tile, absolute as all quanta here */
    /* A quantum has `whole` units; a share of one is (covered >> before) * times >> after. */
    uint64_t whole, times;
    int before, after;
    /* The last cell, not yet cut at the tile. */
    int64_t cell_first, cell_last;
    uint64_t cell_covered, cell_size;
};

/* Units are picoseconds. */
static inline void tile_writer_ps(struct tile_writer *writer, int level)
{
    writer->whole = UINT64_C(1) << level;
    writer->times = UINT16_MAX;
    writer->before = level > 31 ? level - 31 : 0;
    writer->after = level > 31 ? 31 : level;
}

/* Units are 1/65535 of a quantum that is so many levels finer. */
static inline void tile_writer_shares(struct tile_writer *writer, int coarser)
{
    writer->whole = (uint64_t)UINT16_MAX << coarser;
    writer->times = 1;
    writer->before = 0;
    writer->after = coarser;
}

/* covered / whole as 1/65535, rounded, but 0 only where nothing is covered. */
static inline uint16_t tile_share(uint64_t covered, uint64_t whole)
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

/* The same of a single quantum, without a division. */
static inline uint16_t tile_writer_share(const struct tile_writer *writer, uint64_t covered)
{
    uint64_t half = writer->after == 0 ? 0 : UINT64_C(1) << (writer->after - 1);

    if (covered == 0)
        return 0;
    if (covered >= writer->whole)
        return UINT16_MAX;

    uint64_t share = ((covered >> writer->before) * writer->times + half) >> writer->after;

    return (uint16_t)(share == 0 ? 1 : share);
}

static inline void tile_name_cell(struct tile *tile, uint32_t at, uint32_t named, uint8_t flags)
{
    tile->name[at] = named_name(named);
    tile->kind[at] = (uint8_t)named_kind(named);
    tile->flags[at] = flags;
}

/* Busy, offset, width and the flags that depend on where the tile ends. */
static inline void tile_cut_cell(struct tile_writer *writer, uint32_t at)
{
    struct tile *tile = writer->tile;
    int64_t first = writer->cell_first - writer->first, last = writer->cell_last - writer->first;

    tile->busy[at] = first == last ? tile_writer_share(writer, writer->cell_covered)
                                   : tile_share(writer->cell_covered,
                                                (uint64_t)(last - first + 1) * writer->whole);
    if (first < 0) {
        first = 0;
        tile->flags[at] |= TILE_BEFORE;
    }
    if (last >= TILE_QUANTA) {
        last = TILE_QUANTA - 1;
        tile->flags[at] |= TILE_AFTER;
    }
    tile->offset[at] = (uint16_t)first;
    tile->width[at] = (uint16_t)(last - first + 1);
}

/* Slices that begin in quantum `first`, the last of which ends in `last`; name and flags are those
 * of the longest, `size` orders lengths. Scalars, because a struct of them costs more than the
 * rest. */
static inline void tile_put(struct tile_writer *writer, int64_t first, int64_t last,
                            uint64_t covered, uint32_t slices, uint32_t named, uint8_t flags,
                            uint64_t size)
{
    struct tile *tile = writer->tile;
    uint32_t at = tile->count;
    int64_t offset = first < writer->first ? 0 : first - writer->first;

    if (at > 0 && tile->offset[at - 1] >= offset) {
        if (tile->offset[--at] > offset)
            return; /* only in a damaged trace: cells of a tile are no more than its quanta */
        if (size > writer->cell_size) {
            writer->cell_size = size;
            tile_name_cell(tile, at, named, flags);
        }
        writer->cell_last = last > writer->cell_last ? last : writer->cell_last;
        writer->cell_covered += covered;
        tile->slices[at] += slices;
    } else {
        writer->cell_first = first;
        writer->cell_last = last;
        writer->cell_covered = covered;
        writer->cell_size = size;
        tile->slices[at] = slices;
        tile_name_cell(tile, at, named, flags);
        tile->count++;
    }
    tile_cut_cell(writer, at);
}

#endif
