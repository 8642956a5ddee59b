/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle, opened: its manifest, and its entries as files.
 *
 * Everything in it is a stranger's. An entry is written only where we say, and counts only when
 * its size, its checksum and its hash are those of the manifest; a segment is then checked table by
 * table as one of the cache is. Together entries unpack to no more than a budget.
 */
#ifndef JVIEWD_INDEX_INDEX_BUNDLE_H
#define JVIEWD_INDEX_INDEX_BUNDLE_H

#include "base/pack/archive.h"
#include "serve/bundle/bundle_manifest.h"
#include "store/segment.h"

struct bundle_file {
    struct archive archive;
    struct bundle manifest;
    char id[33]; /* hash of the manifest, and so of all that it tells of */
};

MUST_CHECK enum status bundle_open(struct bytes bytes, struct arena *arena, struct bundle_file *ret,
                                   struct error *err);
void bundle_close(struct bundle_file *file); /* takes one that did not open */
/* Are its segments of the layout and the rules that this program writes? */
bool bundle_has_segments(const struct bundle_file *file);
/* ... and if they are not, does it hold the files to make them of? ERR_UNSUPPORTED tells who can
 * open it. */
MUST_CHECK enum status bundle_check_raw(const struct bundle_file *file, struct error *err);

/* What the cache keeps a member's segment as. It begins like the content, so that tracks and
 * slices have the ids that they had. */
void bundle_key(const struct bundle_file *file, uint32_t member, char ret[33]);
/* The member's segment as a file at `path`, and open. */
MUST_CHECK enum status bundle_take_segment(const struct bundle_file *file, uint32_t member,
                                           const char *path, struct segment **ret,
                                           struct error *err);
/* The member's profile file, unlinked below `directory`. */
MUST_CHECK enum status bundle_take_raw(const struct bundle_file *file, uint32_t member,
                                       const char *directory, int *ret_fd, struct error *err);

#endif
