/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, convolutions and attention. */
#include <math.h>

#include "analyse/torch/torch_parts.h"

/* The tensor there; false: none. */
static bool tensor_at(const struct torch_call *call, int place, const struct torch_tensor **ret)
{
    *ret = place < 0 ? NULL : torch_tensor_at(call, (uint32_t)place);
    return *ret != NULL;
}

static double bytes_of(const struct torch_call *call, int place, double elements)
{
    return place < 0 || (uint32_t)place >= call->count
               ? NAN
               : elements * torch_type_bytes(call->inputs[place].type);
}

/* What was not said has no size: then bytes are unknown. */
static void put(const struct torch_call *call, int typed, double flops, double bytes,
                struct op_cost *ret)
{
    enum hlo_type type = call->inputs[typed].type;

    ret->flops = ret->matrix_flops = flops;
    ret->bytes = bytes;
    ret->type = (uint8_t)type;
    ret->bytes_rule = torch_type_bytes(type) > 0 && !isnan(bytes) ? COST_SHAPES : COST_NO_TYPES;
}

static double batches(const struct torch_tensor *tensor)
{
    double count = 1;

    for (uint32_t i = 0; i + 2 < tensor->rank; i++)
        count *= (double)tensor->dims[i];
    return count;
}

static int64_t from_end(const struct torch_tensor *tensor, uint32_t back)
{
    return tensor->rank < back ? 1 : tensor->dims[tensor->rank - back];
}

/* A vector on the left is a row, on the right a column. */
static bool multiply(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *left, *right;

    if (!tensor_at(call, op->at[0], &left) || !tensor_at(call, op->at[1], &right) ||
        left->rank == 0 || right->rank == 0)
        return false;

    double m = left->rank == 1 ? 1 : (double)from_end(left, 2);
    double n = right->rank == 1 ? 1 : (double)from_end(right, 1);
    int64_t k = from_end(left, 1);
    int64_t right_k = right->rank == 1 ? right->dims[0] : from_end(right, 2);
    double batch = fmax(batches(left), batches(right)), out = batch * m * n;

    if (k != right_k)
        return false;
    put(call, op->at[0], 2 * out * (double)k,
        bytes_of(call, op->at[0], left->distinct) + bytes_of(call, op->at[1], right->distinct) +
            bytes_of(call, op->at[0], out),
        ret);
    return true;
}

static bool linear(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *input, *weight;

    if (!tensor_at(call, op->at[0], &input) || !tensor_at(call, op->at[1], &weight) ||
        input->rank == 0 || weight->rank != 2 || from_end(input, 1) != weight->dims[1])
        return false;

    double out = input->dims[input->rank - 1] == 0
                     ? 0
                     : input->elements / (double)from_end(input, 1) * (double)weight->dims[0];

    put(call, op->at[0], 2 * out * (double)weight->dims[1],
        bytes_of(call, op->at[0], input->distinct) + bytes_of(call, op->at[1], weight->distinct) +
            bytes_of(call, op->at[0], out),
        ret);
    return true;
}

/* One number for all dimensions, or one for each. */
static bool numbers(const struct torch_call *call, int place, uint32_t count, int64_t *ret)
{
    uint32_t found = place < 0 ? 0 : torch_numbers_at(call, (uint32_t)place, ret, TORCH_RANK_MAX);

    for (uint32_t i = found; found == 1 && i < count; i++)
        ret[i] = ret[0];
    return found == 1 || found == count;
}

/* Places of the output, by the window; false where a value is not recorded or cannot be. */
static bool output_places(const struct torch_op *op, const struct torch_call *call,
                          const struct torch_tensor *input, const struct torch_tensor *weight,
                          double *ret)
{
    int64_t stride[TORCH_RANK_MAX], padding[TORCH_RANK_MAX], dilation[TORCH_RANK_MAX];
    uint32_t count = input->rank - 2;

    *ret = 1;
    if (!numbers(call, op->at[0], count, stride) || !numbers(call, op->at[1], count, padding) ||
        !numbers(call, op->at[2], count, dilation))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        double reach = (double)dilation[i] * (double)(weight->dims[i + 2] - 1) + 1;
        double room = (double)input->dims[i + 2] + 2 * (double)padding[i] - reach;

        if (stride[i] <= 0 || dilation[i] <= 0 || padding[i] < 0)
            return false;
        *ret *= room < 0 ? 0 : floor(room / (double)stride[i]) + 1;
    }
    return true;
}

static double places(const struct torch_tensor *tensor)
{
    double count = 1;

    for (uint32_t i = 2; i < tensor->rank; i++)
        count *= (double)tensor->dims[i];
    return count;
}

static bool is_transposed(const struct torch_op *op, const struct torch_call *call)
{
    bool transposed;

    if (op->at[3] < 0)
        return op->at[3] == -2;
    return torch_bool_at(call, (uint32_t)op->at[3], &transposed) && transposed;
}

static bool fits_convolution(const struct torch_tensor *input, const struct torch_tensor *weight)
{
    return input->rank >= 3 && input->rank == weight->rank;
}

/* Every place of the output takes the whole window of each of its channels; of a transposed one
 * every place of the input gives to it. */
