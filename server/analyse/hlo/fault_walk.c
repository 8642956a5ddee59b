/* SPDX-License-Identifier: Apache-2.0 */
/* Ways through a module: fusions are looked through in both directions.
 *
 *   %x ──> fusion(%x) { %p = parameter(0) ──> convert(%p) ──> ROOT ... } ──> %y
 *      in: fault_parameter            out: fault_with_time
 */
#include "analyse/hlo/fault_parts.h"

bool fault_is(const struct fault_work *work, uint32_t instruction, const char *opcode)
{
    return instruction != HLO_NONE &&
           str_equal(work->module->instructions[instruction].opcode, str_of(opcode));
}

uint32_t fault_operand(const struct fault_work *work, uint32_t instruction, uint32_t index)
{
    return instruction == HLO_NONE ? HLO_NONE : cost_operand(work->work, instruction, index);
}

uint32_t fault_root(const struct fault_work *work, uint32_t computation)
{
    const struct hlo_computation *of = &work->module->computations[computation];

    for (uint32_t i = of->first + of->count; i > of->first; i--)
        if (work->module->instructions[i - 1].is_root)
            return i - 1;
    return HLO_NONE;
}

uint32_t fault_fused(const struct fault_work *work, uint32_t instruction)
{
    const struct hlo_instruction *of = &work->module->instructions[instruction];

    return fault_is(work, instruction, "fusion") && of->called_count > 0
               ? work->module->called[of->first_called]
               : HLO_NONE;
}

bool fault_spend(struct fault_work *work)
{
    work->steps_left -= work->steps_left > 0;
    return work->steps_left > 0;
}

uint32_t fault_parameter(struct fault_work *work, uint32_t fusion, uint32_t index)
{
    uint32_t fused = fault_fused(work, fusion);

    if (fused == HLO_NONE)
        return HLO_NONE;
    const struct hlo_computation *of = &work->module->computations[fused];
    for (uint32_t i = of->first; i < of->first + of->count && fault_spend(work); i++) {
        struct hlo_detail detail;

        if (!fault_is(work, i, "parameter"))
            continue;
        hlo_detail_read(work->module, &work->module->instructions[i], &detail);
        if (detail.parameter == index)
            return i;
    }
    return HLO_NONE;
}

uint32_t fault_with_time(const struct fault_work *work, uint32_t instruction)
{
    for (int hop = 0; hop < FAULT_HOPS_MAX && instruction != HLO_NONE; hop++) {
        uint32_t computation = work->module->instructions[instruction].computation;

        if (!work->is_inside[computation])
            return instruction;
        instruction = work->callers[computation];
    }
    return HLO_NONE;
}

uint32_t fault_behind(struct fault_work *work, uint32_t value)
{
    struct hlo_detail detail;
    uint32_t fused = fault_fused(work, value);

    if (fused != HLO_NONE)
        return fault_root(work, fused);
    if (!fault_is(work, value, "parameter"))
        return value;
    uint32_t caller = work->callers[work->module->instructions[value].computation];
    if (caller == HLO_NONE)
        return value;
    hlo_detail_read(work->module, &work->module->instructions[value], &detail);
    return detail.parameter < UINT32_MAX ? fault_operand(work, caller, (uint32_t)detail.parameter)
                                         : HLO_NONE;
}

void fault_sizes(const struct fault_work *work, uint32_t instruction, struct hlo_sizes *ret)
{
    hlo_sizes_read(work->module->form, work->module->instructions[instruction].shape, ret);
}

static bool is_same_value(const struct fault_work *work, uint32_t value)
{
    return fault_is(work, value, "convert") || fault_is(work, value, "copy") ||
           fault_is(work, value, "bitcast") || fault_is(work, value, "reshape");
}

uint32_t fault_source(struct fault_work *work, uint32_t value)
{
    for (int hop = 0; hop < FAULT_HOPS_MAX && value != HLO_NONE && fault_spend(work); hop++) {
        uint32_t behind =
            is_same_value(work, value) ? fault_operand(work, value, 0) : fault_behind(work, value);

        if (behind == value)
            break;
        value = behind;
    }
    return value;
}
