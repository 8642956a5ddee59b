/* SPDX-License-Identifier: Apache-2.0 */
/* An archive of a directory, unpacked below another: ZIP, or TAR as a stream of pieces.
 *
 * Nothing of an archive is believed. A name that is absolute, has "..", a back slash or a control
 * character, or comes twice, refuses the whole; links, devices and FIFOs are left out; what is
 * made is made anew in a directory that holds nothing, so no name can lead through a link. Bytes
 * and entries are limited. Times of files are kept, for they tell runs apart.
 */
#ifndef JVIEWD_BASE_PACK_UNPACK_TREE_H
#define JVIEWD_BASE_PACK_UNPACK_TREE_H

#include "base/pack/archive.h"

struct unpack_limits {
    uint64_t bytes_max; /* of all files together */
    uint32_t entries_max;
};

/* `directory_fd` is of an empty directory; what was written before a failure stays there. */
MUST_CHECK enum status unpack_zip_tree(const struct archive *archive, int directory_fd,
                                       struct unpack_limits limits, struct error *err);
/* The next piece; no bytes at the end or, with err set, after a failure. */
typedef struct bytes unpack_piece(void *from, struct error *err);
MUST_CHECK enum status unpack_tar_tree(unpack_piece *next, void *from, int directory_fd,
                                       struct unpack_limits limits, struct error *err);

#endif
