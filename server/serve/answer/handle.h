/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a handler. */
#ifndef JVIEWD_SERVE_ANSWER_HANDLE_H
#define JVIEWD_SERVE_ANSWER_HANDLE_H

#include "serve/answer/reply.h"

/* By the request's route, inside of a guard (base/lost.h): where a page of an index that it reads
 * is gone it fails, and request_damaged tells. */
MUST_CHECK enum status reply_handle(struct request *req, struct reply *reply, struct error *err);
/* The reply's stream, likewise: it ends early. */
MUST_CHECK enum status reply_stream(const struct reply *reply,
                                    enum status (*put)(void *to, struct bytes, struct error *),
                                    void *to, struct error *err);

#endif
