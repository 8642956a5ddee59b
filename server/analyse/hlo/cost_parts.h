/* SPDX-License-Identifier: Apache-2.0 */
/* Inside cost*.c.
 *
 *   make      cost.c            over the ops of an attribution: modules, events
 *   runs      cost_runs.c       how often they ran
 *   module    cost_module.c     instructions and computations, each computation once
 *   opcodes   cost_opcode.c     what class an opcode is of
 *   products  cost_product.c    dots and convolutions
 *   memory    cost_fusion.c     what a fusion reads and writes
 *   calls     cost_call.c       custom calls by target
 *   names     cost_family.c     families of kernels by their names
 *   operands  needs.c           which ops need the result of which
 */
#ifndef JVIEWD_ANALYSE_HLO_COST_PARTS_H
#define JVIEWD_ANALYSE_HLO_COST_PARTS_H

#include "analyse/hlo/cost.h"
#include "decode/hlo/hlo_detail.h"
#include "decode/hlo/hlo_sizes.h"

enum cost_class {
    COST_CLASS_OTHER, /* bytes of operands and result */
    COST_CLASS_FREE,  /* no work and no memory */
    COST_CLASS_TUPLE,
    COST_CLASS_ELEMENTWISE,
    COST_CLASS_TRANSCENDENTAL,
    COST_CLASS_SLICE,
    COST_CLASS_DYNAMIC_SLICE,
    COST_CLASS_UPDATE_SLICE,
    COST_CLASS_GATHER,
    COST_CLASS_SCATTER,
    COST_CLASS_DOT,
    COST_CLASS_CONVOLUTION,
    COST_CLASS_REDUCE,
    COST_CLASS_REDUCE_WINDOW,
    COST_CLASS_SELECT_AND_SCATTER,
    COST_CLASS_MAP,
    COST_CLASS_SORT,
    COST_CLASS_TRANSFORM,
    COST_CLASS_TRIANGULAR_SOLVE,
    COST_CLASS_CHOLESKY,
    COST_CLASS_RANDOM,
    COST_CLASS_FUSION,
    COST_CLASS_CALL,
    COST_CLASS_WHILE,
    COST_CLASS_CONDITIONAL,
    COST_CLASS_CUSTOM_CALL,
    COST_CLASS_ALL_REDUCE,
    COST_CLASS_TRANSFER, /* begins one: its result holds source and target */
    COST_CLASS_SEND,
    COST_CLASS_ASYNC,  /* begins what it calls */
    COST_CLASS_AWAITED /* ends what another began */
};
enum cost_class cost_class_of(struct str opcode);

/* Through the fusions of one module: beyond is what a hostile module asks for, whose fusions hold
 * themselves. */
enum { COST_STEPS_MAX = 1 << 24, COST_STEPS_AN_INSTRUCTION = 1024 };

struct cost_work {
    const struct hlo_module *module;
    const bool *with_events;
    struct op_cost *computations;
    uint8_t *states;              /* of them: 0 not yet, 1 on it, 2 known */
    uint32_t *first_user, *users; /* of instruction i: users[first_user[i] ... first_user[i + 1]) */
    uint32_t depth;
    uint64_t step_count, steps_max;
};

/* Ops of one program: where their instructions stand, and which computations those are of. */
struct cost_program {
    const struct trace *trace;
    const struct attribution *of;
    const struct hlo_module *module;
    const uint32_t *ops;
    uint32_t count;
    uint32_t *instructions; /* by op of the program, HLO_NONE */
    bool *with_events;      /* by computation */
};

/* What ops of a program need, while its module is at hand; of all programs, as the attribution has
 * it. */
struct needs {
    struct op_need *items;
    uint32_t count, capacity;
};
void needs_add(const struct cost_program *program, struct needs *to);
void needs_end(struct needs *needs, struct scratch *scratch, struct attribution *of);

/* Of every op by its events alone, then of those of a program by what its module tells. */
void cost_count_runs(const struct trace *trace, const struct attribution *of,
                     struct op_cost *costs);
void cost_correct_runs(const struct cost_program *program, struct op_cost *costs);

/* The ordinal of an operand; HLO_NONE. */
uint32_t cost_operand(const struct cost_work *work, uint32_t instruction, uint32_t index);
void cost_sizes(const struct cost_work *work, uint32_t instruction, struct hlo_sizes *ret);
/* Of a tuple its first part, else the whole. */
void cost_first_sizes(const struct cost_work *work, uint32_t instruction, struct hlo_sizes *ret);
double cost_operand_bytes(const struct cost_work *work, uint32_t instruction, uint32_t index);
/* Of all operands and the result. */
double cost_touched_bytes(const struct cost_work *work, uint32_t instruction);
double cost_bytes_of(const struct cost_work *work, uint32_t instruction); /* of the result */

double cost_dot_flops(const struct hlo_sizes *lhs, const struct hlo_sizes *result,
                      const struct hlo_list *contracting);
/* NAN: more positions than can be counted. */
double cost_convolution_flops(const struct hlo_detail *detail, const struct hlo_sizes *input,
                              const struct hlo_sizes *kernel, const struct hlo_sizes *output);
double cost_fusion_bytes(struct cost_work *work, uint32_t instruction);
/* The first list or number behind that key of a JSON text, also one with escaped quotes:
 * "key":["1","2"], "key":7. Empty where there is none. */
struct hlo_list cost_config_numbers(struct str config, const char *key);
void cost_custom_call(struct cost_work *work, uint32_t instruction, struct op_cost *ret);

#endif
