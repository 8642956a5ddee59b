/* SPDX-License-Identifier: Apache-2.0 */
/* Families of kernels by their names, for those that no program tells. Version 1.
 *
 *   ncclDevKernel_AllReduce_Sum_f32     collective (by name)
 *   Cijk_Ailk_Bljk_BBS_BH_MT256x128     matrix product (by name)
 *   flash_fwd_splitkv_kernel            attention (by name)
 *
 * The first line that fits counts, so what tells more stands first. A name tells what a kernel is
 * for, never what it costs. Numbers of families are stored: add lines, and families at the end.
 */
#include "analyse/hlo/cost_parts.h"

enum family {
    FAMILY_NONE,
    FAMILY_COLLECTIVE,
    FAMILY_ATTENTION,
    FAMILY_CONVOLUTION,
    FAMILY_PRODUCT,
    FAMILY_NORM,
    FAMILY_SOFTMAX,
    FAMILY_OPTIMIZER,
    FAMILY_SORT,
    FAMILY_RANDOM,
    FAMILY_REDUCTION,
    FAMILY_INDEXING,
    FAMILY_COPY,
    FAMILY_ELEMENTWISE,
    FAMILY_COUNT
};

static const char *const family_words[FAMILY_COUNT] = {
    [FAMILY_COLLECTIVE] = "collective (by name)",
    [FAMILY_ATTENTION] = "attention (by name)",
    [FAMILY_CONVOLUTION] = "convolution (by name)",
    [FAMILY_PRODUCT] = "matrix product (by name)",
    [FAMILY_NORM] = "normalisation (by name)",
    [FAMILY_SOFTMAX] = "softmax (by name)",
    [FAMILY_OPTIMIZER] = "optimizer (by name)",
    [FAMILY_SORT] = "sort or scan (by name)",
    [FAMILY_RANDOM] = "random numbers (by name)",
    [FAMILY_REDUCTION] = "reduction (by name)",
    [FAMILY_INDEXING] = "gather or scatter (by name)",
    [FAMILY_COPY] = "copy (by name)",
    [FAMILY_ELEMENTWISE] = "elementwise (by name)",
};

static const struct {
    const char *part; /* lower case */
    enum family family;
} parts[] = {
    {"nccl", FAMILY_COLLECTIVE},
    {"rccl", FAMILY_COLLECTIVE},
    {"nvshmem", FAMILY_COLLECTIVE},
    {"allreduce", FAMILY_COLLECTIVE},
    {"all_reduce", FAMILY_COLLECTIVE},
    {"flash", FAMILY_ATTENTION},
    {"fmha", FAMILY_ATTENTION},
    {"attention", FAMILY_ATTENTION},
    {"attn_", FAMILY_ATTENTION},
    {"im2d2col", FAMILY_CONVOLUTION},
    {"im3d2col", FAMILY_CONVOLUTION},
    {"implicit_gemm", FAMILY_CONVOLUTION},
    {"convolve", FAMILY_CONVOLUTION},
    {"conv2d", FAMILY_CONVOLUTION},
    {"winograd", FAMILY_CONVOLUTION},
    {"fprop", FAMILY_CONVOLUTION},
    {"dgrad", FAMILY_CONVOLUTION},
    {"wgrad", FAMILY_CONVOLUTION},
    {"miopen", FAMILY_CONVOLUTION},
    {"gemm", FAMILY_PRODUCT},
    {"nvjet", FAMILY_PRODUCT},
    {"cijk_", FAMILY_PRODUCT},
    {"cublas", FAMILY_PRODUCT},
    {"gemv", FAMILY_PRODUCT},
    {"splitk", FAMILY_PRODUCT},
    {"matmul", FAMILY_PRODUCT},
    {"cutlass", FAMILY_PRODUCT},
    {"softmax", FAMILY_SOFTMAX},
    {"layernorm", FAMILY_NORM},
    {"layer_norm", FAMILY_NORM},
    {"rmsnorm", FAMILY_NORM},
    {"rms_norm", FAMILY_NORM},
    {"batchnorm", FAMILY_NORM},
    {"batch_norm", FAMILY_NORM},
    {"bn_fw_", FAMILY_NORM},
    {"bn_bw_", FAMILY_NORM},
    {"multi_tensor_apply", FAMILY_OPTIMIZER},
    {"applyadam", FAMILY_OPTIMIZER},
    {"radixsort", FAMILY_SORT},
    {"radix_sort", FAMILY_SORT},
    {"devicescan", FAMILY_SORT},
    {"philox", FAMILY_RANDOM},
    {"distribution_", FAMILY_RANDOM},
    {"reduce", FAMILY_REDUCTION},
    {"index", FAMILY_INDEXING},
    {"gather", FAMILY_INDEXING},
    {"scatter", FAMILY_INDEXING},
    {"embedding", FAMILY_INDEXING},
    {"memcpy", FAMILY_COPY},
    {"copybuffer", FAMILY_COPY},
    {"copydevice", FAMILY_COPY},
    {"catarray", FAMILY_COPY},
    {"transpose", FAMILY_COPY},
    {"elementwise", FAMILY_ELEMENTWISE},
    {"eigenmetakernel", FAMILY_ELEMENTWISE},
};

uint32_t cost_family_of(struct str name)
{
    enum { LETTERS_LOOKED_AT = 512 };

    if (name.count > LETTERS_LOOKED_AT)
        name.count = LETTERS_LOOKED_AT;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (str_contains_fold(name, str_of(parts[i].part)))
            return parts[i].family;
    return FAMILY_NONE;
}

struct str cost_family_words(uint32_t family)
{
    return str_of(family < FAMILY_COUNT ? family_words[family] : NULL);
}
