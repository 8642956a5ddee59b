/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan shows could need less.
 *
 *   computed again   a temporary buffer at the peak whose producer is cheap (elementwise, no sums),
 *                    made long before and used long after, while all that it was made from lives
 *                    as long anyway
 *   donated          an output of the very shape of an input that is not given up: with
 *                    donate_argnums it could take the input's memory
 *
 * Both are upper bounds: whether the input is needed afterwards, only the program knows.
 */
#include "analyse/memory/heap_parts.h"

enum { DISTANCE_MIN = 8, LIFE_SHARE = 10 /* of the program: a tenth */, PART_OF_PEAK = 200 };

static bool is_cheap_opcode(struct str opcode)
{
    static const char *const opcodes[] = {
        "abs",
        "add",
        "and",
        "bitcast",
        "bitcast-convert",
        "broadcast",
        "ceil",
        "clamp",
        "compare",
        "concatenate",
        "constant",
        "convert",
        "copy",
        "cosine",
        "divide",
        "exponential",
        "floor",
        "iota",
        "is-finite",
        "log",
        "logistic",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "pad",
        "parameter",
        "power",
        "reduce-precision",
        "remainder",
        "reshape",
        "reverse",
        "round-nearest-afz",
        "rsqrt",
        "select",
        "shift-left",
        "shift-right-logical",
        "sign",
        "sine",
        "slice",
        "sqrt",
        "subtract",
        "tanh",
        "transpose",
        "tuple",
        "xor",
        "exponential-minus-one",
        "log-plus-one",
        "get-tuple-element",
        "round-nearest-even",
        "dynamic-slice",
        "shift-right-arithmetic",
    };

    for (size_t i = 0; i < COUNT(opcodes); i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return false;
}

/* Many buffers may come from what calls one long computation: what lies beyond is not told. */
static bool spend(uint32_t *left, uint32_t steps)
{
    bool ret = steps <= *left;

    *left = ret ? *left - steps : 0;
    return ret;
}

static bool is_cheap(const struct hlo_module *module, uint32_t instruction, uint32_t *left)
{
    const struct hlo_instruction *producer = &module->instructions[instruction];

    if (str_equal(producer->opcode, STR("parameter")))
        return false;
    if (!str_equal(producer->opcode, STR("fusion")))
        return is_cheap_opcode(producer->opcode);
    if (producer->called_count == 0 || !spend(left, producer->called_count))
        return false;
    for (uint32_t i = 0; i < producer->called_count; i++) {
        uint32_t called = module->called[producer->first_called + i];
        if (called == HLO_NONE)
            return false;
        const struct hlo_computation *inside = &module->computations[called];
        if (!spend(left, inside->count))
            return false;
        for (uint32_t k = 0; k < inside->count; k++)
            if (!is_cheap_opcode(module->instructions[inside->first + k].opcode))
                return false;
    }
    return true;
}

/* Where the value itself was made, behind views of it. */
static uint32_t source_of(const struct hlo_module *module, uint32_t instruction)
{
    enum { HOPS_MAX = 8 };

    for (int hop = 0; hop < HOPS_MAX && instruction != HLO_NONE; hop++) {
        const struct hlo_instruction *view = &module->instructions[instruction];
        if (view->operand_count == 0 || (!str_equal(view->opcode, STR("bitcast")) &&
                                         !str_equal(view->opcode, STR("get-tuple-element"))))
            return instruction;
        instruction = module->operands[view->first_operand];
    }
    return HLO_NONE;
}

/* Does all that it was made from live as long as it does? `lives` holds by instruction the last
 * position of what it made; 0 where it made nothing that is told. */
static bool can_be_made_again(const struct hlo_module *module, const struct heap_buffer *buffer,
                              const uint32_t *lives, uint32_t *left)
{
    const struct hlo_instruction *producer = &module->instructions[buffer->instruction];

    if (!spend(left, producer->operand_count))
        return false;
    for (uint32_t i = 0; i < producer->operand_count; i++) {
        uint32_t source = source_of(module, module->operands[producer->first_operand + i]);

        if (source == HLO_NONE)
            return false;
        if (!str_equal(module->instructions[source].opcode, STR("constant")) &&
            lives[source] < buffer->last)
            return false;
    }
    return true;
}

static void advise_again(struct heap_work *work)
{
    const struct hlo_module *module = work->module;
    struct heap *heap = work->heap;
    uint32_t *lives = arena_array(work->arena, uint32_t, module->instruction_count + 1u);
    uint32_t left = 1 << 22; /* instructions that are looked at */

    for (uint32_t i = 0; i < heap->buffer_count; i++) {
        const struct heap_buffer *buffer = &heap->buffers[i];

        if (buffer->instruction != HLO_NONE && buffer->last > lives[buffer->instruction])
            lives[buffer->instruction] = buffer->last;
    }
    for (uint32_t i = 0; i < heap->buffer_count; i++) {
        struct heap_buffer *buffer = &heap->buffers[i];

        if (buffer->class != HEAP_TEMPORARY || buffer->instruction == HLO_NONE ||
            !heap_is_alive(buffer, heap->peak_change) || heap->peak_position == HLO_NONE ||
            buffer->first > heap->peak_position || buffer->last < heap->peak_position)
            continue;
        buffer->producer_distance = heap->peak_position - buffer->first;
        buffer->user_distance = buffer->last - heap->peak_position;
        buffer->could_rematerialise =
            buffer->bytes >= heap->peak_bytes / PART_OF_PEAK &&
            buffer->producer_distance >= DISTANCE_MIN && buffer->user_distance >= DISTANCE_MIN &&
            buffer->last - buffer->first >= heap->position_count / LIFE_SHARE &&
            is_cheap(module, buffer->instruction, &left) &&
            can_be_made_again(module, buffer, lives, &left);
        if (buffer->could_rematerialise && heap->rematerialise_bytes < INT64_MAX - buffer->bytes)
            heap->rematerialise_bytes += buffer->bytes;
    }
}

static bool same_shape(const struct heap_buffer *a, const struct heap_buffer *b)
{
    return a->bytes == b->bytes && a->shape.count > 0 && a->shape.count == b->shape.count &&
           memcmp(a->shape.at, b->shape.at, a->shape.count) == 0;
}

/* An input that is also an output was donated already. */
static bool is_kept_input(const struct heap_work *work, const struct heap_buffer *buffer)
{
    const struct hlo_allocation *allocation = &work->module->allocations[buffer->allocation];

    return buffer->class == HEAP_PARAMETER && !allocation->is_live_out && !allocation->is_tuple;
}

static void advise_donation(struct heap_work *work)
{
    struct heap *heap = work->heap;
    bool *is_taken = arena_array(work->arena, bool, heap->buffer_count + 1u);
    uint32_t budget = 1 << 24; /* pairs that are compared */

    for (uint32_t i = 0; i < heap->buffer_count; i++) {
        struct heap_buffer *output = &heap->buffers[i];

        if (output->class != HEAP_OUTPUT || output->bytes == 0 ||
            work->module->allocations[output->allocation].is_tuple)
            continue;
        for (uint32_t k = 0; k < heap->buffer_count && budget > 0; k++, budget--) {
            if (is_taken[k] || !same_shape(output, &heap->buffers[k]) ||
                !is_kept_input(work, &heap->buffers[k]))
                continue;
            is_taken[k] = true;
            output->reuses = k;
            if (heap->donation_bytes < INT64_MAX - output->bytes)
                heap->donation_bytes += output->bytes;
            break;
        }
    }
}

void heap_advise(struct heap_work *work)
{
    advise_again(work);
    advise_donation(work);
}
