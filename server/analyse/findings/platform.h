/* SPDX-License-Identifier: Apache-2.0 */
/* What a run ran on, so that advice names the tools and flags of that hardware and framework.
 *
 *   "{jax:`jax.jit`}{torch:`torch.compile`}{!jax+!torch:one launch} for all"
 *        on PyTorch                 "`torch.compile` for all"
 *
 * A part in braces stands where each of its words holds, joined by `+`; `!` turns one over. Words:
 * jax torch tf (who launched), tpu gpu nvidia amd other cpu (on what), xprof kineto nsys (who
 * recorded: a program of PyTorch on a TPU is XProf's, one below Nsight Systems neither's), server
 * (an engine of somebody else's, as vLLM: its framework is not what its user writes, so that
 * neither jax nor torch nor tf nor kineto holds). Other braces are text.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_PLATFORM_H
#define JVIEWD_ANALYSE_FINDINGS_PLATFORM_H

#include "analyse/analyse.h"

enum platform_word {
    ON_JAX = 1,
    ON_TORCH = 2,
    ON_TF = 4,
    ON_TPU = 8,
    ON_GPU = 16,
    ON_NVIDIA = 32,
    ON_AMD = 64,
    ON_CPU = 128,   /* and on nothing else */
    ON_OTHER = 256, /* an accelerator that is neither TPU nor GPU of NVIDIA or AMD */
    BY_XPROF = 512,
    BY_KINETO = 1024,
    BY_NSYS = 2048,
    OF_SERVER = 4096,
};

/* Of all hosts, as a set of the above. A program of XLA that says nothing else counts as JAX's. */
unsigned platform_of(const struct run_traces *run, struct arena *arena);

/* The text for that platform; what it is made of lives in the arena. */
struct str platform_fit(unsigned platform, struct str text, struct arena *arena);

#endif
