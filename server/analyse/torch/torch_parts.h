/* SPDX-License-Identifier: Apache-2.0 */
/* Inside torch_cost*.c.
 *
 *   table      torch_table.c     ops by name: family, which input is what
 *   cost       torch_cost.c      families that touch each element
 *   products   torch_product.c   matrices, convolutions, attention
 */
#ifndef JVIEWD_ANALYSE_TORCH_TORCH_PARTS_H
#define JVIEWD_ANALYSE_TORCH_TORCH_PARTS_H

#include "analyse/torch/torch_cost.h"

enum torch_family {
    TORCH_NONE,
    TORCH_PRODUCT,            /* (.., m, k) x (.., k, n), batches broadcast */
    TORCH_LINEAR,             /* (.., k) x (n, k) */
    TORCH_CONVOLUTION,        /* input, weight; places of stride, padding, dilation, transposed */
    TORCH_CONVOLVED,          /* its backward: gradient, input, weight */
    TORCH_CONVOLVED_BY,       /* one of its gradients: of the output, and the weight */
    TORCH_ATTENTION,          /* query, key, value, (batch, heads, length, size); place of causal */
    TORCH_ATTENTION_BY_TOKEN, /* the same, (batch, length, heads, size) */
    TORCH_EACH,               /* flops and transcendentals an element of what inputs broadcast to;
                                 how many of them are read */
    TORCH_EACH_OF,            /* the same of one input, which the output is like */
    TORCH_COPY,               /* the first input written, the second read */
    TORCH_FILL,               /* the first input written */
    TORCH_JOIN,               /* a list read, as much written */
    TORCH_REDUCTION,          /* flops an element read */
    TORCH_GATHER,             /* rows of a table, or places, by an index */
    TORCH_SCATTER,            /* into the first input, by an index */
    TORCH_LISTS, /* flops an element of the first list, so many lists read and written */
    TORCH_POOL,  /* flops an element of the window */
    TORCH_VIEW,  /* moves nothing */
};

enum torch_flags {
    TORCH_TRUTH = 1,    /* its output is bool */
    TORCH_BACKWARD = 2, /* of attention */
};

struct torch_op {
    const char *name;
    enum torch_family family;
    int8_t at[4]; /* places of inputs or values, as the family says; -1 none */
    uint8_t flops, transcendentals;
    uint8_t flags;
};

/* NULL: no line of the table names it. In-place and out variants have the line of their op. */
const struct torch_op *torch_op_of(struct str name, bool *ret_in_place);

/* False where shapes do not fit the op. */
bool torch_product(const struct torch_op *op, const struct torch_call *call, struct op_cost *ret);

/* Bytes of an input as it is read; NAN where its type is not known. */
double torch_read_bytes(const struct torch_input *input);

#endif
