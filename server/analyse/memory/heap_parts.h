/* SPDX-License-Identifier: Apache-2.0 */
/* Inside heap*.c.
 *
 *   heap_order.c    program order, last uses
 *   heap_trace.c    the compiler's simulations, replayed
 *   heap_range.c    lives by schedule, where there is no simulation
 *   heap.c          allocations, the sum over positions, the peak
 *   heap_advice.c   what could be computed again, what could take an input's memory
 *   heap_table.c    buffers as rows
 */
#ifndef JVIEWD_ANALYSE_MEMORY_HEAP_PARTS_H
#define JVIEWD_ANALYSE_MEMORY_HEAP_PARTS_H

#include "analyse/memory/heap.h"

struct heap_order {
    uint32_t *order;    /* instructions by position */
    uint32_t *position; /* by instruction; HLO_NONE: it does not run by itself */
    uint32_t *last_use; /* by instruction: a position; only after heap_order_uses */
    uint32_t *caller;   /* by computation: the instruction that runs it; HLO_NONE */
    uint32_t count;
};
void heap_order_of(const struct hlo_module *module, struct arena *arena, struct heap_order *ret);
/* Of each value, through whatever aliases it. */
void heap_order_uses(const struct hlo_module *module, struct heap_order *order,
                     struct arena *arena);

struct heap_place {      /* where a value lies */
    uint32_t allocation; /* ordinal; HLO_NONE: nowhere */
    uint64_t offset, size_bytes;
};

struct heap_change {       /* of the sum over temporary buffers */
    uint32_t position, at; /* `at`: their order where positions are equal */
    uint32_t buffer;       /* of work->buffers */
    bool begins;
};

struct heap_work {
    const struct hlo_module *module;
    struct arena *arena;
    struct heap *heap;
    struct heap_order order;
    struct map64 place_of; /* buffer's id -> places, first wins */
    struct heap_place *places;
    enum heap_class *classes; /* by allocation */
    bool *followed;           /* by allocation: a trace told of it */
    struct heap_buffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    struct heap_change *changes;
    uint32_t change_count, change_capacity;
};

/* A temporary buffer begins to live. Returns its number. */
uint32_t heap_begin(struct heap_work *work, const struct hlo_buffer *buffer,
                    const struct heap_place *place, uint32_t position);
void heap_end(struct heap_work *work, uint32_t buffer, uint32_t position);
/* The place of a temporary buffer of the asked memory space; NULL otherwise. */
const struct heap_place *heap_temporary(struct heap_work *work, const struct hlo_buffer *buffer);

void heap_replay_traces(struct heap_work *work);
void heap_follow_ranges(struct heap_work *work);
void heap_advise(struct heap_work *work);

#endif
