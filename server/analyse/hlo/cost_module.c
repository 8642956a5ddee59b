/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of instructions and computations. A computation is summed once, however often it is called;
 * who calls himself, as only a hostile module does, finds nothing. */
#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/cost_parts.h"

enum { CALL_DEPTH_MAX = 32 };

uint32_t cost_operand(const struct cost_work *work, uint32_t instruction, uint32_t index)
{
    const struct hlo_instruction *of = &work->module->instructions[instruction];

    return index < of->operand_count ? work->module->operands[of->first_operand + index] : HLO_NONE;
}

void cost_sizes(const struct cost_work *work, uint32_t instruction, struct hlo_sizes *ret)
{
    *ret = (struct hlo_sizes){0};
    if (instruction != HLO_NONE)
        hlo_sizes_read(work->module->form, work->module->instructions[instruction].shape, ret);
}

void cost_first_sizes(const struct cost_work *work, uint32_t instruction, struct hlo_sizes *ret)
{
    cost_sizes(work, instruction, ret);
    if (ret->type == HLO_TUPLE)
        hlo_sizes_read(
            work->module->form,
            hlo_shape_part(work->module->form, work->module->instructions[instruction].shape, 0),
            ret);
}

double cost_bytes_of(const struct cost_work *work, uint32_t instruction)
{
    struct hlo_sizes sizes;

    /* The host's memory is not the device's: what lies there crosses a link. */
    cost_sizes(work, instruction, &sizes);
    return sizes.bytes - sizes.host_bytes;
}

double cost_operand_bytes(const struct cost_work *work, uint32_t instruction, uint32_t index)
{
    return cost_bytes_of(work, cost_operand(work, instruction, index));
}

double cost_touched_bytes(const struct cost_work *work, uint32_t instruction)
{
    double bytes = cost_bytes_of(work, instruction);

    for (uint32_t i = 0; i < work->module->instructions[instruction].operand_count; i++)
        bytes += cost_operand_bytes(work, instruction, i);
    return bytes;
}

static uint32_t called_by(const struct cost_work *work, uint32_t instruction, uint32_t index)
{
    const struct hlo_instruction *of = &work->module->instructions[instruction];

    return index < of->called_count ? work->module->called[of->first_called + index] : HLO_NONE;
}

/* Adds what another costs, so many times; bytes only where they are memory. */
static void add(struct op_cost *to, const struct op_cost *from, double times, bool with_bytes)
{
    if (from->matrix_flops > to->matrix_flops)
        to->type = from->type;
    to->flags |= from->flags & (COST_HIGHEST | COST_PARTLY);
    if (!cost_is_known((enum cost_rule)from->flops_rule))
        to->flags |= COST_PARTLY;
    else if (times > 0) {
        to->flops += from->flops * times;
        to->matrix_flops += from->matrix_flops * times;
        to->transcendentals += from->transcendentals * times;
    }
    if (with_bytes && times > 0 && cost_is_known((enum cost_rule)from->bytes_rule))
        to->bytes += from->bytes * times;
}

static void add_called(struct cost_work *work, uint32_t instruction, uint32_t index, double times,
                       bool with_bytes, struct op_cost *ret)
{
    uint32_t called = called_by(work, instruction, index);
    struct op_cost cost;

    if (called == HLO_NONE)
        return;
    cost_of_computation(work, called, &cost);
    add(ret, &cost, times, with_bytes);
}

static void put_dot(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_sizes lhs, result;
    struct hlo_detail detail;

    hlo_detail_read(work->module, &work->module->instructions[instruction], &detail);
    cost_sizes(work, cost_operand(work, instruction, 0), &lhs);
    cost_sizes(work, instruction, &result);
    ret->flops = ret->matrix_flops = cost_dot_flops(&lhs, &result, &detail.lhs_contracting);
    ret->type = (uint8_t)lhs.type;
    ret->flags |= detail.is_highest_precision ? COST_HIGHEST : 0;
}

static void put_convolution(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_sizes input, kernel, output;
    struct hlo_detail detail;

    hlo_detail_read(work->module, &work->module->instructions[instruction], &detail);
    cost_sizes(work, cost_operand(work, instruction, 0), &input);
    cost_sizes(work, cost_operand(work, instruction, 1), &kernel);
    cost_sizes(work, instruction, &output);
    ret->flops = ret->matrix_flops = cost_convolution_flops(&detail, &input, &kernel, &output);
    ret->type = (uint8_t)input.type;
    ret->flags |= detail.is_highest_precision ? COST_HIGHEST : 0;
}

