/* SPDX-License-Identifier: Apache-2.0 */
/* What part of a training step an op is.
 *
 *   communication   what its kind says
 *   PyTorch         the op that launched it (analyse/torch/torch_ops.h)
 *   JAX             .../rematted_computation/...   recomputation
 *                   transpose(jvp(f))              backward
 *                   jvp(f)                         forward
 *   TensorFlow      gradient_tape/...              backward
 *   both            an element of the scope with the word "optimizer", "optax", "adam...",
 *                   "apply_updates", "apply_gradients" or "ResourceApply...": optimizer. The name
 *                   of the whole program, "jit(adam_step)", is none: all of a step has it.
 *
 * What the scope leaves open the module may tell (analyse/attribute/attribute_phases.c). All else
 * is unknown: scopes of a program that takes no gradient do not tell.
 */
#ifndef JVIEWD_ANALYSE_HLO_PHASE_H
#define JVIEWD_ANALYSE_HLO_PHASE_H

#include "analyse/analyse.h"
#include "decode/hlo/hlo_frames.h"

enum op_phase phase_of_op(const struct trace *trace, const struct op *op);
/* Of a scope alone. The compiler joins scopes of what it merges by ';': they must agree. */
enum op_phase phase_of_scope(struct str scope);
/* The optimizer, where the innermost calls that made an instruction are an optimizer's: in optax
 * (but not in its losses), Flax's optimizers or Keras'. Else unknown. */
enum op_phase phase_of_calls(const struct hlo_frames *frames, uint64_t frame);
/* "forward"; "unknown". */
const char *phase_word(enum op_phase phase);

#endif
