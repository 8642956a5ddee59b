/* SPDX-License-Identifier: Apache-2.0 */
/* What part of a training step an op is.
 *
 *   communication   what its kind says
 *   PyTorch         the op that launched it (analyse/torch/torch_ops.h)
 *   JAX             .../rematted_computation/...   recomputation
 *                   transpose(jvp(f))              backward
 *                   jvp(f)                         forward
 *   TensorFlow      gradient_tape/...              backward
 *   both            an element of the scope with "optimizer", "optax", "adam", "apply_updates",
 *                   "apply_gradients" or "ResourceApply": optimizer
 *
 * All else is unknown: scopes of a program that takes no gradient do not tell.
 */
#ifndef JVIEWD_ANALYSE_HLO_PHASE_H
#define JVIEWD_ANALYSE_HLO_PHASE_H

#include "analyse/analyse.h"

enum op_phase phase_of_op(const struct trace *trace, const struct op *op);
/* "forward"; "other" of OP_PHASE_UNKNOWN. */
const char *phase_word(enum op_phase phase);

#endif