static double window_elements(const struct hlo_detail *detail)
{
    double elements = 1;

    for (uint32_t i = 0; i < detail->side_count; i++)
        elements *= (double)detail->sides[i].size;
    return elements;
}

static void put_windowed(struct cost_work *work, uint32_t instruction, enum cost_class class,
                         struct op_cost *ret)
{
    struct hlo_sizes of;
    struct hlo_detail detail;

    hlo_detail_read(work->module, &work->module->instructions[instruction], &detail);
    if (class == COST_CLASS_REDUCE_WINDOW) {
        cost_first_sizes(work, instruction, &of);
        add_called(work, instruction, 0, (window_elements(&detail) - 1) * of.elements, false, ret);
        return;
    }
    cost_sizes(work, cost_operand(work, instruction, 1), &of);
    add_called(work, instruction, 0, (window_elements(&detail) - 1) * of.elements, false, ret);
    add_called(work, instruction, 1, of.elements, false, ret);
}

static void put_reduce(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_sizes in, out;

    cost_sizes(work, cost_operand(work, instruction, 0), &in);
    cost_first_sizes(work, instruction, &out);
    add_called(work, instruction, 0, in.elements - out.elements, false, ret);
}

static void put_scatter(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    uint32_t operands = work->module->instructions[instruction].operand_count, count;
    struct hlo_sizes updates;

    count = operands < 3 ? 0 : (operands - 1) / 2;
    ret->bytes = cost_operand_bytes(work, instruction, count);
    for (uint32_t i = count + 1; i < operands; i++)
        ret->bytes += 3 * cost_operand_bytes(work, instruction, i);
    cost_sizes(work, cost_operand(work, instruction, count + 1), &updates);
    add_called(work, instruction, 0, updates.elements, false, ret);
}

static void put_transform(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_detail detail;
    struct hlo_sizes in;

    hlo_detail_read(work->module, &work->module->instructions[instruction], &detail);
    cost_sizes(work, cost_operand(work, instruction, 0), &in);
    ret->flops = 8 * in.elements;
    for (uint32_t i = 0; i < detail.transform_lengths.count; i++)
        ret->flops *= detail.transform_lengths.items[i] > 0
                          ? floor(log2((double)detail.transform_lengths.items[i]))
                          : 0;
}

static void put_solve(struct cost_work *work, uint32_t instruction, enum cost_class class,
                      struct op_cost *ret)
{
    struct hlo_sizes matrix, other;

    cost_sizes(work, cost_operand(work, instruction, 0), &matrix);
    cost_sizes(work, cost_operand(work, instruction, 1), &other);

    double side = matrix.rank > 0 ? (double)matrix.sizes[matrix.rank - 1] : 0;

    if (class == COST_CLASS_CHOLESKY) {
        ret->flops = floor(side * matrix.elements / 3);
        ret->bytes = matrix.bytes;
    } else {
        ret->flops = 2 * side * other.elements;
        ret->bytes = matrix.bytes / 2 + other.bytes + cost_bytes_of(work, instruction);
    }
}

/* "known_trip_count":{"n":"12"}; 0 unknown. */
static double trip_count(struct cost_work *work, uint32_t instruction)
{
    struct hlo_detail detail;
    struct hlo_list count;

    hlo_detail_read(work->module, &work->module->instructions[instruction], &detail);
    count = cost_config_numbers(detail.backend_config, "n");
    return str_contains(detail.backend_config, STR("known_trip_count")) && count.count > 0
               ? (double)count.items[0]
               : 0;
}

static bool events_show(const struct cost_work *work, uint32_t instruction)
{
    for (uint32_t i = 0; i < work->module->instructions[instruction].called_count; i++) {
        uint32_t called = called_by(work, instruction, i);

        if (called != HLO_NONE && work->with_events != NULL && work->with_events[called])
            return true;
    }
    return false;
}

static void put_control(struct cost_work *work, uint32_t instruction, enum cost_class class,
                        struct op_cost *ret)
{
    uint32_t count = work->module->instructions[instruction].called_count;
    double trips = class == COST_CLASS_WHILE ? trip_count(work, instruction) : 1;

