/* SPDX-License-Identifier: Apache-2.0 */
/* One block of args as it lies in the data area.
 *
 *   TABLE_ARG_BLOCKS   one record a block, by first event
 *   data at .offset    heads     column_count x struct args_column_head, by node
 *                      values    each column's packed values, at .at from the block's start
 *
 * The distinct lists of (key, type) of a block form a trie, and each node is a column: an event
 * has a value in every node from the root's child down to its last node.
 *
 *        root -- device_id:int -- flow:uint          events  A device_id flow   last node 3
 *                      \--------- hlo_op:string              B device_id        last node 2
 *                                                            C device_id hlo_op last node 4
 *   nodes     2 device_id   3 flow   4 hlo_op
 *   values    A B C         A        C
 *
 * Two nodes stand for what every event has: ARGS_NODE_ROOT's values are the events' last nodes,
 * ARGS_NODE_TYPES' their type ids. So an event's place in a column is the number of events before
 * it that pass through the node.
 *
 * Values are compared and packed in *ordered bits*: unsigned, in the order of the values; only
 * ARG_INT64 differs from its own bits, by the sign bit.
 */
#ifndef JVIEWD_TRACE_ARGS_ARGS_BLOCK_H
#define JVIEWD_TRACE_ARGS_ARGS_BLOCK_H

#include "trace/trace.h"

enum {
    ARGS_NODE_ROOT = 0,
    ARGS_NODE_TYPES = 1,
    ARGS_NODE_FIRST = 2,         /* of those that come from args */
    ARGS_NODES_MAX = UINT16_MAX, /* a last node fits 16 bits */
    ARGS_PACK_MIN = 64,          /* fewer bytes are kept as they are */
    ARGS_ARG_TYPES = ARG_DIGITS + 1,
};

enum args_packing {
    ARGS_CONSTANT, /* no bytes: every value is min */
    ARGS_OFFSETS,  /* count values: value - min */
    ARGS_DELTAS,   /* count - 1 values: value - value before - step; the first value is apart */
};

struct args_block_record { /* of TABLE_ARG_BLOCKS */
    uint64_t offset;
    uint32_t bytes; /* heads and values */
    uint32_t column_count;
    uint32_t first_event, event_count;
    uint64_t hash; /* XXH3 of those bytes */
};

struct args_column_head {
    uint32_t key; /* a name_id; 0 for the first two nodes */
    uint16_t parent;
    uint8_t type;    /* enum arg_type */
    uint8_t packing; /* enum args_packing */
    uint32_t count;
    uint32_t at, stored_bytes; /* fewer than count * width: one zstd frame */
    uint32_t width;            /* 0, 1, 2, 4 or 8 bytes a packed value */
    uint64_t min, max;         /* ordered bits: the filter */
    uint64_t first, step;      /* of ARGS_DELTAS; else 0 */
};

static inline uint64_t args_ordered(uint8_t type, uint64_t bits)
{
    return type == ARG_INT64 ? bits ^ (UINT64_C(1) << 63) : bits;
}

/* How many values are packed, the others follow from the head. */
static inline uint32_t args_packed_count(const struct args_column_head *head)
{
    switch (head->packing) {
    case ARGS_OFFSETS:
        return head->count;
    case ARGS_DELTAS:
        return head->width == 0 ? 0 : head->count - 1;
    default:
        return 0;
    }
}

/* Packs count values (1 ... ARGS_BLOCK_EVENTS bits, left in ordered form) to at most
 * args_column_bound bytes; head->count and ->type are set, ->at is the caller's, the rest is made.
 * `narrow` is scratch of count values. */
void args_column_pack(struct args_column_head *head, uint64_t *values, uint64_t *narrow,
                      uint8_t *to);
size_t args_column_bound(uint32_t count);
/* The bits of a column whose head is sound; false when the stored bytes are damaged. `values` has
 * room for count + 1, `room` for as many bytes as count values. */
MUST_CHECK bool args_column_unpack(const struct args_column_head *head, const uint8_t *stored,
                                   uint64_t *values, uint8_t *room);

struct args_block { /* one, found whole */
    const struct args_block_record *record;
    const struct args_column_head *heads;
    const uint8_t *at;
};

/* False: its bytes are not those that were written, and the trace says so from then on; or its
 * heads break the rules above. */
MUST_CHECK bool args_block_find(const struct trace *trace, uint32_t index, struct args_block *ret);
/* Does every event that passes through a node have its value there? */
MUST_CHECK bool args_block_agrees(const struct args_block *block, const uint64_t *last_nodes,
                                  struct arena *scratch);

#endif
