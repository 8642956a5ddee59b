/* SPDX-License-Identifier: Apache-2.0 */
/* Counts ops that touch each element of their inputs, and asks torch_product.c for the rest. */
#include "analyse/torch/torch_cost.h"

#include <math.h>

#include "analyse/torch/torch_parts.h"

double torch_read_bytes(const struct torch_input *input)
{
    double size = torch_type_bytes(input->type), elements = 0;

    if (input->count == 0)
        return 0;
    for (uint32_t i = 0; i < input->count; i++)
        elements += input->tensors[i].distinct;
    return size > 0 ? elements * size : NAN;
}

static double elements_of(const struct torch_input *input)
{
    double elements = 0;

    for (uint32_t i = 0; i < input->count; i++)
        elements += input->tensors[i].elements;
    return elements;
}

static double read_first(const struct torch_call *call, uint32_t count)
{
    double bytes = 0;

    for (uint32_t i = 0; i < call->count && i < count; i++)
        bytes += torch_read_bytes(&call->inputs[i]);
    return bytes;
}

static double read_all(const struct torch_call *call)
{
    return read_first(call, call->count);
}

/* Floats before integers before bool, then the wider one. */
static int rank_of(enum hlo_type type)
{
    int width = (int)torch_type_bytes(type);

    if (type == HLO_TYPE_NONE)
        return 0;
    if (type == HLO_PRED)
        return 1;
    if (type == HLO_F16 || type == HLO_BF16 || type == HLO_F32 || type == HLO_F64 ||
        type == HLO_C64 || type == HLO_C128)
        return 200 + width;
    return 100 + width;
}

/* A single number changes the type only where the others are of a lower kind. */
static enum hlo_type result_type(const struct torch_call *call)
{
    enum hlo_type of_arrays = HLO_TYPE_NONE, of_numbers = HLO_TYPE_NONE;

    for (uint32_t i = 0; i < call->count; i++) {
        const struct torch_input *input = &call->inputs[i];

        if (input->count != 1)
            continue;

        enum hlo_type *most = input->tensors->rank > 0 ? &of_arrays : &of_numbers;

        *most = rank_of(input->type) > rank_of(*most) ? input->type : *most;
    }
    return rank_of(of_numbers) / 100 > rank_of(of_arrays) / 100 ? of_numbers : of_arrays;
}

/* An output that is not made yet, behind the inputs. */
static bool is_unmade(const struct torch_tensor *tensor, uint32_t place)
{
    return place > 0 && tensor->rank == 1 && tensor->dims[0] == 0;
}

/* Elements of what all single tensors broadcast to; false where they do not fit. */
static bool broadcast(const struct torch_call *call, double *ret)
{
    int64_t dims[TORCH_RANK_MAX]; /* from the last one on */
    uint32_t rank = 0;

    for (uint32_t i = 0; i < TORCH_RANK_MAX; i++)
        dims[i] = 1;
    for (uint32_t i = 0; i < call->count; i++) {
        const struct torch_tensor *tensor = torch_tensor_at(call, i);

        if (tensor != NULL && is_unmade(tensor, i))
            continue;
        for (uint32_t k = 0; tensor != NULL && k < tensor->rank; k++) {
            int64_t size = tensor->dims[tensor->rank - 1 - k];

            if (size != 1 && dims[k] != 1 && dims[k] != size)
                return false;
            dims[k] = size != 1 ? size : dims[k];
        }
        if (tensor != NULL && tensor->rank > rank)
            rank = tensor->rank;
    }
    *ret = 1;
    for (uint32_t i = 0; i < rank; i++)
        *ret *= (double)dims[i];
    return true;
}

static void put_bytes(struct op_cost *ret, double bytes)
{
    ret->bytes = bytes;
    ret->bytes_rule = isnan(bytes) ? COST_NO_TYPES : COST_SHAPES;
}

