/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels and calls, as ids of texts. Of the writer's thread alone. */
#ifndef JVIEWD_INJECT_CUPTI_NAMES_H
#define JVIEWD_INJECT_CUPTI_NAMES_H

#include <stdint.h>

/* As the source has it: "_Z3addi" is "add(int)". 0 where there is none, or what a record holds in
 * its place cannot be read. */
uint32_t cupti_name(const char *name);
uint32_t cupti_call_name(uint32_t kind, uint32_t call); /* kind: CUPTI_DRIVER or CUPTI_RUNTIME */

#endif
