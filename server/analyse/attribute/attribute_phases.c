/* SPDX-License-Identifier: Apache-2.0 */
/* What part of a step an op is, where its own scope leaves that open (analyse/hlo/phase.h).
 *
 *   by its calls      ... update_fn (optax/_src/transform.py)       optimizer
 *   by its loop       copy.3 without a scope, in the body of        what the scope of the loop,
 *                     while.7 "transpose(jvp())/while"              call or branch says: backward
 *   by what it fuses  a fusion without a scope, all of whose        what they agree on
 *                     instructions are of one part
 *   by its gradient   "sequential/dense/MatMul" of TensorFlow,      forward
 *                     of whose layer "gradient_tape/sequential/dense/..." is
 *
 * A computation that several call, whose parts differ, tells nothing.
 */
#include <stdlib.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/hlo/phase.h"
#include "analyse/hlo/scope.h"
#include "base/names.h"
#include "decode/hlo/hlo_module.h"

enum { LOOPS_MAX = 64 }; /* one in another */

struct phase_walk { /* of one module */
    const struct hlo_module *module;
    uint32_t *caller_of;  /* by computation: HLO_NONE none, SEVERAL_CALL */
    struct map64 op_of;   /* by name: op + 1; more than one op of a name is a chain */
    const uint32_t *next; /* by op */
};

#define SEVERAL_CALL (UINT32_MAX - 1)

static bool is_open(const struct trace *trace, const struct op *op)
{
    return op->caller == 0 && phase_of_op(trace, op) == OP_PHASE_UNKNOWN;
}

static void find_callers(struct phase_walk *walk)
{
    const struct hlo_module *module = walk->module;

    for (uint32_t i = 0; i < module->computation_count; i++)
        walk->caller_of[i] = HLO_NONE;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *caller = &module->instructions[i];

        for (uint32_t k = 0; k < caller->called_count; k++) {
            uint32_t called = module->called[caller->first_called + k];

            if (called != HLO_NONE && walk->caller_of[called] != i)
                walk->caller_of[called] = walk->caller_of[called] == HLO_NONE ? i : SEVERAL_CALL;
        }
    }
}

static enum op_phase phase_of_fused(const struct phase_walk *walk,
                                    const struct hlo_instruction *fusion)
{
    const struct hlo_module *module = walk->module;
    enum op_phase phase = OP_PHASE_UNKNOWN;

    if (!str_equal(fusion->opcode, STR("fusion")) || fusion->called_count == 0 ||
        module->called[fusion->first_called] == HLO_NONE)
        return OP_PHASE_UNKNOWN;

    const struct hlo_computation *fused =
        &module->computations[module->called[fusion->first_called]];

    for (uint32_t i = 0; i < fused->count; i++) {
        const struct hlo_instruction *inside = &module->instructions[fused->first + i];
        enum op_phase part = phase_of_scope(inside->scope);

        if (part == OP_PHASE_UNKNOWN)
            part = phase_of_calls(&module->frames, inside->frame);
        if (part == OP_PHASE_UNKNOWN)
            continue;
        if (phase != OP_PHASE_UNKNOWN && part != phase)
            return OP_PHASE_UNKNOWN;
        phase = part;
    }
    return phase;
}

/* A scope of its own that names no part is the program's word: a loop around it adds nothing. */
static enum op_phase phase_of_loops(const struct phase_walk *walk,
                                    const struct hlo_instruction *instruction)
{
    for (int i = 0; i < LOOPS_MAX && instruction->scope.count == 0; i++) {
        uint32_t caller = walk->caller_of[instruction->computation];

        if (caller == HLO_NONE || caller == SEVERAL_CALL)
            return OP_PHASE_UNKNOWN;
        instruction = &walk->module->instructions[caller];

        enum op_phase phase = phase_of_scope(instruction->scope);

        if (phase != OP_PHASE_UNKNOWN)
            return phase;
    }
    return OP_PHASE_UNKNOWN;
}

