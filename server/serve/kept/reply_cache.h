/* SPDX-License-Identifier: Apache-2.0 */
/* Small replies, as they left, until the catalog changes.
 *
 *   hash of (path, query, encoding) -> slot {generation, headers, body}
 *
 * All that a reply about a run depends on stands in the catalog, and every change raises its
 * generation: so an entry of the present generation is the answer, and asking for it again costs
 * a copy. Each slot holds one reply; a newer one takes its place. 512 of at most 32 KiB: 16 MiB.
 */
#ifndef JVIEWD_SERVE_KEPT_REPLY_CACHE_H
#define JVIEWD_SERVE_KEPT_REPLY_CACHE_H

#include "serve/serve.h"

struct reply_cache;
struct reply_cache *reply_cache_create(void);
void reply_cache_destroy(struct reply_cache *cache); /* takes NULL */

/* True: the reply was filled, in the request's arena; a 304 where If-None-Match allows. */
bool reply_cache_get(struct reply_cache *cache, const struct request *req, uint64_t generation,
                     struct reply *reply);
/* Keeps what may be kept: a 200 of JSON about a run, whole, tagged, encoded already.
 * `generation` is that from before it was computed. */
void reply_cache_put(struct reply_cache *cache, const struct request *req, uint64_t generation,
                     const struct reply *reply);

#endif
