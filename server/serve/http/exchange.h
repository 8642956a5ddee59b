/* SPDX-License-Identifier: Apache-2.0 */
/* One request and its reply on a connection: gate, auth, body, routes, and the way back out.
 *
 * What stands between is CivetWeb's: http.c hands in how to read and write. A body is here whole,
 * but for a file, which its handler reads as it comes.
 */
#ifndef JVIEWD_SERVE_HTTP_EXCHANGE_H
#define JVIEWD_SERVE_HTTP_EXCHANGE_H

#include "serve/access/gate.h"
#include "serve/server.h"

struct connection { /* counts as read(2) and write(2) do */
    void *data;
    int (*read)(void *data, void *at, size_t count);
    int (*write)(void *data, const void *at, size_t count);
};

struct exchange {
    struct connection connection;
    struct server *server;
    const struct services *services;
    const struct gate *gate;
    struct arena *arena; /* of the request */
    struct verdict verdict;
    struct request request;
    struct reply reply;
    bool head_only, version_10, answered;
    bool computed;    /* over a whole run */
    bool began;       /* to read a body that the handler reads */
    bool wrong_token; /* out, before anything is written */
    bool close;       /* out: no further request on this connection */
};

/* Answers; what was sent stands in exchange->reply.status. */
void exchange_run(struct exchange *exchange, const struct wire *wire);

#endif