static bool convolve(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *input, *weight;
    double at;

    if (!tensor_at(call, 0, &input) || !tensor_at(call, 1, &weight) ||
        !fits_convolution(input, weight))
        return false;

    bool transposed = is_transposed(op, call);

    if (transposed) {
        put(call, 0, 2 * (double)input->dims[0] * places(input) * weight->elements, NAN, ret);
        return true;
    }
    if (!output_places(op, call, input, weight, &at)) {
        ret->flops_rule = ret->bytes_rule = COST_NO_VALUES;
        return true;
    }
    put(call, 0, 2 * (double)input->dims[0] * at * weight->elements,
        bytes_of(call, 0, input->distinct) + bytes_of(call, 1, weight->distinct) +
            bytes_of(call, 0, (double)input->dims[0] * (double)weight->dims[0] * at),
        ret);
    return true;
}

/* How many of the gradients of input and weight are asked for: "[True, True, False]". */
static uint32_t gradients_asked(const struct torch_op *op, const struct torch_call *call)
{
    uint32_t place = (uint32_t)op->at[1];
    struct str mask = place < call->count ? call->inputs[place].value : STR("");
    const char *comma = mask.count == 0 ? NULL : memchr(mask.at, ',', mask.count);

    if (comma == NULL)
        return 2;

    struct str first = {mask.at, (size_t)(comma - mask.at)};
    struct str rest = str_skip(mask, first.count + 1);
    const char *next = memchr(rest.at, ',', rest.count);

    rest.count = next == NULL ? rest.count : (size_t)(next - rest.at);
    return (uint32_t)str_contains(first, STR("rue")) + (uint32_t)str_contains(rest, STR("rue"));
}

static bool convolve_back(const struct torch_op *op, const struct torch_call *call,
                          struct op_cost *ret)
{
    const struct torch_tensor *gradient, *input, *weight;

    if (!tensor_at(call, 0, &gradient) || !tensor_at(call, 1, &input) ||
        !tensor_at(call, 2, &weight) || !fits_convolution(input, weight) ||
        gradient->rank != input->rank)
        return false;

    uint32_t asked = gradients_asked(op, call);
    const struct torch_tensor *over = is_transposed(op, call) ? input : gradient;

    /* each gradient reads two of the three and writes the third */
    put(call, 1, asked * 2.0 * (double)input->dims[0] * places(over) * weight->elements,
        asked * (bytes_of(call, 0, gradient->distinct) + bytes_of(call, 1, input->distinct) +
                 bytes_of(call, 2, weight->distinct)),
        ret);
    return true;
}

static bool convolve_back_to(const struct torch_op *op, const struct torch_call *call,
                             struct op_cost *ret)
{
    const struct torch_tensor *gradient, *weight;

    if (!tensor_at(call, op->at[0], &gradient) || !tensor_at(call, op->at[1], &weight) ||
        !fits_convolution(gradient, weight) || gradient->dims[1] != weight->dims[0])
        return false;
    put(call, op->at[0], 2 * (double)gradient->dims[0] * places(gradient) * weight->elements, NAN,
        ret);
    return true;
}

struct heads { /* of one operand */
    double batch, count, length, size;
};

/* (batch, heads, length, size), or by token; of three dimensions tokens of all sequences follow
 * each other, and their lengths stand in another tensor whose values nobody recorded. */
static bool read_heads(const struct torch_tensor *tensor, bool by_token, struct heads *ret)
{
    if (tensor->rank != 4)
        return false;
    *ret = (struct heads){
        .batch = (double)tensor->dims[0],
        .count = (double)tensor->dims[by_token ? 2 : 1],
        .length = (double)tensor->dims[by_token ? 1 : 2],
        .size = (double)tensor->dims[3],
    };
    return true;
}

static bool attend(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret)
{
    const struct torch_tensor *query, *key, *value;
    struct heads of_query, of_key, of_value;
    bool by_token = op->family == TORCH_ATTENTION_BY_TOKEN;
    bool causal = false, backward = (op->flags & TORCH_BACKWARD) != 0;
    int first = op->at[0];

    if (!tensor_at(call, first, &query) || !tensor_at(call, first + 1, &key) ||
        !tensor_at(call, first + 2, &value))
        return false;
    if (by_token && query->rank == 3) {
        ret->flops_rule = ret->bytes_rule = COST_NO_LENGTHS;
        return true;
    }
    if (!read_heads(query, by_token, &of_query) || !read_heads(key, by_token, &of_key) ||
        !read_heads(value, by_token, &of_value) || of_query.size != of_key.size ||
        of_key.length != of_value.length)
        return false;
    if (op->at[1] >= 0 && !torch_bool_at(call, (uint32_t)op->at[1], &causal)) {
        ret->flops_rule = ret->bytes_rule = COST_NO_VALUES;
        return true;
    }

    double scores = of_query.batch * of_query.count * of_query.length * of_key.length;
    double by_keys = 2 * scores * of_query.size, by_values = 2 * scores * of_value.size;
    /* backward: the scores again, and a gradient for either operand of both products */
    double flops = backward ? 3 * by_keys + 2 * by_values : by_keys + by_values;
    double out = of_query.batch * of_query.count * of_query.length * of_value.size;
    double read = query->distinct + key->distinct + value->distinct;

    if (causal && of_query.length == of_key.length)
        flops /= 2;
    put(call, first, flops, bytes_of(call, first, backward ? 2 * read + 2 * out : read + out), ret);
    return true;
}

bool torch_product(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret)
{
    switch (op->family) {
    case TORCH_PRODUCT:
        return multiply(op, call, ret);
    case TORCH_LINEAR:
        return linear(op, call, ret);
    case TORCH_CONVOLUTION:
        return convolve(op, call, ret);
    case TORCH_CONVOLVED:
        return convolve_back(op, call, ret);
    case TORCH_CONVOLVED_BY:
        return convolve_back_to(op, call, ret);
    default:
        return attend(op, call, ret);
    }
}
