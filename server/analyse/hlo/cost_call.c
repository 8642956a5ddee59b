/* SPDX-License-Identifier: Apache-2.0 */
/* Custom calls as what their target computes, from shapes and backend config.
 *
 *   __cublas$gemm, __cublas$lt$matmul, hipBLASLt's alike   2 x result x contracted sizes
 *   __cudnn$conv...                                        the convolution, forward or backward
 *   __cudnn$fmha...                                        two products of S x S x D, backward five
 *   __onednn$matmul ...                                    the CPU's library calls
 *   TopK, lapack and cuSOLVER factorisations               n log k; the textbook's n^3
 *   with a cost_estimate, as Pallas writes it              what its author says
 *
 * What a target computes that is not in the table is unknown; its bytes are those of its operands
 * and results. Workspaces (s8[n] behind the result) are not counted: nobody says how much of one
 * is touched.
 */
#include <math.h>

#include "analyse/hlo/cost_parts.h"

struct call {
    struct cost_work *work;
    uint32_t instruction;
    struct hlo_detail detail;
    struct hlo_sizes first, second, result; /* operands 0 and 1; the result without workspace */
    struct op_cost *ret;
};

/* Behind "key" and ':', with or without escapes: where the value begins; empty where there is
 * none. */
static struct str config_value(struct str config, const char *key)
{
    size_t count = strlen(key);

    for (size_t i = 1; i + count < config.count; i++) {
        size_t at = i + count;

        if (memcmp(config.at + i, key, count) != 0 || config.at[i - 1] != '"')
            continue;
        while (at < config.count && strchr("\\\": ", config.at[at]) != NULL &&
               config.at[at] != '\0')
            at++;
        return str_skip(config, at);
    }
    return (struct str){0};
}

struct hlo_list cost_config_numbers(struct str config, const char *key)
{
    struct str value = config_value(config, key);
    struct hlo_list list = {0};
    bool is_list = value.count > 0 && value.at[0] == '[', inside = false;

    for (size_t i = is_list; i < value.count && list.count < HLO_RANK_MAX; i++) {
        bool digit = value.at[i] >= '0' && value.at[i] <= '9';

        if (digit && !inside)
            list.items[list.count++] = 0;
        if (digit && list.items[list.count - 1] < UINT64_MAX / 10 - 1)
            list.items[list.count - 1] =
                list.items[list.count - 1] * 10 + (uint64_t)(value.at[i] - '0');
        inside = digit;
        if (!digit && (!is_list || value.at[i] == ']' || strchr("\\\", ", value.at[i]) == NULL))
            break;
    }
    return list;
}

static void put_gemm(struct call *call)
{
    struct hlo_list contracting =
        cost_config_numbers(call->detail.backend_config, "lhs_contracting_dimensions");

    call->ret->flops = call->ret->matrix_flops =
        cost_dot_flops(&call->first, &call->result, &contracting);
    call->ret->type = (uint8_t)call->first.type;
}

static bool target_is(const struct call *call, const char *part)
{
    return str_contains(call->work->module->instructions[call->instruction].target, str_of(part));
}

/* Dimension numbers are those of the forward convolution, whichever of its three arrays is the
 * result. */
static void put_convolution(struct call *call)
{
    bool of_input = target_is(call, "BackwardInput"), of_kernel = target_is(call, "BackwardFilter");
    const struct hlo_sizes *input = of_input ? &call->result : &call->first;
    const struct hlo_sizes *kernel = of_kernel ? &call->result : &call->second;
    const struct hlo_sizes *output = of_input    ? &call->first
                                     : of_kernel ? &call->second
                                                 : &call->result;

    call->ret->flops = call->ret->matrix_flops =
        cost_convolution_flops(&call->detail, input, kernel, output);
    call->ret->type = (uint8_t)call->first.type;
}

/* Of batch x heads x S x S scores; D is the last size of the queries. */
static void put_attention(struct call *call)
{
    struct hlo_list scores = {0};
    struct str shape = config_value(call->detail.backend_config, "intermediate_tensor_shape");
    double products = target_is(call, "Backward") ? 5 : 2, count = 1;

    if (shape.count > 0)
        scores = cost_config_numbers(shape, "dimensions");
    if (scores.count == 0 || call->first.rank == 0) {
        call->ret->flops = call->ret->matrix_flops = NAN;
        call->ret->flops_rule = COST_CUSTOM_CALL;
        return;
    }
    for (uint32_t i = 0; i < scores.count; i++)
        count *= (double)scores.items[i];
    call->ret->matrix_flops =
        2 * products * count * (double)call->first.sizes[call->first.rank - 1];
    call->ret->flops = call->ret->matrix_flops + 4 * count;
    call->ret->transcendentals = count;
    call->ret->type = (uint8_t)call->first.type;
}

/* [..., M, K] x [..., K, N]; a transposed left side has K before M. */
static void put_cpu_matmul(struct call *call)
{
    struct str transposed = config_value(call->detail.backend_config, "transpose_a");
    uint32_t last = str_starts(transposed, STR("true")) ? 2 : 1;
    struct hlo_list contracting = {.count = call->first.rank >= last,
                                   .items = {call->first.rank - last}};

    call->ret->flops = call->ret->matrix_flops =
        cost_dot_flops(&call->first, &call->result, &contracting);
    call->ret->type = (uint8_t)call->first.type;
}

static void put_softmax(struct call *call)
{
    call->ret->flops = 4 * call->result.elements; /* maximum, difference, sum, quotient */
    call->ret->transcendentals = call->result.elements;
}

static void put_layer_norm(struct call *call)
{
    call->ret->flops = 8 * call->result.elements; /* mean 1, variance 3, scaled 4 */
}

