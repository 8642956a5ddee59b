/* SPDX-License-Identifier: Apache-2.0 */
/* Name scopes: "jit(train_step)/jvp(layer_2)/mlp/dot_general", paths that '/' parts. */
#ifndef JVIEWD_ANALYSE_HLO_SCOPE_H
#define JVIEWD_ANALYSE_HLO_SCOPE_H

#include "analyse/analyse.h"

/* The op's path; "" where it has none. What a tf_op says behind the path's ':' is left out. */
struct str scope_of_op(const struct trace *trace, const struct op *op);
/* The first `depth` elements (0: all), each with its number made a star where `fold` is asked:
 * "layer_2" and "layer_3" become "layer_*". */
struct str scope_cut(struct str scope, uint32_t depth, bool fold, struct arena *arena);
/* The next element; false at the end. Slashes inside brackets part nothing. */
bool scope_next(struct str *rest, struct str *ret);
/* What JAX wraps around an element is not of its name: "transpose(jvp(layer_1))" is "layer_1". */
struct str scope_core(struct str element);

#endif
