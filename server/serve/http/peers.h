/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of those who connect, by address: how many connections they have, and how often
 * they came with a wrong token. One thread uses it. */
#ifndef JVIEWD_SERVE_HTTP_PEERS_H
#define JVIEWD_SERVE_HTTP_PEERS_H

#include <stdint.h>
#include <sys/queue.h>

struct conn;
TAILQ_HEAD(conn_list, conn);

struct peer {
    SLIST_ENTRY(peer) next;
    uint32_t address;
    uint32_t connections;
    unsigned wrong;               /* tokens in a row, none of them long ago */
    int64_t wrong_ns, answers_ns; /* the last one; when the next such answer may leave */
    struct conn_list waiting;     /* its connections that can be spared, longest first */
};

struct peers;
struct peers *peers_create(void);
void peers_destroy(struct peers *peers);
/* Counts a connection more. Good until peer_leave of the last. */
struct peer *peer_enter(struct peers *peers, uint32_t address, int64_t now_ns);
void peer_leave(struct peer *peer);
/* A wrong token: when its answer may leave. The first five leave at once, each further one waits
 * for the one before it and a little longer than that one, a second at most. */
int64_t peer_wrong(struct peer *peer, int64_t now_ns);

#endif
