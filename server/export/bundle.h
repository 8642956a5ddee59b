/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle on its way out: a ZIP archive of a manifest and the files that it tells of.
 *
 *   manifest   stored, first: whoever looks knows what it is
 *   parts      deflated, one after the other, each read in pieces of 1 MiB
 *
 * A part that is no longer what the manifest says (its size, its hash) ends the bundle with a
 * failure: what was written then has no list of entries, and nobody opens it.
 */
#ifndef JVIEWD_EXPORT_BUNDLE_H
#define JVIEWD_EXPORT_BUNDLE_H

#include "base/hash.h"
#include "base/pack/pack.h"

struct bundle_part {
    struct str name;
    uint64_t bytes;
    char hash[33]; /* XXH3-128 */
};

struct bundle_parts {
    struct str manifest_name, manifest;
    const struct bundle_part *parts;
    uint32_t count;
    MUST_CHECK enum status (*open)(const void *data, uint32_t part, int *ret_fd, struct error *err);
    bool (*cancelled)(void *data); /* may be NULL */
    void *cancelled_data;
    const void *data;
};

MUST_CHECK enum status export_bundle(const struct bundle_parts *parts, pack_write *write, void *to,
                                     struct error *err);
/* Size and hash of what a descriptor holds, read once from its begin; `parts` may cancel. */
MUST_CHECK enum status bundle_measure(int fd, const struct bundle_parts *parts,
                                      struct bundle_part *ret, struct error *err);

#endif
