/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of an attribution as packed columns, ENTRY_BLOCK of them a block.
 *
 *   entry_columns   [ base, place, width of each column ]   one a block, contiguous
 *   data            slice op execution device flags launch start dur covered kernel order | ...
 *
 * A value is base + stored * unit; it is stored in 0, 1, 2, 4 or 8 bytes, 0 where all are equal.
 * The unit of a time is 1000 ps where all its values are multiples, else 1 ps. Slices are counted
 * from the entry's place in the block, so that ops without a gap between them take nothing; starts
 * from where the block's pace would have them, from which they stray less than the block lasts.
 * What a slice may lack (its execution, launch, kernel) is stored as 0 where any lacks it.
 * `covered` is what is missing of dur in self. `order` is no property of an entry, but which entry
 * stands at that place of the order by (device, start): its distance from there. Every column
 * begins at a multiple of 8; padding is zero.
 */
#ifndef JVIEWD_TRACE_ENTRIES_H
#define JVIEWD_TRACE_ENTRIES_H

#include <string.h>

#include "trace/trace.h"

enum { ENTRY_BLOCK = 512 };

enum graph_part { /* of a CUDA graph or command buffer that was launched as one */
                  GRAPH_NONE,
                  GRAPH_NODE,  /* one of its kernels or copies */
                  GRAPH_WHOLE, /* all of it: the file tells no more */
};

struct attributed { /* one op slice */
    slice_id slice;
    uint32_t op, execution; /* execution may be NO_EXECUTION */
    int32_t device;
    bool first;    /* first event of this op in this execution */
    uint8_t graph; /* enum graph_part */
    uint8_t zeros[2];
    slice_id launch; /* the call on the host that sent it to the device; NO_SLICE unknown */
    int64_t start_ps, dur_ps; /* attributed: the device's clock, or up to the `end:` partner */
    int64_t self_ps;          /* by nesting of ops of one device, also across threads */
};

/* Entries of one block, unpacked: arrays, because a loop over one column alone handles several of
 * its values at once. An entry stands at its place in the block. */
struct entry_arrays {
    slice_id slice[ENTRY_BLOCK];
    uint32_t op[ENTRY_BLOCK], execution[ENTRY_BLOCK];
    int32_t device[ENTRY_BLOCK];
    uint8_t flags[ENTRY_BLOCK]; /* first, and twice the graph's part */
    slice_id launch[ENTRY_BLOCK];
    int64_t start_ps[ENTRY_BLOCK], dur_ps[ENTRY_BLOCK], self_ps[ENTRY_BLOCK];
};

/* What is not used is not read. */
static inline __attribute__((always_inline)) struct attributed
entry_in(const struct entry_arrays *arrays, uint32_t index)
{
    const uint32_t i = index % ENTRY_BLOCK;

    return (struct attributed){
        .slice = arrays->slice[i],
        .op = arrays->op[i],
        .execution = arrays->execution[i],
        .device = arrays->device[i],
        .first = (arrays->flags[i] & 1) != 0,
        .graph = arrays->flags[i] / 2,
        .launch = arrays->launch[i],
        .start_ps = arrays->start_ps[i],
        .dur_ps = arrays->dur_ps[i],
        .self_ps = arrays->self_ps[i],
    };
}

enum entry_column { /* in the order of the data */
                    ENTRY_SLICE,
                    ENTRY_OP,
                    ENTRY_EXECUTION,
                    ENTRY_DEVICE,
                    ENTRY_FLAGS, /* first, and twice the graph's part */
                    ENTRY_LAUNCH,
                    ENTRY_START,
                    ENTRY_DUR,
                    ENTRY_COVERED,
                    ENTRY_KERNEL,
                    ENTRY_ORDER,
                    ENTRY_COLUMN_COUNT,
};

#define ENTRY_BIT(column) (1u << (column))

enum { ENTRY_ALL = ENTRY_BIT(ENTRY_KERNEL) - 1 }; /* what struct attributed holds */

enum entry_forms {
    ENTRY_START_NS = 1, /* unit 1000 ps: nanoseconds */
    ENTRY_DUR_NS = 2,
    ENTRY_COVERED_NS = 4,
    ENTRY_EXECUTION_LACKS = 8, /* 0: none */
    ENTRY_LAUNCH_LACKS = 16,
    ENTRY_KERNEL_LACKS = 32,
};

