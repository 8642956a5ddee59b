/* SPDX-License-Identifier: Apache-2.0 */
/* A ZIP archive written front to back: to a file, a pipe, a client; never held whole.
 *
 *   entry: head, name   packed bytes   sums      ...      list of entries   end
 *
 * Sums and sizes stand behind the bytes and in the list, so no place is written twice. Entries and
 * archives of 4 GiB and more are told in the 64-bit records of ZIP64; smaller ones are read by the
 * oldest of programs. Times are those of 1980, so that equal contents make equal archives.
 */
#ifndef JVIEWD_BASE_PACK_ZIP_OUT_H
#define JVIEWD_BASE_PACK_ZIP_OUT_H

#include "base/pack/pack.h"

struct zip_out;
struct zip_out *zip_out_open(pack_write *write, void *to);
/* A whole entry as it is, its sums in front: for what a reader finds at the archive's begin. */
MUST_CHECK enum status zip_out_stored(struct zip_out *out, struct str name, struct bytes content,
                                      struct error *err);
/* An entry of about `size` bytes, piece by piece; what was put decides. */
MUST_CHECK enum status zip_out_begin(struct zip_out *out, struct str name, uint64_t size,
                                     struct error *err);
MUST_CHECK enum status zip_out_put(struct zip_out *out, struct bytes piece, struct error *err);
MUST_CHECK enum status zip_out_end(struct zip_out *out, struct error *err);
/* Writes the list unless something failed, and frees. */
MUST_CHECK enum status zip_out_close(struct zip_out *out, struct error *err);

#endif