static void put_work(const struct torch_op *op, double elements, struct op_cost *ret)
{
    ret->flops = op->flops * elements;
    ret->transcendentals = op->transcendentals * elements;
}

static double size_of(enum hlo_type type)
{
    double size = torch_type_bytes(type);

    return size > 0 ? size : NAN;
}

static bool count_each(const struct torch_op *op, const struct torch_call *call, bool in_place,
                       struct op_cost *ret)
{
    enum hlo_type type = in_place && call->count > 0 ? call->inputs[0].type : result_type(call);
    double elements;

    if (!broadcast(call, &elements))
        return false;
    ret->type = (uint8_t)type;
    put_work(op, elements, ret);
    put_bytes(ret, read_first(call, (uint32_t)op->at[0]) +
                       elements * ((op->flags & TORCH_TRUTH) != 0 ? 1 : size_of(type)));
    return true;
}

static bool count_like(const struct torch_op *op, const struct torch_call *call,
                       struct op_cost *ret)
{
    const struct torch_tensor *like = torch_tensor_at(call, (uint32_t)op->at[0]);

    if (like == NULL)
        return false;
    ret->type = (uint8_t)call->inputs[op->at[0]].type;
    put_work(op, like->elements, ret);
    put_bytes(ret, read_all(call) + like->elements * size_of((enum hlo_type)ret->type));
    return true;
}

static bool count_copy(const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *to = torch_tensor_at(call, 0);

    if (to == NULL || call->count < 2)
        return false;
    ret->type = (uint8_t)call->inputs[0].type;
    put_bytes(ret,
              to->elements * size_of(call->inputs[0].type) + torch_read_bytes(&call->inputs[1]));
    return true;
}

static bool count_fill(const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *to = torch_tensor_at(call, 0);

    if (to == NULL)
        return false;
    ret->type = (uint8_t)call->inputs[0].type;
    put_bytes(ret, to->elements * size_of(call->inputs[0].type));
    return true;
}

static bool count_join(const struct torch_call *call, struct op_cost *ret)
{
    if (call->count == 0 || call->inputs[0].count == 0)
        return false;
    ret->type = (uint8_t)call->inputs[0].type;
    put_bytes(ret, 2 * elements_of(&call->inputs[0]) * size_of(call->inputs[0].type));
    return true;
}

/* Elements that are left: of all dimensions, or of those that the second value names. */
static double reduced(const struct torch_call *call, const struct torch_tensor *from)
{
    int64_t axes[TORCH_RANK_MAX];
    uint32_t count = torch_numbers_at(call, 1, axes, TORCH_RANK_MAX);
    double left = count == 0 ? 1 : from->elements;

    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + from->rank : axes[i];

        if (axis >= 0 && axis < from->rank && from->dims[axis] > 0)
            left /= (double)from->dims[axis];
    }
    return left;
}

static bool count_reduction(const struct torch_op *op, const struct torch_call *call,
                            struct op_cost *ret)
{
    uint32_t at = 0; /* sum may have its output first */

    while (at < call->count && torch_tensor_at(call, at) == NULL)
        at++;
    if (at == call->count)
        return false;

    const struct torch_tensor *from = torch_tensor_at(call, at);

    ret->type = (uint8_t)call->inputs[at].type;
    put_work(op, from->elements, ret);
    put_bytes(ret, torch_read_bytes(&call->inputs[at]) +
                       reduced(call, from) * size_of(call->inputs[at].type));
    return true;
}

/* A row of the table for each index, or a place for each; the whole table is not read. */
static bool count_gather(const struct torch_op *op, const struct torch_call *call,
                         struct op_cost *ret)
{
    const struct torch_tensor *table = torch_tensor_at(call, (uint32_t)op->at[0]);
    const struct torch_tensor *index = torch_tensor_at(call, (uint32_t)op->at[1]);

    if (table == NULL || index == NULL || table->rank == 0)
        return false;