/* n comparisons for each of log2 k levels. */
static void put_top_k(struct call *call)
{
    uint32_t rank = call->result.rank;
    double k = rank > 0 ? (double)call->result.sizes[rank - 1] : 1;

    call->ret->flops = call->first.elements * (k > 1 ? ceil(log2(k)) : 1);
}

static double side(const struct hlo_sizes *matrix, uint32_t from_last)
{
    return matrix->rank >= from_last ? (double)matrix->sizes[matrix->rank - from_last] : 0;
}

/* Of m x n matrices, as many as there are. */
static void put_factorisation(struct call *call)
{
    double m = side(&call->first, 2), n = side(&call->first, 1);
    double matrices = m * n > 0 ? call->first.elements / (m * n) : 0, least = m < n ? m : n;

    if (target_is(call, "potrf") || target_is(call, "cholesky"))
        call->ret->flops = matrices * n * n * n / 3;
    else if (target_is(call, "getrf"))
        call->ret->flops =
            matrices * (m * n * least - (m + n) * least * least / 2 + least * least * least / 3) *
            2;
    else
        call->ret->flops = matrices * 2 * least * least * ((m > n ? m : n) - least / 3);
}

/* Q of m x n out of k reflectors, whose factors are the second operand. */
static void put_reflectors(struct call *call)
{
    double m = side(&call->first, 2), n = side(&call->first, 1), k = side(&call->second, 1);
    double matrices = m * n > 0 ? call->first.elements / (m * n) : 0;

    call->ret->flops = matrices * (4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3);
}

/* X of A X = B or X A = B, A n x n: each element of B takes n multiply-adds, half of them at
 * most. */
static void put_triangular(struct call *call)
{
    call->ret->flops = call->second.elements * side(&call->first, 1);
}

static void put_nothing(struct call *call)
{
    call->ret->bytes = 0;
}

static const struct {
    const char *target; /* a part of it */
    void (*put)(struct call *call);
} targets[] = {
    {"__cublas$gemm", put_gemm},
    {"__cublas$lt$matmul", put_gemm},
    {"__hipblaslt$", put_gemm},
    {"__cudnn$conv", put_convolution},
    {"__cudnn$fmha", put_attention},
    {"__cudnn$fhma", put_attention},
    {"__onednn$matmul", put_cpu_matmul},
    {"__onednn$softmax", put_softmax},
    {"__onednn$layernorm", put_layer_norm},
    {"TopK", put_top_k},
    {"potrf", put_factorisation},
    {"getrf", put_factorisation},
    {"geqrf", put_factorisation},
    {"__cusolver$cholesky", put_factorisation},
    {"orgqr", put_reflectors},
    {"ungqr", put_reflectors},
    {"trsm", put_triangular},
    {"__cublas$triangularSolve", put_triangular},
    {"Sharding", put_nothing},
    {"SPMDFullToShardShape", put_nothing},
    {"SPMDShardToFullShape", put_nothing},
    {"AllocateBuffer", put_nothing},
    {"annotate_device_placement", put_nothing},
    {"MoveToHost", put_nothing},
    {"MoveToDevice", put_nothing},
};

/* "cost_estimate":{"flops":..., "transcendentals":..., "bytes_accessed":...} */
static bool put_estimate(struct call *call)
{
    struct str estimate = config_value(call->detail.backend_config, "cost_estimate");
    struct hlo_list flops = {0}, bytes, transcendentals;

    if (estimate.count > 0)
        flops = cost_config_numbers(estimate, "flops");
    if (flops.count == 0)
        return false;
    bytes = cost_config_numbers(estimate, "bytes_accessed");
    transcendentals = cost_config_numbers(estimate, "transcendentals");
    call->ret->flops = (double)flops.items[0];
    call->ret->flops_rule = COST_TOLD;
    if (transcendentals.count > 0)
        call->ret->transcendentals = (double)transcendentals.items[0];
    if (bytes.count > 0) {
        call->ret->bytes = (double)bytes.items[0];
        call->ret->bytes_rule = COST_TOLD;
    }
    return true;
}

/* The arrays of a tuple, less its last where that is a workspace. */
static double result_bytes(const struct call *call)
{
    enum program_form form = call->work->module->form;
    struct bytes shape = call->work->module->instructions[call->instruction].shape;
    struct hlo_sizes whole, last;

    hlo_sizes_read(form, shape, &whole);
    if (whole.part_count < 2)
        return whole.bytes;
    hlo_sizes_read(form, hlo_shape_part(form, shape, whole.part_count - 1), &last);
    return whole.bytes -
           ((last.type == HLO_S8 || last.type == HLO_U8) && last.rank == 1 ? last.bytes : 0);
}

void cost_custom_call(struct cost_work *work, uint32_t instruction, struct op_cost *ret)
{
    struct call call = {.work = work, .instruction = instruction, .ret = ret};

    hlo_detail_read(work->module, &work->module->instructions[instruction], &call.detail);
    cost_sizes(work, cost_operand(work, instruction, 0), &call.first);
    cost_sizes(work, cost_operand(work, instruction, 1), &call.second);
    cost_first_sizes(work, instruction, &call.result);
    ret->bytes += result_bytes(&call) - cost_bytes_of(work, instruction);
    if (put_estimate(&call))
        return;
    for (size_t i = 0; i < COUNT(targets); i++) {
        if (!target_is(&call, targets[i].target))
            continue;
        ret->flops_rule = ret->bytes_rule = COST_TARGET;
        targets[i].put(&call);
        return;
    }
    ret->flops = ret->matrix_flops = ret->transcendentals = NAN;
    ret->flops_rule = COST_CUSTOM_CALL;
}
