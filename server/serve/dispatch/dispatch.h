/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to its reply: the route is found in the table that the services hand over. */
#ifndef JVIEWD_SERVE_DISPATCH_DISPATCH_H
#define JVIEWD_SERVE_DISPATCH_DISPATCH_H

#include "serve/serve.h"

/* NULL: no route of that path. *ret_allow lists the methods that the path knows. */
const struct route *route_find(const struct route_table *table, struct str method, struct str path,
                               struct str *ret_allow, struct arena *arena);

/* Routes, waits for indexing where a run needs it, handles, turns a failure into problem+json,
 * sets ETag, answers 304. */
void serve_request(struct request *req, struct reply *reply);
/* The same in two parts, for who must not wait on the thread that works: `serve_try` is true when
 * the answer stands; else the run is not indexed yet: `serve_wait`, then `serve_try` again, which
 * then answers in any case. */
bool serve_try(struct request *req, struct reply *reply);
void serve_wait(struct request *req);
void serve_wait_not(struct request *req); /* in its place: too many wait */

#endif
