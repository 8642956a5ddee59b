/* SPDX-License-Identifier: Apache-2.0 */
/* Which op of PyTorch a call on the host belongs to, and what that op costs.
 *
 *   nn.Module: Qwen2MLP_3     |--------------------------|      path, from Python's call stacks
 *   nn.Module: Linear_7         |---------------------|
 *   aten::linear                 |-----------------|
 *   aten::addmm                    |-------------|              caller: the innermost op
 *   cudaLaunchKernel                   |---|                    what asked the device
 *
 * The cost is that of the innermost op around the call that is counted; where that is not the
 * innermost op, only if no op inside of it is counted and launched something. Backward ops take
 * the path of the forward op that an arrow ("fwdbwd") comes from. The phase comes from names:
 *
 *   autograd::engine::evaluate_function: AddmmBackward0     backward
 *   CheckpointFunctionBackward, checkpoint.py: recompute_fn recomputation, until autograd again
 *   Optimizer.step#AdamW.step                               optimizer
 *   c10d::allreduce_, record_param_comms                    communication
 *   in an nn.Module, or with an arrow to its gradient       forward
 *   else, in a trace without such arrows                    forward
 *   else (copies of inputs, clipping, metrics)              unknown
 *
 * Of Kineto's categories cpu_op (Operator before 2022), python_function and user_annotation.
 */
#ifndef JVIEWD_ANALYSE_TORCH_TORCH_OPS_H
#define JVIEWD_ANALYSE_TORCH_TORCH_OPS_H

#include "trace/attribution.h"

#define NO_COST UINT32_MAX

struct torch_ops;
/* NULL: the trace has no op of PyTorch's. */
struct torch_ops *torch_ops_create(const struct trace *trace);
void torch_ops_free(struct torch_ops *ops); /* takes NULL */

struct torch_launch {
    name_id caller; /* 0: no op is around the call */
    name_id module,
        scope; /* trace->name_count + place among texts; 0 none. scope = module/caller */
    enum op_phase phase;
    uint32_t cost;     /* of torch_ops_cost; NO_COST: there is no op */
    slice_id instance; /* the op's slice whose cost it is */
};
/* First of all calls, then of each once more: only then it is known what ops inside others are
 * counted. */
void torch_ops_see(struct torch_ops *ops, slice_id call);
void torch_ops_of(struct torch_ops *ops, slice_id call, struct torch_launch *ret);

/* Equal costs of ops of one name are one. */
const struct op_cost *torch_ops_cost(const struct torch_ops *ops, uint32_t cost);
struct str torch_ops_text(const struct torch_ops *ops, uint32_t text);
uint32_t torch_ops_text_count(const struct torch_ops *ops);

#endif
