/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops of a program need the result of which: the operands of their instructions.
 *
 *   fusion.2 = fusion(gte.1)   gte.1 = get-tuple-element(sort.4)     fusion.2 needs sort.4
 *
 * An operand that is no op itself (a bitcast, a part of a tuple that an op makes) stands for its
 * own operands. Behind a tuple that the program itself puts together nobody looks, for which part
 * is taken is not known; nor into or out of a computation. A loop or call needs nothing here: what
 * runs inside of it does.
 */
#include <stdlib.h>

#include "analyse/hlo/cost_parts.h"

enum {
    NEEDS_OF_ONE_MAX = 64, /* ops that one op needs */
    LOOKED_MAX = 256,      /* instructions on the way to them */
};

struct finding { /* what one op needs */
    const struct cost_program *program;
    const uint32_t *op_of; /* by instruction: op; NO_OP */
    uint32_t *seen;        /* by instruction: the op that was last asked for, + 1 */
    uint32_t asked, looked;
    uint32_t found[NEEDS_OF_ONE_MAX], count;
};

static void take(struct finding *finding, uint32_t op)
{
    for (uint32_t i = 0; i < finding->count; i++) {
        if (finding->found[i] == op)
            return;
    }
    if (finding->count < NEEDS_OF_ONE_MAX && op != finding->program->ops[finding->asked])
        finding->found[finding->count++] = op;
}

/* Depth first, without recursion: a module may be a chain of a million bitcasts. */
static void walk(struct finding *finding, uint32_t instruction)
{
    const struct hlo_module *module = finding->program->module;
    uint32_t open[LOOKED_MAX], count = 0;

    open[count++] = instruction;
    while (count > 0) {
        const struct hlo_instruction *of = &module->instructions[open[--count]];

        for (uint32_t i = 0; i < of->operand_count && finding->looked < LOOKED_MAX; i++) {
            uint32_t operand = module->operands[of->first_operand + i];

            if (operand == HLO_NONE || finding->seen[operand] == finding->asked + 1)
                continue;
            finding->seen[operand] = finding->asked + 1;
            finding->looked++;
            if (finding->op_of[operand] != NO_OP)
                take(finding, finding->op_of[operand]);
            else if (!str_equal(module->instructions[operand].opcode, STR("tuple")) &&
                     count < LOOKED_MAX)
                open[count++] = operand;
        }
    }
}

static bool runs_others(const struct hlo_instruction *of)
{
    return str_equal(of->opcode, STR("while")) || str_equal(of->opcode, STR("conditional")) ||
           str_equal(of->opcode, STR("call"));
}

static int by_op(const void *left, const void *right)
{
    const struct op_need *a = left, *b = right;

    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

void needs_add(const struct cost_program *program, struct needs *to)
{
    const struct hlo_module *module = program->module;
    struct finding finding = {.program = program};
    uint32_t *op_of = memory_resize(NULL, (size_t)module->instruction_count + 1, sizeof *op_of);

    for (uint32_t i = 0; i < module->instruction_count; i++)
        op_of[i] = NO_OP;
    for (uint32_t i = 0; i < program->count; i++) {
        if (program->instructions[i] != HLO_NONE)
            op_of[program->instructions[i]] = program->ops[i];
    }
    finding.op_of = op_of;
    finding.seen = memory_zeroed((size_t)module->instruction_count + 1, sizeof *finding.seen);
    for (uint32_t i = 0; i < program->count; i++) {
        uint32_t instruction = program->instructions[i];

        if (instruction == HLO_NONE || runs_others(&module->instructions[instruction]))
            continue;
        finding.asked = i;
        finding.looked = finding.count = 0;
        walk(&finding, instruction);
        if (to->capacity < to->count + finding.count) {
            to->capacity = 2 * to->capacity + NEEDS_OF_ONE_MAX;
            to->items = memory_resize(to->items, to->capacity, sizeof *to->items);
        }
        for (uint32_t k = 0; k < finding.count; k++)
            to->items[to->count++] =
                (struct op_need){.op = program->ops[i], .from = finding.found[k]};
    }
    free(op_of);
    free(finding.seen);
}

void needs_end(struct needs *needs, struct scratch *scratch, struct attribution *of)
{
    if (needs->count > 0) {
        struct op_need *kept = scratch_array(scratch, struct op_need, needs->count);

        qsort(needs->items, needs->count, sizeof *needs->items, by_op);
        memcpy(kept, needs->items, needs->count * sizeof *kept);
        of->needs = kept;
        of->need_count = needs->count;
    }
    free(needs->items);
    *needs = (struct needs){0};
}
