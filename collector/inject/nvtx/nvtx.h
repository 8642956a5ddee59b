/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges, marks, names: what a program and its libraries call reaches the calling thread's
 * ring. */
#ifndef JVIEWD_INJECT_NVTX_H
#define JVIEWD_INJECT_NVTX_H

#include <stdbool.h>

#include "inject/nvtx/nvtx_abi.h"

/* Puts our functions into the places of one library's NVTX; each library that uses it has its
 * own. */
bool nvtx_attach(nvtx_get_table *get_table);
/* The same of an extension of it; false where it is not the one of payloads. */
bool nvtx_extend(struct nvtx_extension *extension);

#endif
