/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that somebody packed, as people attach one to a report: named instead of it, it is
 * unpacked into the cache, and the directory there is what is meant.
 *
 *   prof.tgz  ->  <cache>/unpacked/<hash of its path>/prof     as long as the file stays as it is
 *
 * A process of its own reads the archive, so that a file that shrinks or breaks ends that process.
 */
#ifndef JVIEWD_APP_APP_ARCHIVE_H
#define JVIEWD_APP_APP_ARCHIVE_H

#include "base/bytes.h"
#include "base/error.h"

/* Replaces each operand, and each directory of profiles, that is an archive of several files by
 * where it was unpacked; anything else stays. */
MUST_CHECK enum status app_unpack_operands(int argc, char **argv, struct arena *arena,
                                           struct error *err);

#endif