struct entry_columns { /* of one block */
    uint64_t offset;   /* in the data */
    uint64_t base[ENTRY_COLUMN_COUNT];
    uint64_t pace_ps;                   /* from start to start */
    uint16_t place[ENTRY_COLUMN_COUNT]; /* from the offset on, in words of 8 bytes */
    uint8_t width[ENTRY_COLUMN_COUNT];
    uint8_t forms; /* enum entry_forms */
    uint8_t zeros[2];
    uint32_t words; /* of all its columns */
};

enum { ENTRY_BLOCK_BYTES_MAX = ENTRY_BLOCK * 8 * ENTRY_COLUMN_COUNT, ENTRY_DATA_PAD = 8 };

extern const uint64_t entry_masks[9]; /* by width */

_Static_assert(sizeof(struct attributed) == 48, "no hidden padding");
_Static_assert(sizeof(struct entry_columns) == 144, "a record without hidden padding");

static inline uint32_t entry_block_count(uint32_t entry_count)
{
    return entry_count / ENTRY_BLOCK + (entry_count % ENTRY_BLOCK != 0);
}

/* What a column stores of one entry, without a branch: most walks ask block after block of unlike
 * widths. Reads 8 bytes, so ENTRY_DATA_PAD of them stand behind the last column. */
static inline __attribute__((always_inline)) uint64_t
entry_stored(const struct entry_columns *block, const uint8_t *data, enum entry_column column,
             uint32_t i)
{
    const uint32_t width = block->width[column];
    uint64_t word;

    memcpy(&word, data + block->offset + 8u * block->place[column] + width * i, sizeof word);
    return word & entry_masks[width];
}

static inline __attribute__((always_inline)) uint64_t entry_value(const struct entry_columns *block,
                                                                  const uint8_t *data,
                                                                  enum entry_column column,
                                                                  unsigned ns_form, uint32_t i)
{
    const uint64_t unit = (block->forms & ns_form) != 0 ? 1000 : 1;

    return block->base[column] + unit * entry_stored(block, data, column, i);
}

static inline __attribute__((always_inline)) int64_t
entry_start_ps(const struct entry_columns *block, const uint8_t *data, uint32_t i)
{
    return (int64_t)(entry_value(block, data, ENTRY_START, ENTRY_START_NS, i) + i * block->pace_ps);
}

/* UINT32_MAX where it lacks one. */
static inline __attribute__((always_inline)) uint32_t
entry_perhaps(const struct entry_columns *block, const uint8_t *data, enum entry_column column,
              unsigned lack_form, uint32_t i)
{
    uint64_t stored = entry_stored(block, data, column, i);

    return stored == 0 && (block->forms & lack_form) != 0
               ? UINT32_MAX
               : (uint32_t)(block->base[column] + stored);
}

/* Packs `count` entries, at most ENTRY_BLOCK, that stand from `first` on; kernel_of NULL: there are
 * no kernels. `data` has room for ENTRY_BLOCK_BYTES_MAX; sets all of *ret but the offset. */
void entries_pack(const struct attributed *entries, const uint32_t *kernel_of,
                  const uint32_t *by_device_time, uint32_t first, uint32_t count, uint8_t *data,
                  struct entry_columns *ret);
/* Those columns of a block of `count` entries; all else is left as it is. */
void entries_unpack(const struct entry_columns *block, const uint8_t *data, unsigned columns,
                    uint32_t count, struct entry_arrays *ret);
/* Those columns of entries that were never packed, from a place of the arrays on. */
void entries_lay(const struct attributed *entries, unsigned columns, uint32_t count, uint32_t place,
                 struct entry_arrays *ret);
/* Widths, places and size of a block of `count` entries fit together. */
bool entry_columns_sound(const struct entry_columns *block, uint32_t count);

/* What the values of sound columns may be. */
struct entry_limits {
    uint32_t entry_count, op_count, execution_count, kernel_count;
};
/* Does the block of `count` entries name what there is, its slices ascending behind `*last`, which
 * is then its own last? */
bool entry_values_sound(const struct entry_columns *block, const uint8_t *data, uint32_t count,
                        const struct entry_limits *limits, int64_t *last);

#endif