    bool by_row = index->rank != table->rank || str_equal(str_of(op->name), STR("aten::embedding"));
    double row = !by_row || table->dims[0] == 0 ? 1 : table->elements / (double)table->dims[0];

    ret->type = (uint8_t)call->inputs[op->at[0]].type;
    put_bytes(ret, 2 * index->elements * row * size_of((enum hlo_type)ret->type) +
                       torch_read_bytes(&call->inputs[op->at[1]]));
    return true;
}

static bool count_scatter(const struct torch_op *op, const struct torch_call *call,
                          struct op_cost *ret)
{
    const struct torch_tensor *values = torch_tensor_at(call, (uint32_t)op->at[0]);

    if (values == NULL || (uint32_t)op->at[1] >= call->count)
        return false;
    ret->type = (uint8_t)call->inputs[op->at[0]].type;
    ret->flops = values->elements;
    put_bytes(ret, 3 * values->elements * size_of((enum hlo_type)ret->type) +
                       torch_read_bytes(&call->inputs[op->at[1]]));
    return true;
}

static bool count_lists(const struct torch_op *op, const struct torch_call *call,
                        struct op_cost *ret)
{
    if (call->count == 0 || !call->inputs[0].is_list)
        return false;

    double elements = elements_of(&call->inputs[0]);

    ret->type = (uint8_t)call->inputs[0].type;
    ret->flops = op->flops * elements;
    put_bytes(ret, (op->at[0] + op->at[1]) * elements * size_of(call->inputs[0].type));
    return true;
}

static bool count(const struct torch_op *op, const struct torch_call *call, bool in_place,
                  struct op_cost *ret)
{
    switch (op->family) {
    case TORCH_EACH:
        return count_each(op, call, in_place, ret);
    case TORCH_EACH_OF:
        return count_like(op, call, ret);
    case TORCH_COPY:
        return count_copy(call, ret);
    case TORCH_FILL:
        return count_fill(call, ret);
    case TORCH_JOIN:
        return count_join(call, ret);
    case TORCH_REDUCTION:
        return count_reduction(op, call, ret);
    case TORCH_GATHER:
        return count_gather(op, call, ret);
    case TORCH_SCATTER:
        return count_scatter(op, call, ret);
    case TORCH_LISTS:
        return count_lists(op, call, ret);
    case TORCH_VIEW:
        put_bytes(ret, 0);
        return true;
    default:
        return torch_product(op, call, ret);
    }
}

static void put_unknown(struct op_cost *ret, enum cost_rule rule)
{
    *ret = (struct op_cost){.flops = NAN,
                            .matrix_flops = NAN,
                            .transcendentals = NAN,
                            .bytes = NAN,
                            .run_count = 1,
                            .flops_rule = (uint8_t)rule,
                            .bytes_rule = (uint8_t)rule};
}

/* What a rule calls unknown is NAN. */
static void mark_unknown(struct op_cost *ret)
{
    if (ret->flops_rule != COST_SHAPES)
        ret->flops = ret->matrix_flops = ret->transcendentals = NAN;
    if (ret->bytes_rule != COST_SHAPES)
        ret->bytes = NAN;
}

bool torch_is_counted(struct str name)
{
    bool in_place;

    return torch_op_of(name, &in_place) != NULL;
}

void torch_cost(struct str name, const struct torch_call *call, struct op_cost *ret)
{
    bool in_place;
    const struct torch_op *op = torch_op_of(name, &in_place);

    put_unknown(ret, op == NULL          ? COST_NO_FORMULA
                     : !call->has_shapes ? COST_NO_SHAPES
                                         : COST_BAD_SHAPES);
    if (op == NULL || !call->has_shapes || !call->is_sound)
        return;

    struct op_cost counted = {.run_count = 1, .flops_rule = COST_SHAPES, .bytes_rule = COST_SHAPES};

    if (!count(op, call, in_place, &counted) || !isfinite(counted.flops))
        return;
    mark_unknown(&counted);
    *ret = counted;
}
