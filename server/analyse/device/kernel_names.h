/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a kernel tells of tensor cores.
 *
 *   ..._s16816gemm_...   ..._hmma_...   sm90_xmma_..._gmma    says that it uses them
 *   ..._ffma_...         ..._sgemm_...                        says that it does not
 *
 * A name is what its author wrote, so what is told by one is labelled so. The table grows with
 * libraries: KERNEL_NAMES_VERSION tells which one answered.
 */
#ifndef JVIEWD_ANALYSE_DEVICE_KERNEL_NAMES_H
#define JVIEWD_ANALYSE_DEVICE_KERNEL_NAMES_H

#include "base/bytes.h"

enum { KERNEL_NAMES_VERSION = 1 };

enum by_name { BY_NAME_UNKNOWN, BY_NAME_YES, BY_NAME_NO };
/* *ret_word is the part of the name that told it. */
enum by_name kernel_tensor_core(struct str name, const char **ret_word);

#endif
