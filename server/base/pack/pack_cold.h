/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was put away packed: zstd, and behind it what it was.
 *
 *   [ zstd frame: the file, with a checksum ]
 *   5E 2A 4D 18 | u32 48 | "jviewd01" | u64 bytes of the file | its hash, 32 hex digits
 *
 * Any zstd program unpacks it to the file that it was: what stands behind is a frame that they pass
 * over. Whoever reads it by this header knows the file by its own hash, which is checked, and not
 * by that of its packing. Files are read by pread alone: others may change them meanwhile.
 */
#ifndef JVIEWD_BASE_PACK_PACK_COLD_H
#define JVIEWD_BASE_PACK_PACK_COLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define COLD_SUFFIX ".zst"

struct cold {
    uint64_t bytes;   /* of the file, unpacked */
    char content[33]; /* its hash, in hex */
};

/* Does an open file say that it is one? What it says is checked by cold_unpack. */
bool cold_of(int fd, struct cold *ret);
/* Packs the first `bytes` of a file into an empty one. ERR_CONFLICT: it has another size. */
MUST_CHECK enum status cold_pack(int from, uint64_t bytes, int to, struct cold *ret,
                                 uint64_t *ret_packed_bytes, struct error *err);
/* Writes what the file was, unless `to` is -1; ERR_FORMAT, ERR_TRUNCATED where it is another. */
MUST_CHECK enum status cold_unpack(int from, const struct cold *cold, int to, struct error *err);
/* How large it would be, by samples of it. */
uint64_t cold_guess(int fd, uint64_t bytes);

#endif
