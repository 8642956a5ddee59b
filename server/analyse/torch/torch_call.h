/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's profiler recorded of one call of an op: shapes, types and plain values.
 *
 *   "Input Dims"       [[16, 559], [], [[8, 4], [8]]]      a tensor, no tensor, a list of tensors
 *   "Input type"       ["c10::BFloat16", "Scalar", "TensorList"]
 *   "Input Strides"    [[559, 1], [], [[4, 1], [1]]]
 *   "Concrete Inputs"  ["", "[1, 1]", ""]                  of what is no tensor, as text
 *
 * The four lists run side by side, one item an argument of the op. Files before 2022 lack strides
 * and values, and write "Input dims". A tensor without dimensions is a single number, and looks as
 * what is no tensor; its type tells. Source: torch/csrc/profiler/util.cpp, and files of 2021 to
 * 2026.
 */
#ifndef JVIEWD_ANALYSE_TORCH_TORCH_CALL_H
#define JVIEWD_ANALYSE_TORCH_TORCH_CALL_H

#include "base/arena.h"
#include "base/bytes.h"
#include "decode/hlo/hlo_sizes.h"

enum { TORCH_RANK_MAX = 12, TORCH_INPUTS_MAX = 64, TORCH_LIST_MAX = 16384 };

struct torch_tensor {
    uint32_t rank;
    int64_t dims[TORCH_RANK_MAX];
    double elements; /* product of the sizes */
    double distinct; /* of those in memory: what a stride of 0 repeats counts once */
};

struct torch_input {
    const struct torch_tensor *tensors; /* one, or those of a list */
    uint32_t count;                     /* 0: no tensor */
    bool is_list;
    enum hlo_type type; /* HLO_TYPE_NONE: no tensor, or not said */
    struct str value;   /* of what is no tensor; "" unknown */
};

struct torch_call {
    struct torch_input inputs[TORCH_INPUTS_MAX];
    uint32_t count;
    bool has_shapes; /* the profiler recorded them */
    bool is_sound;   /* and they are what shapes can be */
};

struct torch_texts { /* as the file has them; "" none */
    struct str dims, types, strides, values;
};

/* Tensors stand in the arena. */
void torch_call_read(const struct torch_texts *texts, struct arena *arena, struct torch_call *ret);

/* "c10::BFloat16"; HLO_TYPE_NONE for what is no type of a tensor. */
enum hlo_type torch_type_of(struct str word);
double torch_type_bytes(enum hlo_type type); /* of one element; 0 unknown */

/* The tensor at that place; NULL: there is none, or a list. */
const struct torch_tensor *torch_tensor_at(const struct torch_call *call, uint32_t index);
/* Values: "[1, 1]" into at most `most` numbers, how many there are; "True". */
uint32_t torch_numbers_at(const struct torch_call *call, uint32_t index, int64_t *ret,
                          uint32_t most);
bool torch_bool_at(const struct torch_call *call, uint32_t index, bool *ret);

#endif
