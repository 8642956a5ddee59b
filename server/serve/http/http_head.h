/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a reply as text: status line, the headers that every reply carries, its own. */
#ifndef JVIEWD_SERVE_HTTP_HTTP_HEAD_H
#define JVIEWD_SERVE_HTTP_HTTP_HEAD_H

#include "serve/serve.h"

struct head_options {
    int64_t body_bytes; /* -1: chunked, -2: until the connection closes */
    bool close;         /* no further request on this connection */
    bool cors;          /* for ui.perfetto.dev */
};

void http_head(struct text *out, const struct reply *reply, struct head_options options);

#endif
