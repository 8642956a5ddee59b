/* What an answer depends on, as one hash: equal tags, equal bodies.
 *
 *   run       content id, state, its files' states and contents   + query + build
 *   catalog   generation of the catalog, scan                      + query + build
 *
 * The tag is known before the answer is computed, so a 304 costs nothing.
 */
#ifndef JVIEWD_SERVE_ETAG_H
#define JVIEWD_SERVE_ETAG_H

#include "serve/request.h"

/* W/"32 hex digits" */
struct str etag_of_run(const struct request *req, const struct run_record *run);
struct str etag_of_catalog(const struct request *req);
struct str etag_of_build(const struct request *req);
/* Does If-None-Match name the tag? Weak comparison. */
bool etag_matches(struct str if_none_match, struct str etag);

#endif
