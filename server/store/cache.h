/* SPDX-License-Identifier: Apache-2.0 */
/* The cache directory: segments and attributions by content, least recently used first out.
 *
 *   <cache>/catalog.sqlite  lock
 *           segments-2.2.1/ab/abcdef....seg  abcdef....attr      versions of layout, kinds, rules
 *           downloads/<key>/NAME                         what was brought from a bucket
 *           tmp/<process>/                                       flock held while its owner lives
 *
 * Files appear whole (rename) and are shared by every server and command on one cache; one that
 * another process evicts stays readable by whoever has it mapped. What is damaged is removed and
 * reported as not there, so that it is made again. Programs of different versions use different
 * folders and do not meet. What a killed process left in tmp/ goes with the next cache_open.
 */
#ifndef JVIEWD_STORE_CACHE_H
#define JVIEWD_STORE_CACHE_H

#include "base/error.h"
#include "trace/attribution.h"
#include "trace/trace.h"

struct cache;
/* `dir` "" means $XDG_CACHE_HOME/jviewd or ~/.cache/jviewd. Falls back to a private temporary
 * directory, with *ret_reason set, when it cannot be written. */
MUST_CHECK enum status cache_open(const char *dir, uint64_t bytes_max, struct arena *arena,
                                  struct cache **ret, struct str *ret_reason, struct error *err);
/* Where that is; absolute. Nothing is made. */
MUST_CHECK enum status cache_place(const char *dir, char ret[3072], struct error *err);
void cache_close(struct cache *cache);
const char *cache_dir(const struct cache *cache);

/* Where the segment of this content is or will be. */
void cache_segment_path(const struct cache *cache, const char content[33], char ret[4096]);
void cache_attribution_path(const struct cache *cache, const char content[33], char ret[4096]);
bool cache_has(struct cache *cache, const char content[33]); /* opens and checks the header */

struct cached { /* held: stays mapped until cache_release */
    const struct trace *trace;
    const struct attribution *attribution; /* NULL: not made */
    struct cache_entry *entry;
};
/* ERR_NOT_FOUND when it is not there or was damaged; else its attribution cannot be opened now. */
MUST_CHECK enum status cache_acquire(struct cache *cache, const char content[33],
                                     struct cached *ret, struct error *err);
/* The trace alone: an attribution is large, and who draws slices asks nothing of it. */
MUST_CHECK enum status cache_acquire_trace(struct cache *cache, const char content[33],
                                           struct cached *ret, struct error *err);
/* Has it ops, as far as its attribution can be read? That is not opened. */
bool cache_has_ops(const struct cache *cache, const char content[33]);
void cache_release(struct cache *cache, struct cached cached);
/* A part of it was damaged or lost when it was read (trace_damaged, base/lost.h). */
bool cache_damaged(struct cached cached);
/* Reads all of the trace, and with `files` the attribution as it lies on disk by now; marks what is
 * damaged. False: something is. */
bool cache_check(struct cache *cache, struct cached cached, bool files);
/* What is damaged is removed, and found by nobody from then on: whoever asks next has it made
 * again. It stays held. False: it is whole. */
bool cache_drop_damaged(struct cache *cache, struct cached cached);
void cache_evict(struct cache *cache); /* down to the limit, and not what is held here */
uint64_t cache_bytes_max(const struct cache *cache);
uint64_t cache_bytes(struct cache *cache); /* on disk, as of the last eviction or adoption */

/* A directory of this process alone on the cache's file system, made again when it was deleted. */
MUST_CHECK enum status cache_temporary_dir(struct cache *cache, char ret[4096], struct error *err);
/* A new one in it, for one piece of work; removed with all that is left in it. */
MUST_CHECK enum status cache_job_dir(struct cache *cache, char ret[4096], struct error *err);
void cache_remove_dir(const char *path);
/* Takes a segment and, unless "", an attribution that were made in the temporary directory. */
MUST_CHECK enum status cache_adopt(struct cache *cache, const char content[33],
                                   const char *segment_path, const char *attribution_path,
                                   struct error *err);

/* Where a download of this key is or will be; `name` is one part of a path. Downloads count, and go
 * as segments do; whoever uses one sets its time of change. */
void cache_download_path(const struct cache *cache, const char key[33], struct str name,
                         char ret[4096]);
/* Takes a file that was made in the temporary directory to such a path. */
MUST_CHECK enum status cache_adopt_download(struct cache *cache, const char *made, const char *path,
                                            struct error *err);

/* Keeps what analyse/attribute/attribute.c computed. */
MUST_CHECK enum status attribution_write(const char *path, const char content[33],
                                         const struct attribution *attribution, struct error *err);
/* The same in two parts: the entries, then what was made of them. Only `entries`,
 * `entry_count`, `by_device_time`, `kernel_of` and `kernel_count` are read first. */
struct attribution_out;
MUST_CHECK enum status attribution_begin(const char *path, const char content[33],
                                         const struct attribution *entries,
                                         struct attribution_out **ret, struct error *err);
MUST_CHECK enum status attribution_end(struct attribution_out *out,
                                       const struct attribution *attribution, struct error *err);
void attribution_abandon(struct attribution_out *out); /* instead of the end; takes NULL */
/* Says of which segment it is, by trace.sum, once that one is written: another's is never taken. */
MUST_CHECK enum status attribution_bind(const char *path, uint64_t segment, struct error *err);
struct attribution_file;
MUST_CHECK enum status attribution_open(const char *path, struct attribution_file **ret,
                                        struct error *err);
/* For a process that was started by one that holds the same file open: its parts were checked. */
MUST_CHECK enum status attribution_open_checked(const char *path, struct attribution_file **ret,
                                                struct error *err);
/* By its head alone: its parts stay unread. */
MUST_CHECK enum status attribution_has_ops(const char *path, bool *ret, struct error *err);
uint64_t attribution_segment(const struct attribution_file *file);
bool attribution_lost(const struct attribution_file *file); /* a page of it, when it was read */
const struct attribution *attribution_of_file(const struct attribution_file *file);
void attribution_close(struct attribution_file *file);

#endif
