/* SPDX-License-Identifier: Apache-2.0 */
/* What each block of a trace adds up to, worked out once, so that a window sums blocks and looks at
 * single slices only where it cuts one.
 *
 *   window               |---------------------|
 *   row         [ 4,096 ][ 4,096 ][ 4,096 ][ 4,096 ][ 12 ]
 *                  look     sum      sum      look
 *
 * Blocks of slices are the chunks of the rows; blocks of ops are up to as many attributed entries
 * of one row. All sums are of integers, so an answer does not depend on what was summed as a block.
 * A block of very many names holds no sums: then its slices are looked at.
 *
 * Sums belong to who made them and never change. They hold for a trace of the same bytes, also for
 * one that borrows names.
 */
#ifndef JVIEWD_ANALYSE_SCAN_BLOCK_SUMS_H
#define JVIEWD_ANALYSE_SCAN_BLOCK_SUMS_H

#include "analyse/analyse.h"

struct name_sum { /* slices of one name and kind */
    name_id name;
    uint16_t count;
    uint16_t first : 12, kind : 4; /* ordinal in the block of the first of them */
    int64_t total_ps, self_ps, min_ps, max_ps;
};

struct slice_block {                 /* a chunk */
    uint32_t first;                  /* of its name sums */
    uint32_t count : 31;             /* none: look at its slices */
    uint32_t all_kernels : 1;        /* each is an op, and what copies was launched as a kernel */
    slice_id parent_min, parent_max; /* of those that have a parent; min NO_SLICE: none has */
    int64_t below_ps;                /* how long they are together */
};

struct op_sum { /* entries of one op */
    uint32_t op;
    uint32_t event_count;
    uint32_t free_count; /* of no execution */
    slice_id first;
    int64_t total_ps, self_ps, min_ps, max_ps;
};

struct block_run { /* of an execution the first entry in the block is of this op */
    uint32_t execution, op;
};

struct entry_block { /* entries [begin, end) of a row */
    uint32_t begin, end;
    track_id track;
    uint32_t first_sum, sum_count; /* none: look at its entries */
    uint32_t first_run, run_count;
    int64_t start_ps, last_ps, end_ps; /* the earliest and latest start, the latest end */
};

struct block_sums {
    struct slice_block *slices; /* by chunk */
    uint32_t slice_block_count;
    struct name_sum *places;
    uint32_t place_count;
    struct entry_block *entries; /* ascending */
    uint32_t entry_block_count;
    struct op_sum *ops;
    uint32_t op_count;
    struct block_run *runs;
    uint32_t run_count;
    uint64_t bytes; /* all of it */
};

struct block_sums *block_sums_make(const struct trace *trace,
                                   const struct attribution *attribution); /* NULL: no ops */
void block_sums_free(struct block_sums *sums);                             /* takes NULL */

/* Those of the traces that were asked last, shared by all who ask. */
struct block_sum_cache;
struct block_sum_cache *block_sum_cache_create(uint64_t bytes_max);
void block_sum_cache_destroy(struct block_sum_cache *cache); /* takes NULL; nobody holds any */
/* Of the trace of this content, made where they are not there. NULL: it is so small that walking
 * over it takes no time, or its sums are larger than the cache. */
const struct block_sums *block_sum_cache_hold(struct block_sum_cache *cache, const char content[33],
                                              const struct trace *trace,
                                              const struct attribution *attribution);
/* Are the sums of traces with so many slices likely to be held together? */
bool block_sum_cache_fits(const struct block_sum_cache *cache, uint64_t slice_count);
void block_sum_cache_release(struct block_sum_cache *cache,
                             const struct block_sums *sums); /* takes NULL */

#endif