    ret->bytes = 0;
    if (events_show(work, instruction)) {
        ret->flops_rule = ret->bytes_rule = COST_CONTROL;
        return;
    }
    if (trips == 0 || (class == COST_CLASS_CONDITIONAL && count > 1)) {
        ret->flops = ret->matrix_flops = ret->transcendentals = ret->bytes = NAN;
        ret->flops_rule = ret->bytes_rule = COST_TRIPS;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        add_called(work, instruction, i, trips, true, ret);
}

static void put_fusion(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_sizes own;

    cost_first_sizes(work, instruction, &own);
    add_called(work, instruction, 0, 1, false, ret);
    if (ret->matrix_flops == 0)
        ret->type = (uint8_t)own.type;
    ret->bytes = cost_fusion_bytes(work, instruction);
}

static void put_elements(struct cost_work *work, uint32_t instruction, enum cost_class class,
                         struct op_cost *ret)
{
    struct hlo_sizes sizes;

    cost_sizes(work, instruction, &sizes);
    if (class == COST_CLASS_ELEMENTWISE)
        ret->flops = sizes.elements;
    else
        ret->transcendentals = sizes.elements;
    if (class != COST_CLASS_SORT)
        return;
    cost_sizes(work, cost_operand(work, instruction, 0), &sizes);
    ret->transcendentals = 0;
    ret->flops = sizes.elements > 1 ? sizes.elements * ceil(log2(sizes.elements)) : 0;
}

static void put_memory(struct cost_work *work, uint32_t instruction, enum cost_class class,
                       struct op_cost *ret)
{
    double own_bytes = cost_bytes_of(work, instruction);
    struct hlo_sizes sizes;

    switch (class) {
    case COST_CLASS_FREE:
        ret->bytes = 0;
        break;
    case COST_CLASS_TUPLE: /* a table of pointers */
        cost_sizes(work, instruction, &sizes);
        ret->bytes = 8.0 * sizes.part_count;
        break;
    case COST_CLASS_SLICE:
        ret->bytes = 2 * own_bytes;
        break;
    case COST_CLASS_DYNAMIC_SLICE:
    case COST_CLASS_GATHER:
        ret->bytes = 2 * own_bytes + cost_operand_bytes(work, instruction, 1);
        break;
    case COST_CLASS_UPDATE_SLICE:
        ret->bytes =
            2 * cost_operand_bytes(work, instruction, 1) + cost_operand_bytes(work, instruction, 2);
        break;
    case COST_CLASS_SEND:
        cost_first_sizes(work, instruction, &sizes);
        ret->bytes = sizes.bytes;
        ret->flags |= COST_ASYNC;
        break;
    case COST_CLASS_TRANSFER: /* its result holds source and target */
        ret->bytes = own_bytes;
        ret->flags |= COST_ASYNC;
        break;
    case COST_CLASS_AWAITED:
        ret->bytes = 0;
        ret->flags |= COST_ASYNC;
        ret->flops_rule = ret->bytes_rule = COST_PARTNER;
        break;
    default:
        break;
    }
}

static void put_by_class(struct cost_work *work, uint32_t instruction, enum cost_class class,
                         struct op_cost *ret)
{
    struct hlo_sizes sizes;

