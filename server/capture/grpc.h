/* SPDX-License-Identifier: Apache-2.0 */
/* One unary call of gRPC over plaintext HTTP/2: a message there, a message back.
 *
 *   connection   preface, SETTINGS, then one stream
 *   request      :method POST  :path /PACKAGE.SERVICE/METHOD  content-type application/grpc
 *   body         0 (not compressed), u32 length (big-endian), message      the same both ways
 *   trailers     grpc-status (0 is success), grpc-message (percent-encoded)
 *
 * The reply's message is handed on as it comes, never held: it may have gigabytes. Source: the
 * protocol's description at github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md.
 */
#ifndef JVIEWD_CAPTURE_GRPC_H
#define JVIEWD_CAPTURE_GRPC_H

#include "base/bytes.h"
#include "base/error.h"

struct grpc_call {
    const char *host, *port; /* "localhost", "9999" */
    bool public_only;        /* as in capture/connect.h */
    const char *path;        /* "/tensorflow.ProfilerService/Profile" */
    struct bytes message;
    int64_t quiet_ms; /* so long nothing of the reply may come */
    void *data;
    enum status (*take)(void *data, struct bytes piece, struct error *err);
    bool (*go_on)(void *data); /* asked several times a second: false ends the call */
};

const char *grpc_library(void); /* nghttp2's version */

/* OK: the whole reply was handed on. ERR_NOT_FOUND: nothing listens there. ERR_UNSUPPORTED: what
 * listens is no such service. ERR_CONFLICT: it is busy. ERR_PERMISSION: its address
 * may not be asked. ERR_CANCELLED: go_on said so. */
MUST_CHECK enum status grpc_unary(const struct grpc_call *call, struct error *err);

#endif
