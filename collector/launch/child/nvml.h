/* SPDX-License-Identifier: Apache-2.0 */
/* The NVIDIA driver's management library, found when the program runs, never linked: clocks, power,
 * temperature, memory and what slows a GPU down. It counts GPUs in its own order; their UUIDs join
 * them with CUDA's. */
#ifndef JVIEWD_LAUNCH_NVML_H
#define JVIEWD_LAUNCH_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/control.h"

/* How many GPUs it knows; where it cannot be used 0, and a sentence that says why. */
uint32_t nvml_open(char *ret_why, size_t ret_size);
void nvml_about(uint32_t gpu, struct control_gpu *ret);
/* One of FIGURE_GPU_...; false where the GPU does not tell it. */
bool nvml_figure(uint32_t gpu, uint32_t figure, int64_t *ret);

#endif