    switch (class) {
    case COST_CLASS_ELEMENTWISE:
    case COST_CLASS_TRANSCENDENTAL:
    case COST_CLASS_RANDOM:
    case COST_CLASS_SORT:
        put_elements(work, instruction, class, ret);
        break;
    case COST_CLASS_DOT:
        put_dot(work, instruction, ret);
        break;
    case COST_CLASS_CONVOLUTION:
        put_convolution(work, instruction, ret);
        break;
    case COST_CLASS_REDUCE:
        put_reduce(work, instruction, ret);
        break;
    case COST_CLASS_REDUCE_WINDOW:
    case COST_CLASS_SELECT_AND_SCATTER:
        put_windowed(work, instruction, class, ret);
        break;
    case COST_CLASS_SCATTER:
        put_scatter(work, instruction, ret);
        break;
    case COST_CLASS_MAP:
        cost_sizes(work, instruction, &sizes);
        add_called(work, instruction, 0, sizes.elements, false, ret);
        break;
    case COST_CLASS_TRANSFORM:
        put_transform(work, instruction, ret);
        break;
    case COST_CLASS_TRIANGULAR_SOLVE:
    case COST_CLASS_CHOLESKY:
        put_solve(work, instruction, class, ret);
        break;
    case COST_CLASS_FUSION:
        put_fusion(work, instruction, ret);
        break;
    case COST_CLASS_CALL:
    case COST_CLASS_WHILE:
    case COST_CLASS_CONDITIONAL:
        put_control(work, instruction, class, ret);
        break;
    case COST_CLASS_CUSTOM_CALL:
        cost_custom_call(work, instruction, ret);
        break;
    case COST_CLASS_ALL_REDUCE: /* each element is the sum of two, as XLA has it */
        cost_sizes(work, instruction, &sizes);
        ret->flops = sizes.elements;
        ret->flags |= str_ends(work->module->instructions[instruction].opcode, STR("-start"))
                          ? COST_ASYNC
                          : 0;
        break;
    case COST_CLASS_ASYNC:
        ret->bytes = 0;
        ret->flags |= COST_ASYNC;
        add_called(work, instruction, 0, 1, true, ret);
        break;
    default:
        put_memory(work, instruction, class, ret);
    }
}

/* What no machine computes in a year comes from sizes that nobody meant. */
static void bound(double *cost, uint8_t *rule)
{
    const double most = 1e27;

    if (!cost_is_known((enum cost_rule) * rule) || (*cost >= 0 && *cost <= most))
        return;
    *cost = NAN;
    *rule = COST_UNKNOWN;
}

void cost_of_instruction(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct hlo_sizes own;

    cost_first_sizes(work, instruction, &own);
    *ret = (struct op_cost){
        .type = (uint8_t)own.type,
        .flops_rule = COST_HLO,
        .bytes_rule = COST_HLO,
        .bytes = cost_touched_bytes(work, instruction),
    };
    put_by_class(work, instruction, cost_class_of(work->module->instructions[instruction].opcode),
                 ret);
    bound(&ret->flops, &ret->flops_rule);
    bound(&ret->bytes, &ret->bytes_rule);
    if (isnan(ret->flops))
        ret->matrix_flops = ret->transcendentals = NAN;
}

void cost_of_computation(struct cost_work *work, uint32_t computation, struct op_cost *ret)
{
    const struct hlo_computation *of = &work->module->computations[computation];
    struct op_cost sum = {.flops_rule = COST_HLO, .bytes_rule = COST_HLO};

    *ret = work->computations[computation];
    if (work->states[computation] == 2)
        return;
    *ret = sum;
    if (work->states[computation] == 1 || work->depth == CALL_DEPTH_MAX)
        return;
    work->states[computation] = 1;
    work->depth++;
    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        struct op_cost cost;

        cost_of_instruction(work, i, &cost);
        add(&sum, &cost, 1, true);
    }
    work->depth--;
    work->states[computation] = 2;
    *ret = work->computations[computation] = sum;
}

/* Who uses each instruction, in file order. */
static void list_users(struct cost_work *work)
{
    const struct hlo_module *module = work->module;
    uint32_t *first = memory_zeroed((size_t)module->instruction_count + 2, sizeof(*first));
    work->users = memory_resize(NULL, (size_t)module->operand_count + 1, sizeof(*work->users));
    for (uint32_t i = 0; i < module->operand_count; i++)
        if (module->operands[i] != HLO_NONE)
            first[module->operands[i] + 2]++;
    for (uint32_t i = 2; i < module->instruction_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t user = 0; user < module->instruction_count; user++) {
        const struct hlo_instruction *of = &module->instructions[user];

        for (uint32_t i = of->first_operand; i < of->first_operand + of->operand_count; i++)
            if (module->operands[i] != HLO_NONE)
                work->users[first[module->operands[i] + 1]++] = user;
    }
    work->first_user = first;
}

struct cost_work *cost_work_create(const struct hlo_module *module, const bool *with_events)
{
    struct cost_work *work = memory_resize(NULL, 1, sizeof(*work));

    *work = (struct cost_work){.module = module, .with_events = with_events};
    work->steps_max = (uint64_t)module->instruction_count * COST_STEPS_AN_INSTRUCTION;
    if (work->steps_max > COST_STEPS_MAX)
        work->steps_max = COST_STEPS_MAX;
    work->computations =
        memory_zeroed((size_t)module->computation_count + 1, sizeof(*work->computations));
    work->states = memory_zeroed((size_t)module->computation_count + 1, 1);
    list_users(work);
    return work;
}

void cost_work_free(struct cost_work *work)
{
    free(work->computations);
    free(work->states);
    free(work->first_user);
    free(work->users);
    free(work);
}
