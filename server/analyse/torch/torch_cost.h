/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of a PyTorch op costs, by its name and the shapes that the profiler recorded.
 *
 *   aten::addmm   [1024] [8944, 1024] [1024, 1024]   2 x 8944 x 1024 x 1024 FLOPs
 *
 * Counted as XLA counts what its ops do: a multiply-add is two FLOPs, exp and its like are
 * transcendentals, bytes are those of inputs and outputs, each once. Products, convolutions and
 * attention are counted as torch.utils.flop_counter counts them, but causal attention as the half
 * that its mask leaves, and the gradient of a grouped convolution's weight once, not once a group.
 * docs/costs.md says what is counted of which family.
 */
#ifndef JVIEWD_ANALYSE_TORCH_TORCH_COST_H
#define JVIEWD_ANALYSE_TORCH_TORCH_COST_H

#include "analyse/torch/torch_call.h"
#include "trace/attribution.h"

/* Does anything count the op, whatever its shapes? */
bool torch_is_counted(struct str name);
/* run_count is 1; rules say why flops or bytes are unknown. */
void torch_cost(struct str name, const struct torch_call *call, struct op_cost *ret);

#endif
