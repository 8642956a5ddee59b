/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over what a selection lets through, each slice with the part of it that lies inside.
 *
 *          window |---------------|
 *   a  |--------------|                  cut: inside is what the window holds, self is that less
 *   b     |---|                          what its children hold there; so both add up over a
 *   c            |--|                    partition of time, to the picosecond
 *
 * Slices of a row come in order and do not overlap, so at most the first and the last that touch a
 * window are cut. All between them are whole: they are given as spans, thousands at a time, and
 * several processors share them.
 */
#ifndef JVIEWD_ANALYSE_SCAN_SCAN_H
#define JVIEWD_ANALYSE_SCAN_SCAN_H

#include "analyse/scan/block_sums.h"
#include "analyse/scan/selection.h"
#include "analyse/scan/split.h"

struct scanned {
    slice_id slice;
    track_id track;
    name_id name;
    enum kind kind;
    int64_t dur_ps;             /* whole */
    int64_t inside_ps, self_ps; /* inside the windows */
};
typedef void scan_slice(void *data, const struct scanned *slice);

struct span { /* slices [first, end) of a chunk, all of them wholly inside */
    track_id track;
    const struct chunk *chunk; /* places, durs and, where asked for, selfs are unpacked */
    uint32_t first, end;
    const bool *wanted; /* by place in the dictionary; NULL: every one */
    bool all_kernels;   /* as the sums of its block say; false where there are none */
};
typedef void scan_span(void *data, const struct span *span);

struct whole_block { /* a chunk that is wholly inside: what it adds up to */
    track_id track;
    slice_id first_slice;
    uint32_t slice_count;
    const struct name_sum *sums;
    uint32_t sum_count;
    bool all_kernels;
};
/* False: its slices must be looked at; then they come as a span. */
typedef bool scan_whole_block(void *data, const struct whole_block *block);

struct scan_visitor {
    scan_slice *visit;           /* what is cut, or chosen one by one */
    scan_span *span;             /* the rest */
    scan_whole_block *block;     /* of the rest, where sums are at hand; NULL: all are spans */
    bool with_self;              /* does `span` look at self times? */
    void *data[SPLIT_PARTS_MAX]; /* of each part: parts run side by side */
    uint32_t part_count;         /* see scan_parts */
};

/* How many parts the recorded slices of a selection are worth. */
uint32_t scan_parts(const struct selection *selection);
/* Recorded slices. Part by part, row by row: parts ascend in (track, row, window, time). */
void scan_slices(const struct selection *selection, const struct scan_visitor *visitor);

struct op_block { /* attributed ops [first, first + count), which are of one block of entries */
    const struct entry_arrays *entries; /* of which only the columns that were asked for hold */
    uint32_t first, count;
    const int64_t *inside_ps; /* one an op; < 0: not let through */
    const int64_t *self_ps;   /* where ENTRY_COVERED was asked for */
};

/* The i-th of them, to be followed as long as the block it is asked for in. */
#define BLOCK_ENTRY(block, i)                                                                      \
    ((const struct attributed[]){entry_in((block)->entries, (block)->first + (i))})

typedef void scan_block(void *data, const struct op_block *block);

uint32_t scan_op_parts(const struct selection *selection);
/* Attributed ops in blocks, with those of their columns (ENTRY_BIT): in order within each part,
 * then those that a window cuts, once more, to the first part. */
void scan_ops(const struct selection *selection, unsigned columns, scan_block *visit,
              void *const data[], uint32_t part_count);

struct entry_range { /* entries [first, end) */
    uint32_t first, end;
};
/* The same of the entries in ranges, which ascend: what else there is was summed by who asks. */
void scan_ops_in(const struct selection *selection, const struct entry_range *ranges,
                 uint32_t range_count, unsigned columns, scan_block *visit, void *const data[],
                 uint32_t part_count);

/* Does the track hold a device's own work? Its containers (steps, modules, scopes) do not, nor does
 * the line of asynchronous ops: what a device waits for of those stands among its ops. */
bool track_is_device_work(const struct track *track);
/* A stream of a GPU: what lies on it are kernels, copies and sets. */
bool track_runs_kernels(const struct trace *trace, track_id id);

#endif
