/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives an instruction its operands and who uses its result, a few hops either way. */
#include "analyse/hlo/hlo.h"

struct walk {
    const struct hlo_module *module;
    struct hlo_neighbour *found;
    uint32_t count, left_out;
    bool *seen; /* by instruction */
};

static void visit(struct walk *walk, uint32_t instruction, int distance)
{
    if (instruction == HLO_NONE || walk->seen[instruction])
        return;
    walk->seen[instruction] = true;
    if (walk->count == HLO_NEIGHBOURS_MAX) {
        walk->left_out++;
        return;
    }
    walk->found[walk->count++] =
        (struct hlo_neighbour){.instruction = instruction, .distance = distance};
}

static void visit_operands(struct walk *walk, uint32_t instruction, int distance)
{
    const struct hlo_instruction *of = &walk->module->instructions[instruction];

    for (uint32_t i = 0; i < of->operand_count; i++)
        visit(walk, walk->module->operands[of->first_operand + i], distance);
}

/* Users of those found at `nearer`, in one pass over the module. */
static void visit_users(struct walk *walk, const bool *wanted, int distance)
{
    const struct hlo_module *module = walk->module;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *user = &module->instructions[i];
        for (uint32_t k = 0; k < user->operand_count; k++) {
            uint32_t operand = module->operands[user->first_operand + k];
            if (operand != HLO_NONE && wanted[operand]) {
                visit(walk, i, distance);
                break;
            }
        }
    }
}

uint32_t hlo_neighbours(const struct hlo_module *module, uint32_t instruction, struct arena *arena,
                        struct hlo_neighbour **ret, uint32_t *ret_left_out)
{
    struct walk walk = {
        .module = module,
        .found = arena_array(arena, struct hlo_neighbour, HLO_NEIGHBOURS_MAX),
        .seen = arena_array(arena, bool, module->instruction_count),
    };
    bool *wanted = arena_array(arena, bool, module->instruction_count);
    uint32_t first = 0;

    walk.seen[instruction] = wanted[instruction] = true;
    visit_operands(&walk, instruction, -1);
    for (int hop = 2; hop <= HLO_HOPS; hop++)
        for (uint32_t end = walk.count; first < end; first++)
            visit_operands(&walk, walk.found[first].instruction, -hop);
    for (int hop = 1; hop <= HLO_HOPS; hop++) {
        first = walk.count;
        visit_users(&walk, wanted, hop);
        memset(wanted, 0, module->instruction_count);
        for (; first < walk.count; first++)
            wanted[walk.found[first].instruction] = true;
    }
    *ret = walk.found;
    *ret_left_out = walk.left_out;
    return walk.count;
}
