/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of one instruction that arithmetic needs, from a proto or from a text.
 *
 *   %d = f32[8,4] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 *   %c = f32[8,9,9,4] convolution(%x, %k), window={size=3x3 pad=1_1x1_1},
 *                     dim_labels=b01f_01io->b01f
 *
 *   Instruction  9 parameter  13 tuple's part  15 window  16 convolution's dimensions
 *                30 dot's dimensions  32 transform's lengths*  43 backend config
 *                50 feature groups  51 precision { 1 of operands* }  61 batch groups
 *                63 direction of a comparison
 *   Dimensions   3 kernel's input feature  4 kernel's output feature  6 kernel's spatial*
 *                7 input's batch  8 input's feature  9 output's batch  10 output's feature
 *                11 input's spatial*  12 output's spatial*
 *
 * Field numbers: xla/service/hlo.proto and xla/xla_data.proto of the XLA project.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_DETAIL_H
#define JVIEWD_DECODE_HLO_HLO_DETAIL_H

#include "decode/hlo/hlo_sizes.h"

struct hlo_list {
    uint32_t count;
    uint64_t items[HLO_RANK_MAX];
};

struct hlo_window_side { /* of one dimension */
    int64_t size, stride, pad_low, pad_high, dilation, base_dilation;
};

struct hlo_layout_of_array { /* which dimension of an array is what */
    uint64_t batch, feature; /* of a kernel: its output's and its input's feature */
    struct hlo_list spatial;
};

struct hlo_detail {
    uint64_t parameter, tuple_part;
    uint64_t feature_groups, batch_groups;
    bool has_dot, has_convolution, has_window;
    struct hlo_list lhs_contracting, lhs_batch;
    uint32_t side_count;
    struct hlo_window_side sides[HLO_RANK_MAX];
    struct hlo_layout_of_array input, kernel, output;
    struct hlo_list transform_lengths;
    bool is_highest_precision;
    struct str backend_config; /* JSON; in a text as it stands there */
    struct str direction;      /* of a comparison: "EQ" */
};

void hlo_detail_read(const struct hlo_module *module, const struct hlo_instruction *instruction,
                     struct hlo_detail *ret);

#endif
