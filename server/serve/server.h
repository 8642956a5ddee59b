/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers may see of the server around them. Callers without sockets have none. */
#ifndef JVIEWD_SERVE_SERVER_H
#define JVIEWD_SERVE_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct auth;
struct pool;
struct reply_cache;

enum { EVENT_STREAMS_MAX = 32, WAITING_MAX = 32 };

struct server {
    struct pool *work;                /* handlers that look: about twice as many threads as cores */
    struct pool *heavy;               /* handlers that compute: they never hold up the timeline */
    struct pool *waiters;             /* who waits for indexing, so that nobody waits on `work` */
    _Atomic(struct auth *) auth;      /* NULL until the port is known: nobody comes in before */
    struct reply_cache *replies_kept; /* NULL: another process writes the catalog */
    int64_t started_ns;
    atomic_bool stopping;
    atomic_uint in_flight, event_streams, uploads_under_way;
    atomic_uint waiting;                    /* for indexing, each with its thread: WAITING_MAX */
    atomic_uint connections;                /* open now, idle ones with them */
    atomic_ullong refused, bytes_sent, cut; /* cut: connections that made room */
    atomic_ullong replies[6];               /* by hundreds of the status */
};

#endif
