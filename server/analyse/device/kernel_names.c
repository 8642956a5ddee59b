/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of kernel names that tell whether tensor cores are used. Facts: names of kernels in
 * cuBLAS, cuDNN, CUTLASS and AMD's libraries. */
#include "analyse/device/kernel_names.h"

/* The first that a name contains. Plain arithmetic stands first: "xmma" is a library's name and
 * says nothing, "ffma" an instruction's. */
static const struct {
    const char *word;
    enum by_name tells;
} patterns[] = {
    /* CUDA cores */
    {"_ffma_", BY_NAME_NO},
    {"_sgemm_", BY_NAME_NO},
    {"_dgemm_", BY_NAME_NO},
    {"_scudnn_", BY_NAME_NO},
    {"_simt_", BY_NAME_NO},
    {"gemmSN_", BY_NAME_NO},
    {"gemv", BY_NAME_NO},
    {"elementwise_kernel", BY_NAME_NO},
    /* Blackwell */
    {"tcgen05", BY_NAME_YES},
    {"utcmma", BY_NAME_YES},
    {"umma_", BY_NAME_YES},
    {"sm100_xmma", BY_NAME_YES},
    {"sm103_xmma", BY_NAME_YES},
    {"sm120_xmma", BY_NAME_YES},
    {"cutlass3x_sm100_tensorop", BY_NAME_YES},
    /* Hopper */
    {"gmma", BY_NAME_YES},
    {"nvjet_", BY_NAME_YES},
    {"sm90_xmma_gemm_bf16", BY_NAME_YES},
    {"sm90_xmma_gemm_f16", BY_NAME_YES},
    {"sm90_xmma_gemm_e4m3", BY_NAME_YES},
    {"sm90_xmma_gemm_e5m2", BY_NAME_YES},
    {"tensorop", BY_NAME_YES},
    {"flash_fwd", BY_NAME_YES},
    {"flash_bwd", BY_NAME_YES},
    {"fmha_", BY_NAME_YES},
    {"_sdpa_sm", BY_NAME_YES},
    /* Ampere and before */
    {"16816", BY_NAME_YES},
    {"s16832", BY_NAME_YES},
    {"i16832", BY_NAME_YES},
    {"i8816", BY_NAME_YES},
    {"s1688", BY_NAME_YES},
    {"h1688", BY_NAME_YES},
    {"c1688", BY_NAME_YES},
    {"h884", BY_NAME_YES},
    {"s884", BY_NAME_YES},
    {"hmma", BY_NAME_YES},
    {"imma", BY_NAME_YES},
    {"dmma", BY_NAME_YES},
    {"bmma", BY_NAME_YES},
    {"tf32f32", BY_NAME_YES},
    {"first_layer_wgrad_kernel", BY_NAME_YES},
    /* AMD's matrix cores */
    {"_MI16x16x", BY_NAME_YES},
    {"_MI32x32x", BY_NAME_YES},
    {"_MI4x4x", BY_NAME_YES},
    {"mfma", BY_NAME_YES},
};

enum by_name kernel_tensor_core(struct str name, const char **ret_word)
{
    for (size_t i = 0; i < COUNT(patterns); i++) {
        if (str_contains(name, str_of(patterns[i].word))) {
            *ret_word = patterns[i].word;
            return patterns[i].tells;
        }
    }
    *ret_word = "";
    return BY_NAME_UNKNOWN;
}
