/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of the front; private to front*.c. All of it is the front's thread's, but for
 * slots, which the threads that answer write to. */
#ifndef JVIEWD_SERVE_HTTP_FRONT_PARTS_H
#define JVIEWD_SERVE_HTTP_FRONT_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "serve/http/chunks.h"
#include "serve/http/front.h"
#include "serve/http/peers.h"
#include "serve/http/request_head.h"

#define FRONT_MS INT64_C(1000000)

enum {
    FRONT_PER_PEER_MAX = 512,
    FRONT_EXPORTS_MAX = 32,          /* of the threads */
    FRONT_OUT_BYTES_MAX = 128 << 10, /* read ahead of a client, beside what the kernel takes */
    FRONT_HELD_BYTES_MAX = 64 << 20, /* of all that wait */
    FRONT_PIECE_BYTES = 128 << 10,
    FRONT_HEAD_MS = 10000,
    FRONT_IDLE_MS = 30000,
    FRONT_BODY_MS = 10000,        /* and at least */
    FRONT_BODY_BYTES_PER_MS = 64, /* of that */
    FRONT_QUEUED_MS = 30000,
    FRONT_STALL_MS = 30000,
    FRONT_STALL_SHORT_MS = 20, /* where threads run out */
    FRONT_LINGER_MS = 2000,
};

struct slot {
    bool taken;
    atomic_bool gone, wrong, keep;
};

enum phase {
    PHASE_HEAD, /* and idle before it */
    PHASE_BODY,
    PHASE_QUEUED,
    PHASE_BUSY,
    PHASE_FLUSH,  /* answered; the client has not taken all of it */
    PHASE_LINGER, /* said all; what the client still sends is read off */
};

struct end {
    struct conn *conn;
    int fd; /* -1: closed */
    uint32_t watched;
};

struct buffer {
    uint8_t *at;
    size_t from, count, capacity; /* bytes are at + from */
};

struct conn {
    TAILQ_ENTRY(conn) order, of_peer;
    struct front *front;
    struct peer *peer;
    struct end client, worker;
    enum phase phase;
    bool idle;        /* no byte of a further request yet */
    bool exports;     /* asks for a whole trace: FRONT_EXPORTS_MAX have a thread */
    bool upload;      /* its body is passed on as it comes */
    bool input_ended; /* the client sends no more */
    bool closes;      /* after what it is being told */
    bool gone;        /* the client takes no more; the thread does not know yet */
    bool told;        /* the thread: its request is whole */
    bool dead;
    struct buffer in, give, out; /* from the client; to the thread; to the client */
    struct request_head head;
    struct chunks chunks;
    size_t scanned;     /* of `in`: by chunks */
    uint64_t body_left; /* of an upload with a length */
    int slot;           /* -1: none */
    int64_t until_ns;   /* of this phase */
    int64_t moved_ns;   /* the client took something, or there was nothing to take */
    int64_t held_ns;    /* `out` leaves then */
};

struct front {
    int listener, epoll, wake;
    const struct doorway *doorway;
    struct server *server;
    struct str base_path;
    struct peers *peers;
    struct conn_list waiting, queued, busy, dead;
    uint32_t connections, connections_max, threads_taken, exports_taken;
    size_t held; /* bytes in buffers */
    int64_t now_ns;
    uint8_t *piece;
    bool full; /* no descriptor was left for a further connection */
    atomic_bool stopping;
    pthread_t thread;
    bool runs;
    struct slot slots[FRONT_THREADS];
};

/* front_buffer.c */
void buffer_put(struct front *front, struct buffer *buffer, const void *at, size_t count);
void buffer_take(struct front *front, struct buffer *buffer, size_t count);
void buffer_free(struct front *front, struct buffer *buffer);

/* front_conn.c */
void end_close(struct end *end);
void conn_open(struct front *front, int fd, uint32_t address);
void conn_event(struct end *end, uint32_t events);
/* What its deadline asks for, and what was held. */
void conn_look(struct conn *conn);
/* The client is cut off; the thread, if any, hears of it. */
void conn_cut(struct conn *conn);
/* As conn_cut, and nobody waits for the thread. */
void conn_abandon(struct conn *conn);
/* Threads that are free take what is queued. */
void front_hand_out(struct front *front);

/* front_answer.c */
bool conn_hand(struct conn *conn);
void conn_pass_body(struct conn *conn);
void conn_give(struct conn *conn);
void conn_relay(struct conn *conn, bool hung_up);
/* Sends what is in `out`; false: the client has gone. */
bool conn_send(struct conn *conn);

#endif
