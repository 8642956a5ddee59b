/* SPDX-License-Identifier: Apache-2.0 */
/* Answers over large runs outlive the process that made them.
 *
 *   hash of (program, path, parameters, run as it is) -> store/answers.h -> the body as it left,
 *                                                                           or a kept table, packed
 *
 * An answer over a million slices takes up to seconds to make and some kilobytes to keep; so does
 * one over many hosts, each of which is a file and an attribution to open. What it
 * depends on is what its tag depends on (see etag.h), and all of that is in the key: nothing kept
 * is trusted beyond it. Smaller runs are answered as fast as a file is read; so is what a hand asks
 * that drags a range (`spread=none`), and no two of its windows are alike.
 */
#ifndef JVIEWD_SERVE_KEPT_STORED_H
#define JVIEWD_SERVE_KEPT_STORED_H

#include "serve/serve.h"

enum { STORED_SLICES_MIN = 1000000, STORED_HOSTS_MIN = 64 };

/* Is an answer over it worth keeping? */
bool stored_is_large(const struct run_record *run);

/* Is what the request asks kept on disk, once it was answered? */
bool stored_may(const struct request *req, const struct run_record *run);
/* Waits, once, while somebody else makes the same answer, which then may be kept. With true it is
 * made by who asks, and others wait until stored_leave. */
bool stored_take(struct request *req, const struct run_record *run);
void stored_leave(struct request *req, const struct run_record *run);
bool stored_is_making(void); /* anybody anything */
/* True: the reply is the one that was kept. */
bool stored_get(struct request *req, const struct run_record *run, struct reply *reply);
/* Keeps a whole 200 of JSON. */
void stored_put(struct request *req, const struct run_record *run, const struct reply *reply);
/* The same of bytes that are no reply, as kept.c has them; packed, and aligned to 8 when read. */
bool stored_get_bytes(struct request *req, const struct run_record *run, struct bytes *ret);
bool stored_unpack(struct arena *arena, struct bytes body, struct bytes *ret);
void stored_put_bytes(struct request *req, const struct run_record *run, struct bytes bytes);
/* What cannot be kept, as it is too large, leaves a mark: to make it for keeping again is in
 * vain. */
void stored_refuse(struct request *req, const struct run_record *run);
bool stored_is_refused(struct request *req, const struct run_record *run);

#endif
