/* SPDX-License-Identifier: Apache-2.0 */
/* The door to the network: CivetWeb, and nothing else knows it.
 *
 * A front of ours (front.h) reads requests; CivetWeb has 256 threads, one for each that is whole,
 * their stacks 100 KB: so only light handlers run on them, the rest on a pool of ours. No document
 * root: every request goes through the gate, then auth, then the routes. http_stop answers what is
 * in flight, ends event streams, then closes.
 */
#ifndef JVIEWD_SERVE_HTTP_HTTP_H
#define JVIEWD_SERVE_HTTP_HTTP_H

#include "serve/access/auth.h"
#include "serve/serve.h"

struct http_options {
    const char *bind;        /* an IPv4 address or "localhost" */
    int port;                /* 0: any free one */
    unsigned port_tries;     /* how many ports upwards from there; 0 and 1: only this one */
    enum auth_mode auth;     /* AUTH_TOKEN is required beyond loopback */
    const char *runtime_dir; /* of the token file; NULL: see auth.h */
    const struct str *allowed_hosts;
    uint32_t allowed_host_count;
    const char *public_url; /* NULL: none */
};

struct http;
/* `services` is borrowed and must outlive it. ERR_CONFLICT: the port is in use, the message says
 * by whom; ERR_INVALID: what cannot be served safely. */
MUST_CHECK enum status http_start(const struct http_options *options,
                                  const struct services *services, struct http **ret,
                                  struct error *err);
void http_stop(struct http *http); /* takes NULL */
int http_port(const struct http *http);
/* "" without a token, else "launch/CODE", good once. */
void http_launch_path(struct http *http, char ret[128]);

const char *http_library(void); /* the version of CivetWeb */

#endif
