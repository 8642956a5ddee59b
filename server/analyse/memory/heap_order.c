/* SPDX-License-Identifier: Apache-2.0 */
/* Program order, as the compiler flattens it: what a while, call or conditional runs stands before
 * it, each computation once.
 *
 *   ENTRY  a, while(body, condition), b        ->  a, condition..., body..., while, b
 */
#include "analyse/memory/heap_parts.h"

static bool runs_computations(struct str opcode)
{
    static const char *const opcodes[] = {"while", "call", "conditional", "async-start"};

    for (size_t i = 0; i < COUNT(opcodes); i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return false;
}

struct flattening {
    const struct hlo_module *module;
    struct heap_order *order;
    bool *is_placed; /* by computation */
};

static void place_computation(struct flattening *flattening, uint32_t computation, unsigned depth);

static void place_instruction(struct flattening *flattening, uint32_t instruction, unsigned depth)
{
    const struct hlo_module *module = flattening->module;
    struct heap_order *order = flattening->order;
    const struct hlo_instruction *placed = &module->instructions[instruction];

    if (order->position[instruction] != HLO_NONE)
        return;
    for (uint32_t i = 0; runs_computations(placed->opcode) && i < placed->called_count; i++) {
        uint32_t called = module->called[placed->first_called + i];

        if (called == HLO_NONE || flattening->is_placed[called])
            continue;
        order->caller[called] = instruction;
        place_computation(flattening, called, depth + 1);
    }
    if (order->position[instruction] != HLO_NONE)
        return; /* a hostile schedule lists it again inside of what it runs */
    order->position[instruction] = order->count;
    order->order[order->count++] = instruction;
}

static void place_computation(struct flattening *flattening, uint32_t computation, unsigned depth)
{
    enum { DEPTH_MAX = 64 };
    const struct hlo_module *module = flattening->module;
    const struct hlo_computation *placed = &module->computations[computation];

    if (depth > DEPTH_MAX)
        return;
    flattening->is_placed[computation] = true;
    for (uint32_t i = 0; i < placed->scheduled_count; i++) {
        uint32_t instruction = module->schedule[placed->first_scheduled + i];

        if (instruction != HLO_NONE)
            place_instruction(flattening, instruction, depth);
    }
    for (uint32_t i = 0; placed->scheduled_count == 0 && i < placed->count; i++)
        place_instruction(flattening, placed->first + i, depth);
}

static uint32_t entry_of(const struct hlo_module *module)
{
    for (uint32_t i = 0; i < module->computation_count; i++)
        if (module->computations[i].is_entry)
            return i;
    return module->computation_count - 1; /* the entry stands last */
}

void heap_order_of(const struct hlo_module *module, struct arena *arena, struct heap_order *ret)
{
    *ret = (struct heap_order){
        .order = arena_array(arena, uint32_t, module->instruction_count + 1u),
        .position = arena_array(arena, uint32_t, module->instruction_count + 1u),
        .caller = arena_array(arena, uint32_t, module->computation_count + 1u),
    };
    struct flattening flattening = {
        .module = module,
        .order = ret,
        .is_placed = arena_array(arena, bool, module->computation_count + 1u),
    };

    memset(ret->position, 0xff, module->instruction_count * sizeof *ret->position);
    memset(ret->caller, 0xff, module->computation_count * sizeof *ret->caller);
    if (module->computation_count > 0)
        place_computation(&flattening, entry_of(module), 0);
}

/* Does its result lie where an operand lies? Of what was begun also the end: copy-done is where
 * copy-start put it. */
static bool aliases(struct str opcode)
{
    static const char *const opcodes[] = {
        "bitcast",     "tuple",        "get-tuple-element",    "while",          "call",
        "conditional", "opt-barrier",  "optimization-barrier", "add-dependency", "domain",
        "async-start", "async-update", "copy-start",
    };

    for (size_t i = 0; i < COUNT(opcodes); i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return str_ends(opcode, STR("-done"));
}

static void use_until(uint32_t *last_use, uint32_t until)
{
    if (*last_use == HLO_NONE || until > *last_use)
        *last_use = until;
}

/* From the end to the beginning, so that a user's own last use is known before its operands'. */
void heap_order_uses(const struct hlo_module *module, struct heap_order *order, struct arena *arena)
{
    order->last_use = arena_array(arena, uint32_t, module->instruction_count + 1u);
    memset(order->last_use, 0xff, module->instruction_count * sizeof *order->last_use);
    for (uint32_t position = order->count; position-- > 0;) {
        uint32_t user = order->order[position];
        const struct hlo_instruction *instruction = &module->instructions[user];
        uint32_t caller = order->caller[instruction->computation];

        use_until(&order->last_use[user], position);
        if (instruction->is_root && caller != HLO_NONE)
            use_until(&order->last_use[user], order->last_use[caller] != HLO_NONE
                                                  ? order->last_use[caller]
                                                  : order->position[caller]);
        for (uint32_t i = 0; i < instruction->operand_count; i++) {
            uint32_t operand = module->operands[instruction->first_operand + i];

            if (operand != HLO_NONE)
                use_until(&order->last_use[operand],
                          aliases(instruction->opcode) ? order->last_use[user] : position);
        }
    }
}
