/* SPDX-License-Identifier: Apache-2.0 */
/* The way through a thread: a whole request in, what it writes out to the client. */
#include "serve/http/front_parts.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int take_slot(struct front *front, bool exports)
{
    for (int i = 0; i < FRONT_THREADS; i++) {
        struct slot *slot = &front->slots[i];

        if (slot->taken)
            continue;
        slot->taken = true;
        front->threads_taken++;
        front->exports_taken += exports;
        atomic_store(&slot->gone, false);
        atomic_store(&slot->wrong, false);
        atomic_store(&slot->keep, false);
        return i;
    }
    return -1;
}

static void give_slot(struct conn *conn)
{
    if (conn->slot < 0)
        return;
    conn->front->slots[conn->slot].taken = false;
    conn->front->threads_taken--;
    conn->front->exports_taken -= conn->exports;
    conn->slot = -1;
}

/* The bytes of the request that are here, with the ticket behind the first line. */
static void put_request(struct conn *conn, size_t count)
{
    struct front *front = conn->front;
    const uint8_t *at = conn->in.at + conn->in.from;
    size_t line = conn->head.line_bytes;
    char ticket[64];
    int length = snprintf(ticket, sizeof ticket, FRONT_TICKET ": %d\r\n", conn->slot);

    buffer_put(front, &conn->give, at, line);
    buffer_put(front, &conn->give, ticket, (size_t)length);
    buffer_put(front, &conn->give, at + line, count - line);
    buffer_take(front, &conn->in, count);
}

bool conn_hand(struct conn *conn)
{
    struct front *front = conn->front;

    conn->slot = take_slot(front, conn->exports);
    conn->worker.fd = doorway_connect(front->doorway);
    if (conn->slot < 0 || conn->worker.fd < 0) {
        give_slot(conn);
        return false;
    }
    conn->told = false;
    conn->held_ns = 0;
    put_request(conn, conn->upload ? conn->head.bytes : conn->scanned);
    conn->body_left = conn->head.body_bytes > 0 ? (uint64_t)conn->head.body_bytes : 0;
    conn->chunks = (struct chunks){0};
    if (conn->upload)
        conn_pass_body(conn);
    else
        conn->told = true;
    conn_give(conn);
    return true;
}

/* Of an upload: what has come of its body, while the thread takes it. */
void conn_pass_body(struct conn *conn)
{
    struct front *front = conn->front;
    struct bytes here = {.at = conn->in.at + conn->in.from, .count = conn->in.count};
    size_t count = here.count < conn->body_left ? here.count : (size_t)conn->body_left;

    if (conn->head.body_bytes < 0)
        count = chunks_take(&conn->chunks, here);
    else
        conn->body_left -= count;
    if (count > 0) {
        buffer_put(front, &conn->give, here.at, count);
        buffer_take(front, &conn->in, count);
    }
    conn->told =
        conn->input_ended ||
        (conn->head.body_bytes < 0 ? conn->chunks.state >= CHUNKS_ENDED : conn->body_left == 0);
}

void conn_give(struct conn *conn)
{
    while (conn->give.count > 0) {
        ssize_t sent = send(conn->worker.fd, conn->give.at + conn->give.from, conn->give.count,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0) { /* it has answered without having read all */
            buffer_free(conn->front, &conn->give);
            conn->told = true;
            return;
        }
        buffer_take(conn->front, &conn->give, (size_t)sent);
    }
    if (conn->told)
        shutdown(conn->worker.fd, SHUT_WR);
}

bool conn_send(struct conn *conn)
{
    struct front *front = conn->front;

    while (conn->out.count > 0 && front->now_ns >= conn->held_ns) {
        ssize_t sent = send(conn->client.fd, conn->out.at + conn->out.from, conn->out.count,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        conn->moved_ns = front->now_ns;
        buffer_take(front, &conn->out, (size_t)sent);
    }
    return true;
}

/* Straight on where nothing waits before it: most answers never lie in a buffer. */
static bool send_on(struct conn *conn, const uint8_t *at, size_t count)
{
    struct front *front = conn->front;

    if (atomic_load(&front->slots[conn->slot].wrong) && conn->held_ns == 0)
        conn->held_ns = peer_wrong(conn->peer, front->now_ns);
    if (conn->out.count == 0) {
        conn->moved_ns = front->now_ns;
        while (count > 0 && front->now_ns >= conn->held_ns) {
            ssize_t sent = send(conn->client.fd, at, count, MSG_NOSIGNAL | MSG_DONTWAIT);

            if (sent < 0 && errno == EINTR)
                continue;
            if (sent < 0 && errno != EAGAIN)
                return false;
            if (sent < 0)
                break;
            at += sent;
            count -= (size_t)sent;
        }
    }
    buffer_put(front, &conn->out, at, count);
    return true;
}

static void answered(struct conn *conn)
{
    struct front *front = conn->front;
    bool keep = atomic_load(&front->slots[conn->slot].keep);

    end_close(&conn->worker);
    buffer_free(front, &conn->give);
    give_slot(conn);
    conn->closes = !keep || (conn->upload && !conn->told);
    conn->phase = PHASE_FLUSH;
}

void conn_relay(struct conn *conn, bool hung_up)
{
    struct front *front = conn->front;

    /* A thread that has hung up left at most what a socket holds. */
    while (hung_up || conn->gone || conn->out.count < FRONT_OUT_BYTES_MAX) {
        ssize_t got = recv(conn->worker.fd, front->piece, FRONT_PIECE_BYTES, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            answered(conn);
            return;
        }
        if (!conn->gone && !send_on(conn, front->piece, (size_t)got))
            conn_cut(conn);
        if (got < FRONT_PIECE_BYTES && !hung_up)
            return;
    }
}
