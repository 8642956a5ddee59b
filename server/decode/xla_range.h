/* SPDX-License-Identifier: Apache-2.0 */
/* Names of XLA's NVTX ranges: what they say of modules and ops.
 *
 *   TSL:XlaModule:#hlo_module=jit_f,program_id=3#     a run of a module
 *   TSL:Thunk:#hlo_op=fusion.3#                       one of its ops, inside
 */
#ifndef JVIEWD_DECODE_XLA_RANGE_H
#define JVIEWD_DECODE_XLA_RANGE_H

#include "base/bytes.h"

/* Behind "key=", up to a comma, a "#" or the end; empty where there is no such key. */
struct str xla_range_value(struct str name, struct str key);
bool xla_range_is_module(struct str name);
bool xla_range_is_op(struct str name);

#endif
