/* SPDX-License-Identifier: Apache-2.0 */
/* Any window of any row, without scanning it.
 *
 * A tile is (row, level, index): 1,024 quanta of 2^level ps of file time, aligned: it begins at
 * index * 1024 * 2^level. Which of the stored pyramid or the fold of slices answers depends on the
 * segment alone, so equal questions have equal bytes.
 */
#ifndef JVIEWD_TRACE_LEVELS_TILE_H
#define JVIEWD_TRACE_LEVELS_TILE_H

#include "trace/trace.h"

enum { TILE_QUANTA = 1024, TILE_LEVEL_MAX = 52 };

struct tile { /* cells in time order; no two begin in one quantum */
    uint32_t count;
    uint16_t
        offset[TILE_QUANTA];     /* quantum in which the cell begins; 0 also when it began before */
    uint16_t width[TILE_QUANTA]; /* quanta it covers, at least 1, cut at the tile's end */
    name_id name[TILE_QUANTA];   /* of the longest slice in it */
    uint8_t kind[TILE_QUANTA];   /* of that slice */
    uint8_t flags[TILE_QUANTA];  /* slice_flags of that slice, and TILE_BEFORE, TILE_AFTER */
    uint32_t slices[TILE_QUANTA]; /* how many the cell stands for: those that begin in its first
                                     quantum, and the one that began before the tile */
    uint16_t busy[TILE_QUANTA]; /* covered share of the cell before it was cut at the tile, 65535 =
                                   all; 0 for instants only */
};

enum tile_flags {
    TILE_BEFORE = 64, /* began before the tile */
    TILE_AFTER = 128, /* goes on after it */
};

void tile_fold(const struct trace *trace, row_id row, int level, int64_t index, struct tile *ret);
/* Asks the kernel for what tile_fold will read. A reply asks for all its tiles before the first. */
void tile_will_need(const struct trace *trace, row_id row, int level, int64_t index);

/* Self time by kind of a track (all rows) or subtree: share of each quantum. */
struct tile_summary {
    uint16_t share[KIND_COUNT][TILE_QUANTA]; /* 65535 = the whole quantum; mean over the tracks */
};
/* Mean over the non-derived, non-container tracks with slices in the subtree of `track`. */
void tile_summary(const struct trace *trace, track_id track, int level, int64_t index,
                  struct tile_summary *ret);

#endif
