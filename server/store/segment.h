/* SPDX-License-Identifier: Apache-2.0 */
/* A trace on disk.
 *
 * A pure function of one file's bytes and SEGMENT_VERSION: header, data and tables (trace/block.h),
 * directory with kind, offset, size, XXH3 of each table, closing header. Written to a temporary
 * name, synced, renamed. Header and directory are checked at open, a table at its first touch;
 * a wrong or foreign segment is refused (ERR_FORMAT) and rebuilt by whoever owns the cache.
 */
#ifndef JVIEWD_STORE_SEGMENT_H
#define JVIEWD_STORE_SEGMENT_H

#include "base/error.h"
#include "trace/block.h"
#include "trace/trace.h"

enum {
    SEGMENT_VERSION = 9
}; /* raised with every change of layout; KIND_RULES_VERSION counts too */

struct segment_writer;
MUST_CHECK enum status segment_writer_open(const char *path, struct segment_writer **ret,
                                           struct error *err);
struct block_out segment_writer_out(struct segment_writer *writer);
/* Directory, header, sync, rename. `content` is the hash of the profile file. */
MUST_CHECK enum status segment_writer_commit(struct segment_writer *writer, const char content[33],
                                             struct error *err);
void segment_writer_abandon(struct segment_writer *writer); /* takes NULL; frees after both */

struct segment;
MUST_CHECK enum status segment_open(const char *path, struct segment **ret, struct error *err);
/* One that another process has open: what that one checked by opening it is not checked again. */
MUST_CHECK enum status segment_open_checked(const char *path, struct segment **ret,
                                            struct error *err);
const struct trace *segment_trace(const struct segment *segment);
/* What the cache keeps it as: its content, unless segment_rename said otherwise. */
const char *segment_kept_as(const struct segment *segment);
void segment_close(struct segment *segment); /* takes NULL */

/* A segment that somebody brought: all of it is read and held against its sums. */
MUST_CHECK enum status segment_check(struct segment *segment, struct error *err);
/* The file's segment goes by another name than the content it claims to be of: what others say of
 * a content is not put in its place. */
MUST_CHECK enum status segment_rename(const char *path, const char kept_as[33], struct error *err);

#endif
