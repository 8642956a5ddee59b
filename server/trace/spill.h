/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that must wait for the end without staying in memory.
 *
 * Appended as they come, read back by offset. The last 256 KiB stay in memory; what goes
 * beyond is written to a file without a name in the temporary directory, so that nothing is left
 * behind however the process ends.
 */
#ifndef JVIEWD_TRACE_SPILL_H
#define JVIEWD_TRACE_SPILL_H

#include "base/bytes.h"
#include "base/error.h"

struct spill;
/* More than bytes_max is ERR_LIMIT. `dir` is borrowed; NULL means $TMPDIR or /tmp. */
struct spill *spill_create(const char *dir, uint64_t bytes_max);
void spill_destroy(struct spill *spill); /* takes NULL */

MUST_CHECK enum status spill_append(struct spill *spill, struct bytes bytes, uint64_t *ret_offset,
                                    struct error *err);
MUST_CHECK enum status spill_read(struct spill *spill, uint64_t offset, void *to, size_t count,
                                  struct error *err);
/* All of it at once, readable until the spill is destroyed; nothing is appended after this. */
MUST_CHECK enum status spill_map(struct spill *spill, struct bytes *ret, struct error *err);
uint64_t spill_bytes(const struct spill *spill);

#endif
