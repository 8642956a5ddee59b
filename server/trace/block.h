/* SPDX-License-Identifier: Apache-2.0 */
/* How a trace leaves memory and comes back: data and tables.
 *
 *   data    appended as they come, found again by offset: packed chunks, args columns, blobs
 *   table   at most one of each kind, found by kind: directories, names, tracks, notes
 *
 * The container (store/segment.c) knows neither's meaning: it aligns to 8 bytes, pads with zeros,
 * checks sums and maps. A test puts the same into plain memory. Tables hold fixed-width
 * little-endian records as the structs of their writer, with zeroed padding: equal input, equal
 * bytes.
 */
#ifndef JVIEWD_TRACE_BLOCK_H
#define JVIEWD_TRACE_BLOCK_H

#include "base/bytes.h"
#include "base/error.h"

enum table_kind { /* numbers stay; a reader skips what it does not know */
                  TABLE_META = 1,
                  TABLE_NAME_OFFSETS,
                  TABLE_NAME_TEXTS,
                  TABLE_NAME_ORDER, /* ids sorted by text: trace_find_name */
                  TABLE_TRACKS,
                  TABLE_ROWS,
                  TABLE_CHUNKS,    /* directory: offset, bytes, first start, ... per chunk */
                  TABLE_SAMPLES32, /* per 32 slices: start, prefix of dur, the longest */
                  TABLE_TYPES,
                  TABLE_TYPE_ARGS,
                  TABLE_PROPERTIES,
                  TABLE_NOTES,
                  TABLE_PROGRAMS,
                  TABLE_INSTRUCTIONS,
                  TABLE_ARG_BLOCKS,
                  TABLE_ARG_COLUMNS,
                  TABLE_FLOWS,
                  TABLE_FLOWS_BY_TO,
                  TABLE_COUNTERS,
                  TABLE_COUNTER_SAMPLES,
                  TABLE_COUNTER_LEVELS,
                  TABLE_MEMORY_EVENTS,
                  TABLE_PYRAMIDS,      /* directory of levels per row */
                  TABLE_PYRAMID_CELLS, /* one contiguous region */
                  TABLE_KIND_PYRAMIDS,
                  TABLE_KIND_CELLS,
                  TABLE_BY_NAME,      /* slice ids in (name, row, time) order */
                  TABLE_BY_NAME_RUNS, /* (name, row) -> first, count */
                  TABLE_NAME_STATS,
                  TABLE_DOCUMENTS,
                  TABLE_STACKS,
                  TABLE_SAMPLE_TYPES,
                  TABLE_STACK_SAMPLES,
                  TABLE_SAMPLE_VALUES, /* one a sample and type */
                  TABLE_SAMPLE_LABELS,
                  TABLE_KIND_COUNT_,
};

struct block_in {
    void *from;
    /* The table, checked once at first touch; no bytes when there is none. */
    struct bytes (*table)(void *from, enum table_kind kind);
    /* Data at an offset; no bytes when it lies outside. */
    struct bytes (*data)(void *from, uint64_t offset, size_t size);
    /* Was a table damaged at its first touch? NULL: that cannot happen. */
    bool (*damaged)(void *from);
    bool checked; /* by who has it open elsewhere: long tables need not be read for their rules */
};

struct block_out {
    void *to;
    /* Appends; the offset is a multiple of 8. */
    enum status (*data)(void *to, struct bytes bytes, uint64_t *ret_offset, struct error *err);
    /* Appends a whole table. */
    enum status (*table)(void *to, enum table_kind kind, struct bytes bytes, struct error *err);
    /* Appends a table of known size, to be filled in place before the next call: for tables that
     * should not stand in memory first. The bytes are zero at first and aligned to 8. */
    enum status (*table_reserve)(void *to, enum table_kind kind, size_t size, uint8_t **ret,
                                 struct error *err);
    /* What was written at an offset, readable until the next call. */
    enum status (*view)(void *to, uint64_t offset, size_t size, struct bytes *ret,
                        struct error *err);
    /* Everything written so far, as a reader will find it; stays readable, and knows nothing of
     * what is written after this call. */
    enum status (*so_far)(void *to, struct block_in *ret, struct error *err);
};

struct trace;
struct arena;

/* Builds the readable trace over its blocks; validates every count and range that later code
 * relies on, so that a damaged segment is refused here and not met later. */
MUST_CHECK enum status trace_open(struct block_in in, struct arena *arena, struct trace *ret,
                                  struct error *err);

/* Blocks in plain memory: for tests, and for traces too small to be worth a file. */
struct memory_blocks;
struct memory_blocks *memory_blocks_create(struct arena *arena);
struct block_out memory_blocks_out(struct memory_blocks *blocks);
struct block_in memory_blocks_in(struct memory_blocks *blocks);

#endif
