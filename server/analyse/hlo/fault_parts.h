/* SPDX-License-Identifier: Apache-2.0 */
/* Inside fault*.c.
 *
 *   find         fault.c         over the module, a detector after the other
 *   copies       fault_copy.c    who writes over a value, who reads it besides
 *   values       fault_value.c   products, constants, casts, factorisations, loops
 *   collectives  fault_comm.c    who uses how much of what is gathered
 *   ways         fault_walk.c    from a value to its users and back, through fusions
 */
#ifndef JVIEWD_ANALYSE_HLO_FAULT_PARTS_H
#define JVIEWD_ANALYSE_HLO_FAULT_PARTS_H

#include "analyse/hlo/cost_parts.h"
#include "analyse/hlo/fault.h"

enum { FAULT_BYTES_MIN = 64 << 10, FAULT_HOPS_MAX = 24 };

struct fault_work {
    struct cost_work *work; /* users of each instruction */
    const struct hlo_module *module;
    struct arena *arena;
    uint32_t *callers;    /* of each computation: the fusion that it is the inside of; HLO_NONE */
    bool *is_inside;      /* of each computation: what it holds has no time of its own */
    uint32_t entry, root; /* computation; its root instruction */
    bool is_f64_told, through_copies;
    uint64_t steps_left; /* beyond is what a hostile module asks for */
    struct faults *ret;
    uint32_t capacity;
};

void fault_add(struct fault_work *work, const struct fault *fault);

/* fault_walk.c */
bool fault_is(const struct fault_work *work, uint32_t instruction, const char *opcode);
uint32_t fault_operand(const struct fault_work *work, uint32_t instruction, uint32_t index);
uint32_t fault_root(const struct fault_work *work, uint32_t computation); /* HLO_NONE */
/* The inside of a fusion; HLO_NONE. */
uint32_t fault_fused(const struct fault_work *work, uint32_t instruction);
/* Who stands for operand `index` inside of a fusion; HLO_NONE. */
uint32_t fault_parameter(struct fault_work *work, uint32_t fusion, uint32_t index);
/* The instruction with a time of its own that this one belongs to. */
uint32_t fault_with_time(const struct fault_work *work, uint32_t instruction);
/* One step back: out of a fusion's inside to the operand, from a fusion to its root; else the value
 * itself. */
uint32_t fault_behind(struct fault_work *work, uint32_t value);
bool fault_spend(struct fault_work *work);
void fault_sizes(const struct fault_work *work, uint32_t instruction, struct hlo_sizes *ret);
/* Who gives the value that this one merely converts, copies or shapes anew. */
uint32_t fault_source(struct fault_work *work, uint32_t value);

/* Detectors. */
/* The instruction that writes over the value; HLO_NONE. */
uint32_t fault_writer(struct fault_work *work, uint32_t value, int depth);
void fault_copies(struct fault_work *work, uint32_t instruction);
void fault_products(struct fault_work *work, uint32_t instruction);
void fault_constants(struct fault_work *work, uint32_t instruction);
void fault_factorisations(struct fault_work *work, uint32_t instruction);
void fault_loops(struct fault_work *work, uint32_t instruction);
void fault_casts(struct fault_work *work, uint32_t instruction);
void fault_f64(struct fault_work *work, uint32_t instruction);
void fault_collectives(struct fault_work *work, uint32_t instruction);

#endif