static enum op_phase phase_of_instruction(const struct phase_walk *walk,
                                          const struct hlo_instruction *instruction)
{
    enum op_phase phase = phase_of_calls(&walk->module->frames, instruction->frame);

    if (phase == OP_PHASE_UNKNOWN && instruction->scope.count == 0)
        phase = phase_of_fused(walk, instruction);
    return phase == OP_PHASE_UNKNOWN ? phase_of_loops(walk, instruction) : phase;
}

static void read_module(struct attribute_work *work, struct phase_walk *walk)
{
    const struct hlo_module *module = walk->module;

    find_callers(walk);
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        name_id name;
        uint32_t op;

        if (!trace_find_name(work->trace, module->instructions[i].name, &name) ||
            !map64_get(&walk->op_of, name, &op))
            continue;

        enum op_phase phase = phase_of_instruction(walk, &module->instructions[i]);

        for (; op != 0; op = walk->next[op - 1])
            work->ops[op - 1].phase = phase;
    }
}

static void read_program(struct attribute_work *work, program_id id, const uint32_t *ops,
                         uint32_t count, uint32_t *next)
{
    struct arena *arena = arena_create(); /* of the module */
    struct phase_walk walk = {.next = next};
    struct hlo_module module;
    struct error err = {0};

    if (hlo_module_of(work->trace, &work->trace->programs[id], arena, &module, &err) == OK) {
        walk.module = &module;
        walk.caller_of = arena_array(arena, uint32_t, (size_t)module.computation_count + 1);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t *at = map64_at(&walk.op_of, work->ops[ops[i]].name, 0);

            next[ops[i]] = *at;
            *at = ops[i] + 1;
        }
        read_module(work, &walk);
        map64_free(&walk.op_of);
    }
    arena_destroy(arena);
}

static void read_programs(struct attribute_work *work)
{
    uint32_t *order = scratch_array(work->scratch, uint32_t, work->op_count);
    uint32_t *next = scratch_array(work->scratch, uint32_t, work->op_count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].program < work->trace->program_count &&
            is_open(work->trace, &work->ops[i]))
            order[count++] = i;
    ops_by_program(work->ops, order, count);
    for (uint32_t i = 0, end; i < count; i = end) {
        program_id program = work->ops[order[i]].program;

        for (end = i + 1; end < count && work->ops[order[end]].program == program; end++)
            ;
        read_program(work, program, &order[i], end - i, next);
    }
    scratch_free(work->scratch, order);
    scratch_free(work->scratch, next);
}

static struct str without_last(struct str path)
{
    while (path.count > 0 && path.at[path.count - 1] != '/')
        path.count--;
    if (path.count > 0)
        path.count--;
    return path;
}

/* TensorFlow writes a gradient's path behind the path of the layer whose gradient it is. */
static void find_gradients(struct attribute_work *work)
{
    const struct str tape = STR("gradient_tape/");
    struct names *layers = names_create();
    name_id id;

    for (uint32_t i = 0; i < work->op_count; i++) {
        struct str scope = scope_of_op(work->trace, &work->ops[i]);

        if (work->ops[i].caller == 0 && str_starts(scope, tape))
            for (scope = without_last(str_skip(scope, tape.count)); scope.count > 0;
                 scope = without_last(scope))
                names_add(layers, scope);
    }
    for (uint32_t i = 0; i < work->op_count && names_count(layers) > 1; i++) {
        struct op *op = &work->ops[i];
        struct str layer = without_last(scope_of_op(work->trace, op));

        if (layer.count > 0 && is_open(work->trace, op) && names_find(layers, layer, &id))
            op->phase = OP_PHASE_FORWARD;
    }
    names_destroy(layers);
}

void phases_find(struct attribute_work *work)
{
    if (work->op_count == 0)
        return;
    read_programs(work);
    find_gradients(work);
}
