/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that took long to make, kept beside the segments.
 *
 *   <cache>/answers/1c3     head {magic, key, count, sum, content}   body
 *
 * A key is a hash of all that an answer stands on, the program itself included; so an answer of
 * another question, of another state of a run or of another program is not found, whatever the
 * slot holds. A newer answer takes a slot's place: 4,096 of at most 8 MiB. A file is checked when
 * it is read and needs no sync: what was cut or damaged is as if it had never been kept, and is
 * made again. They count in the cache's size: the one used longest ago goes first, and each goes
 * with the segment it was made from.
 */
#ifndef JVIEWD_STORE_ANSWERS_H
#define JVIEWD_STORE_ANSWERS_H

#include "base/hash.h"
#include "store/cache.h"

enum { ANSWER_BYTES_MAX = 8 << 20 };

/* False: not kept. The body lives in the arena. */
bool answers_get(const struct cache *cache, struct hash128 key, struct arena *arena,
                 struct bytes *ret);
/* Where it is or will be, and what lies there: for a process that has no cache. */
void answers_path(const struct cache *cache, struct hash128 key, char ret[4096]);
bool answers_read(const char *path, struct hash128 key, struct arena *arena, struct bytes *ret);
/* Of the run whose first host's content this is; "" none. Does nothing with what is too large or
 * cannot be written: an answer can always be made again. */
void answers_put(struct cache *cache, struct hash128 key, const char *content, struct bytes body);
/* Whose answer lies at this path; false: it is none. */
bool answers_content(const char *path, char ret[33]);

#endif
