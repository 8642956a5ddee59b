/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer depends on, as one hash: equal tags, equal bodies.
 *
 *   run       content id, state, its files' states and contents   + query + build
 *   catalog   generation of the catalog, scan                      + query + build
 *
 * The tag is known before the answer is computed, so a 304 costs nothing.
 */
#ifndef JVIEWD_SERVE_ANSWER_ETAG_H
#define JVIEWD_SERVE_ANSWER_ETAG_H

#include "base/hash.h"
#include "serve/answer/request.h"

/* The same of a run for who keeps bodies longer than this process lives: the program, the path, the
 * parameters but for those that only name the run or wait for it, and the run. Of a table, which is
 * kept whole, also but for those that sort, cut and write it. False: what program this is cannot be
 * told. */
bool answer_key(const struct request *req, const struct run_record *run, struct hash128 *ret);
/* The same of what is no route's answer: of a word that tells what it is. */
bool answer_key_of(struct str what, const struct run_record *run, struct hash128 *ret);
/* W/"32 hex digits" */
struct str etag_of_run(const struct request *req, const struct run_record *run);
struct str etag_of_catalog(const struct request *req);
struct str etag_of_build(const struct request *req);
/* Does If-None-Match name the tag? Weak comparison. */
bool etag_matches(struct str if_none_match, struct str etag);

#endif
