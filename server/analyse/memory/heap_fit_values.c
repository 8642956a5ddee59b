/* SPDX-License-Identifier: Apache-2.0 */
/* What lies where, and from when to when.
 *
 *   allocation 3  offset 0   dot.1 [2, 5]   fusion.2 [5, 9]     in place: one value, [2, 9]
 *                 offset 0   dot.7 [12, 14]                     another
 *
 * Buffers of one place that touch in time are one value: the later lies in the earlier one, or the
 * loop's state in that of its body. An output lives to the end.
 */
#include <stdlib.h>

#include "analyse/memory/heap_fit_parts.h"

uint32_t fit_source_of(const struct hlo_module *module, uint32_t instruction)
{
    enum { HOPS_MAX = 16 };

    for (int hop = 0; hop < HOPS_MAX && instruction != HLO_NONE; hop++) {
        const struct hlo_instruction *view = &module->instructions[instruction];

        if (view->operand_count == 0 || (!str_equal(view->opcode, STR("bitcast")) &&
                                         !str_equal(view->opcode, STR("get-tuple-element")) &&
                                         !str_equal(view->opcode, STR("opt-barrier")) &&
                                         !str_equal(view->opcode, STR("optimization-barrier")) &&
                                         !str_equal(view->opcode, STR("copy-done"))))
            return instruction;
        instruction = module->operands[view->first_operand];
    }
    return HLO_NONE;
}

static int by_place(const void *left, const void *right)
{
    const struct fit_value *a = left, *b = right;

    if (a->allocation != b->allocation)
        return a->allocation < b->allocation ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

static void add_values(struct fit_work *work, uint32_t ordinal)
{
    const struct hlo_module *module = work->module;
    const struct hlo_allocation *allocation = &module->allocations[ordinal];

    if (allocation->is_thread_local || allocation->is_constant || allocation->color != 0)
        return;
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        const struct hlo_assigned *one = &module->assigned[allocation->first_assigned + i];
        const struct hlo_buffer *buffer = hlo_module_buffer(module, one->buffer);
        uint32_t instruction = buffer == NULL ? HLO_NONE : buffer->instruction;

        if (instruction == HLO_NONE || work->order.position[instruction] == HLO_NONE ||
            one->size_bytes > INT64_MAX / 4)
            continue;
        work->values[work->value_count++] = (struct fit_value){
            .instruction = instruction,
            .first_instruction = instruction,
            .shape = buffer->shape,
            .allocation = ordinal,
            .offset = one->offset,
            .bytes = (int64_t)one->size_bytes,
            .first = allocation->is_parameter ? 0 : work->order.position[instruction],
            .last = work->order.last_use[instruction] == HLO_NONE
                        ? work->order.position[instruction]
                        : work->order.last_use[instruction],
            .is_parameter = allocation->is_parameter,
            .parameter = allocation->parameter,
        };
    }
}

static void join(struct fit_work *work)
{
    uint32_t joined = 0;

    qsort(work->values, work->value_count, sizeof *work->values, by_place);
    for (uint32_t i = 0; i < work->value_count; i++) {
        struct fit_value *last = joined > 0 ? &work->values[joined - 1] : NULL;
        const struct fit_value *one = &work->values[i];

        if (last == NULL || last->allocation != one->allocation || last->offset != one->offset ||
            one->first > last->last) {
            work->values[joined++] = *one;
            continue;
        }
        if (one->last > last->last)
            last->last = one->last;
        if (one->bytes > last->bytes) {
            last->bytes = one->bytes;
            last->instruction = one->instruction;
            last->shape = one->shape;
        }
    }
    work->value_count = joined;
}

static uint32_t value_at(const struct fit_work *work, const struct hlo_assigned *one,
                         uint32_t ordinal, uint32_t position)
{
    for (uint32_t i = 0; i < work->value_count; i++) { /* few a module's outputs */
        const struct fit_value *value = &work->values[i];

        if (value->allocation == ordinal && value->offset == one->offset &&
            value->first <= position && position <= value->last)
            return i;
    }
    return HLO_NONE;
}

static void find_values(struct fit_work *work)
{
    const struct hlo_module *module = work->module;
    uint32_t budget = 1 << 26;

    for (uint32_t a = 0; a < module->allocation_count; a++)
        for (uint32_t k = 0; k < module->allocations[a].assigned_count; k++) {
            const struct hlo_assigned *one =
                &module->assigned[module->allocations[a].first_assigned + k];
            const struct hlo_buffer *buffer = hlo_module_buffer(module, one->buffer);

            if (buffer == NULL || buffer->instruction == HLO_NONE || buffer->part.count > 0 ||
                budget < work->value_count)
                continue;
            budget -= work->value_count;
            work->value_of[buffer->instruction] = value_at(
                work, one, a,
                module->allocations[a].is_parameter ? 0
                                                    : work->order.position[buffer->instruction]);
        }
}

static uint32_t root_of(const struct hlo_module *module)
{
    for (uint32_t i = 0; i < module->instruction_count; i++)
        if (module->instructions[i].is_root &&
            module->computations[module->instructions[i].computation].is_entry)
            return i;
    return HLO_NONE;
}

static void mark_outputs(struct fit_work *work)
{
    const struct hlo_module *module = work->module;
    const uint32_t root = root_of(module);
    const struct hlo_instruction *last = root == HLO_NONE ? NULL : &module->instructions[root];
    bool is_tuple = last != NULL && str_equal(last->opcode, STR("tuple"));

    for (uint32_t i = 0; last != NULL && i < (is_tuple ? last->operand_count : 1); i++) {
        uint32_t source =
            fit_source_of(module, is_tuple ? module->operands[last->first_operand + i] : root);
        uint32_t value = source == HLO_NONE ? HLO_NONE : work->value_of[source];

        if (value != HLO_NONE && !work->values[value].is_parameter) {
            work->values[value].is_output = true;
            work->values[value].made = work->order.position[source];
            work->values[value].maker = source;
            work->values[value].output = i;
            work->values[value].last = work->order.count > 0 ? work->order.count - 1 : 0;
        }
    }
}

void fit_values(struct fit_work *work)
{
    const struct hlo_module *module = work->module;

    work->values = arena_array(work->arena, struct fit_value, module->assigned_count + 1u);
    work->value_of = arena_array(work->arena, uint32_t, module->instruction_count + 1u);
    memset(work->value_of, 0xff, (module->instruction_count + 1u) * sizeof *work->value_of);
    heap_order_of(module, work->arena, &work->order);
    heap_order_uses(module, &work->order, work->arena);
    for (uint32_t i = 0; i < module->allocation_count; i++)
        add_values(work, i);
    join(work);
    find_values(work);
    mark_outputs(work);
}
