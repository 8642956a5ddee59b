/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of NVTX's payload extension: structs of the program, told by a schema that it registered
 * before, become one text of keys and values.
 *
 *   schema   { UINT64 "comm" at 0, SIZE "bytes" at 8, CSTRING "tag" at 16 }
 *   payload  f0 1c ... 00 00 10 00 ...   ->   "u comm=7408 \x1f u bytes=1048576 \x1f s tag=ring"
 *
 * The text is made while the event is told, since the program's struct is gone afterwards; equal
 * ones are one text. Of a payload no byte is read beyond its size; what an entry of unknown type or
 * of a nested schema holds is passed over.
 */
#ifndef JVIEWD_INJECT_PAYLOAD_H
#define JVIEWD_INJECT_PAYLOAD_H

#include <stddef.h>

#include "inject/nvtx/nvtx_abi.h"

/* Ids of what was registered; 0 where there are too many. */
uint64_t payload_schema(const void *domain, const struct nvtx_schema *schema);
uint64_t payload_enum(const void *domain, const struct nvtx_enum *names);

/* The text of `count` payloads; 0 none. */
uint32_t payload_text(const void *domain, const struct nvtx_payload *payloads, size_t count);
/* What a range is called that has only payloads: the name of the first one's schema. */
uint32_t payload_name(const void *domain, const struct nvtx_payload *payloads, size_t count);
/* Payloads that were dropped, for there were too many different ones. */
uint64_t payloads_refused(void);

#endif
