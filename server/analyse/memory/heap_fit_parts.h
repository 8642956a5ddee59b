/* SPDX-License-Identifier: Apache-2.0 */
/* Inside heap_fit*.c.
 *
 *   heap_fit_values.c   what lies where, and from when to when
 *   heap_fit_change.c   how a change alters that
 *   heap_fit.c          the sums, and the options
 */
#ifndef JVIEWD_ANALYSE_MEMORY_HEAP_FIT_PARTS_H
#define JVIEWD_ANALYSE_MEMORY_HEAP_FIT_PARTS_H

#include "analyse/memory/heap_fit.h"
#include "analyse/memory/heap_parts.h"
#include "decode/hlo/hlo_sizes.h"

struct fit_value {        /* a piece of memory, and what lies in it one after the other in place */
    uint32_t instruction; /* that makes the largest of them */
    struct bytes shape;   /* of it */
    uint32_t allocation;  /* ordinal */
    uint64_t offset;
    int64_t bytes;
    uint32_t first, last; /* positions, both included */
    bool is_parameter, is_output;
    uint32_t made;   /* an output: the position at which it is whole; before that lies in its place
                        what it is made from */
    uint32_t maker;  /* the instruction that makes it then */
    uint32_t output; /* its number among the outputs */
    uint32_t first_instruction; /* that makes what lies there first */
    uint64_t parameter;
};

struct fit_work {
    const struct hlo_module *module;
    struct arena *arena;
    struct heap_order order; /* with last uses */
    struct fit_value *values;
    uint32_t value_count;
    uint32_t *value_of; /* by instruction: its value; HLO_NONE */
};

void fit_values(struct fit_work *work);
/* Where the value itself was made, behind views of it; HLO_NONE. */
uint32_t fit_source_of(const struct hlo_module *module, uint32_t instruction);

/* The changes, on a copy of the values. False: it cannot be said, and why. */
bool fit_donate(const struct fit_work *work, struct fit_value *values, uint32_t *ret_count,
                struct str *ret_reason);
bool fit_half(const struct fit_work *work, struct fit_value *values, uint64_t batch,
              struct str *ret_reason);
/* At the position, of what scopes that begin so made and their backward pass still uses. */
int64_t fit_waiting(const struct fit_work *work, struct str word, uint32_t peak);

#endif
