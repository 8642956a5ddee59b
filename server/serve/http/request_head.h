/* SPDX-License-Identifier: Apache-2.0 */
/* The one reading of a request's head: strict, before anything else sees the bytes.
 *
 *   POST /api/notes HTTP/1.1␍␊        method SP target SP version
 *   Host: localhost␍␊                 token ":" value; no folding, no name that is no token
 *   Content-Length: 2␍␊               or Transfer-Encoding: chunked, never both, never twice
 *   ␍␊                                the head ends; 2 bytes of body follow
 *
 * What some parser would skip or mend is refused: behind a header that one reader skips, another
 * finds where the next request begins. What the request asks for is the gate's to judge.
 */
#ifndef JVIEWD_SERVE_HTTP_REQUEST_HEAD_H
#define JVIEWD_SERVE_HTTP_REQUEST_HEAD_H

#include "base/bytes.h"

enum { REQUEST_HEAD_BYTES_MAX = 16384 };

enum request_head_state { REQUEST_HEAD_PARTIAL, REQUEST_HEAD_WHOLE, REQUEST_HEAD_REFUSED };

struct request_head {
    size_t searched;   /* bytes that were looked at: begins at 0, kept between calls */
    size_t bytes;      /* of the whole head, its empty line included */
    size_t line_bytes; /* of the request line, its end included */
    struct str method, target;
    int64_t body_bytes;    /* -1: chunked */
    bool expects_continue; /* the client waits for a word before it sends the body */
    int status;            /* of a refusal */
    const char *detail;
};

/* Looks at what came beyond what it saw before; `method` and `target` point into `got`. */
enum request_head_state request_head_read(struct request_head *head, struct bytes got);

#endif
