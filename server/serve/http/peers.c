/* SPDX-License-Identifier: Apache-2.0 */
/* A table of addresses; those without a connection and without a recent wrong token go. */
#include "serve/http/peers.h"

#include <stdlib.h>

#include "base/arena.h"

enum {
    BUCKETS = 1024,
    KEPT_MAX = 16384,
    WRONG_FREE = 5,
    WRONG_STEP_MS = 100,
    WRONG_STEPS_MAX = 10
};

#define MS INT64_C(1000000)
#define FORGOTTEN_NS (60000 * MS)
#define AHEAD_NS (10000 * MS)

SLIST_HEAD(peer_list, peer);

struct peers {
    struct peer_list buckets[BUCKETS];
    uint32_t count;
};

struct peers *peers_create(void)
{
    struct peers *peers = memory_resize(NULL, 1, sizeof *peers);

    *peers = (struct peers){0};
    return peers;
}

/* Those that nothing is to be remembered of; all that are not connected, where many are kept. */
static void forget(struct peers *peers, struct peer_list *bucket, int64_t now_ns)
{
    struct peer *peer = SLIST_FIRST(bucket);

    while (peer != NULL) {
        struct peer *next = SLIST_NEXT(peer, next);

        if (peer->connections == 0 && (peer->wrong == 0 || now_ns - peer->wrong_ns > FORGOTTEN_NS ||
                                       peers->count > KEPT_MAX)) {
            SLIST_REMOVE(bucket, peer, peer, next);
            free(peer);
            peers->count--;
        }
        peer = next;
    }
}

void peers_destroy(struct peers *peers)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        struct peer_list *bucket = &peers->buckets[i];

        while (!SLIST_EMPTY(bucket)) {
            struct peer *peer = SLIST_FIRST(bucket);

            SLIST_REMOVE_HEAD(bucket, next);
            free(peer);
        }
    }
    free(peers);
}

struct peer *peer_enter(struct peers *peers, uint32_t address, int64_t now_ns)
{
    struct peer_list *bucket = &peers->buckets[(address * 2654435761u) >> 22];
    struct peer *peer;

    SLIST_FOREACH(peer, bucket, next)
    {
        if (peer->address == address)
            break;
    }
    if (peer == NULL) {
        forget(peers, bucket, now_ns);
        peer = memory_resize(NULL, 1, sizeof *peer);
        *peer = (struct peer){.address = address};
        TAILQ_INIT(&peer->waiting);
        SLIST_INSERT_HEAD(bucket, peer, next);
        peers->count++;
    }
    peer->connections++;
    return peer;
}

void peer_leave(struct peer *peer)
{
    peer->connections--;
}

int64_t peer_wrong(struct peer *peer, int64_t now_ns)
{
    if (now_ns - peer->wrong_ns > FORGOTTEN_NS)
        peer->wrong = 0;
    peer->wrong++;
    peer->wrong_ns = now_ns;
    if (peer->wrong <= WRONG_FREE)
        return now_ns;
    unsigned steps = peer->wrong - WRONG_FREE;
    if (peer->answers_ns < now_ns)
        peer->answers_ns = now_ns;
    peer->answers_ns += (steps < WRONG_STEPS_MAX ? steps : WRONG_STEPS_MAX) * WRONG_STEP_MS * MS;
    if (peer->answers_ns > now_ns + AHEAD_NS)
        peer->answers_ns = now_ns + AHEAD_NS;
    return peer->answers_ns;
}
