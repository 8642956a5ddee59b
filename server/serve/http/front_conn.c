/* SPDX-License-Identifier: Apache-2.0 */
/* One connection, from its first byte to its last: reads requests until they are whole, says no
 * where they cannot be read, and decides what comes next. */
#include "serve/http/front_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/access/gate.h"
#include "serve/answer/reply.h"
#include "serve/http/http_head.h"

/* Closed by name: a child that was just forked may hold the descriptor for a moment, and what it
 * holds would be watched on. */
void end_close(struct end *end)
{
    if (end->fd < 0)
        return;
    if (end->watched != 0)
        epoll_ctl(end->conn->front->epoll, EPOLL_CTL_DEL, end->fd, NULL);
    close(end->fd);
    end->fd = -1;
    end->watched = 0;
}

/* Which list it stands in goes by its phase; the peer's own list holds what can be spared. */
static struct conn_list *list_of(struct conn *conn)
{
    struct front *front = conn->front;

    if (conn->phase == PHASE_QUEUED)
        return &front->queued;
    return conn->worker.fd >= 0 ? &front->busy : &front->waiting;
}

static void leave_lists(struct conn *conn)
{
    struct conn_list *list = list_of(conn);

    TAILQ_REMOVE(list, conn, order);
    if (list == &conn->front->waiting)
        TAILQ_REMOVE(&conn->peer->waiting, conn, of_peer);
}

static void enter_lists(struct conn *conn)
{
    struct conn_list *list = list_of(conn);

    TAILQ_INSERT_TAIL(list, conn, order);
    if (list == &conn->front->waiting)
        TAILQ_INSERT_TAIL(&conn->peer->waiting, conn, of_peer);
}

static void enter_phase(struct conn *conn, enum phase phase, int64_t ms)
{
    leave_lists(conn);
    conn->phase = phase;
    conn->until_ns = conn->front->now_ns + ms * FRONT_MS;
    enter_lists(conn);
}

static void destroy(struct conn *conn)
{
    struct front *front = conn->front;

    leave_lists(conn);
    end_close(&conn->client);
    buffer_free(front, &conn->in);
    buffer_free(front, &conn->give);
    buffer_free(front, &conn->out);
    peer_leave(conn->peer);
    front->connections--;
    atomic_store(&front->server->connections, front->connections);
    conn->dead = true;
    TAILQ_INSERT_TAIL(&front->dead, conn, order); /* events of this turn may still name it */
}

void conn_cut(struct conn *conn)
{
    if (conn->worker.fd < 0) {
        destroy(conn);
        return;
    }
    end_close(&conn->client);
    conn->gone = true;
    atomic_store(&conn->front->slots[conn->slot].gone, true);
    buffer_free(conn->front, &conn->in);
    buffer_free(conn->front, &conn->out);
    conn->told = true;
    shutdown(conn->worker.fd, SHUT_WR); /* who waits for the rest of a body waits no more */
}

void conn_abandon(struct conn *conn)
{
    conn_cut(conn);
    leave_lists(conn);
    end_close(&conn->worker);
    enter_lists(conn);
    destroy(conn);
}

static void watch_one(struct front *front, struct end *end, uint32_t wanted)
{
    struct epoll_event event = {.events = wanted, .data.ptr = end};

    if (end->fd < 0 || end->watched == (wanted | 1u << 31))
        return;
    epoll_ctl(front->epoll, end->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, end->fd, &event);
    end->watched = wanted | 1u << 31; /* the mark tells "nothing wanted" from "not there yet" */
}

static void watch(struct conn *conn)
{
    struct front *front = conn->front;
    bool reads =
        conn->phase == PHASE_HEAD || conn->phase == PHASE_BODY || conn->phase == PHASE_LINGER ||
        (conn->phase == PHASE_BUSY && conn->upload && !conn->told && conn->give.count == 0);
    bool sends = conn->out.count > 0 && front->now_ns >= conn->held_ns;
    bool relays = conn->gone || conn->out.count < FRONT_OUT_BYTES_MAX;

    if (conn->dead)
        return;
    watch_one(front, &conn->client,
              (reads && !conn->input_ended ? EPOLLIN : 0u) | (sends ? EPOLLOUT : 0u));
    watch_one(front, &conn->worker,
              (relays ? EPOLLIN : 0u) | (conn->give.count > 0 ? EPOLLOUT : 0u));
}

static void linger(struct conn *conn)
{
    if (conn->input_ended) {
        destroy(conn);
        return;
    }
    buffer_free(conn->front, &conn->in);
    shutdown(conn->client.fd, SHUT_WR);
    enter_phase(conn, PHASE_LINGER, FRONT_LINGER_MS);
}

/* The connection ends with it: where the next request would begin is not known. */
static void refuse(struct conn *conn, int status, const char *type, const char *detail)
{
    struct server *server = conn->front->server;
    struct reply reply = {0};
    struct text out = {0};

    reply_problem(&reply, status, type, str_of(detail));
    if (status == 503)
        reply_header(&reply, STR("Retry-After"), STR("1"));
    http_head(&out, &reply,
              (struct head_options){.body_bytes = (int64_t)reply.body.count, .close = true});
    text_put(&out, reply.body.at, reply.body.count);
    buffer_put(conn->front, &conn->out, out.at, out.count);
    text_free(&out);
    reply_free(&reply);
    atomic_fetch_add(&server->refused, 1);
    atomic_fetch_add(&server->replies[status / 100 % 6], 1);
    conn->closes = true;
    enter_phase(conn, PHASE_FLUSH, FRONT_STALL_MS);
}

/* Below the server's own prefix. */
static struct str path_of(const struct front *front, const struct request_head *head)
{
    const char *mark = memchr(head->target.at, '?', head->target.count);
    struct str path = {.at = head->target.at,
                       .count =
                           mark == NULL ? head->target.count : (size_t)(mark - head->target.at)};

    if (front->base_path.count > 0 && str_starts(path, front->base_path) &&
        path.count > front->base_path.count && path.at[front->base_path.count] == '/')
        path = str_skip(path, front->base_path.count);
    return path;
}

/* It takes seconds of work, and a client may then take nothing of it. */
static bool is_export(struct str path)
{
    return str_equal(path, STR("/api/trace")) || str_equal(path, STR("/api/bundle")) ||
           str_starts(path, STR("/perfetto/"));
}

/* A whole head: what is to be waited for. */
static void begin_body(struct conn *conn)
{
    struct request_head *head = &conn->head;
    int64_t bytes = head->body_bytes < 0 ? GATE_BODY_BYTES_MAX : head->body_bytes;
    bool here = conn->in.count > head->bytes;

    struct str path = path_of(conn->front, head);

    conn->upload = str_equal(head->method, STR("POST")) && str_equal(path, STR(GATE_UPLOAD_PATH));
    conn->exports = is_export(path);
    conn->chunks = (struct chunks){0};
    conn->scanned = head->bytes;
    if (head->body_bytes != 0 && !str_equal(head->method, STR("POST"))) {
        refuse(conn, 400, "bad-request", "Only POST may have a body.");
        return;
    }
    if (!conn->upload && bytes > GATE_BODY_BYTES_MAX) {
        refuse(conn, 413, "too-large", "A body may have at most 1 MiB.");
        return;
    }
    enter_phase(conn, PHASE_BODY, FRONT_BODY_MS + bytes / FRONT_BODY_BYTES_PER_MS);
    if (head->expects_continue && !conn->upload && head->body_bytes != 0 && !here)
        buffer_put(conn->front, &conn->out, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

static void queue_up(struct conn *conn)
{
    enter_phase(conn, PHASE_QUEUED, FRONT_QUEUED_MS);
    front_hand_out(conn->front);
}

static void read_body(struct conn *conn)
{
    struct request_head *head = &conn->head;
    const uint8_t *at = conn->in.at + conn->in.from;

    if (conn->upload) {
        queue_up(conn);
        return;
    }
    if (head->body_bytes >= 0) {
        size_t whole = head->bytes + (size_t)head->body_bytes;

        conn->scanned = whole;
        if (conn->in.count >= whole)
            queue_up(conn);
        return;
    }
    conn->scanned +=
        chunks_take(&conn->chunks, (struct bytes){.at = at + conn->scanned,
                                                  .count = conn->in.count - conn->scanned});
    if (conn->chunks.state == CHUNKS_REFUSED)
        refuse(conn, 400, "bad-request", "A chunk must be its size in hex, followed by its bytes.");
    else if (conn->chunks.bytes > GATE_BODY_BYTES_MAX)
        refuse(conn, 413, "too-large", "A body may have at most 1 MiB.");
    else if (conn->chunks.state == CHUNKS_ENDED)
        queue_up(conn);
}

/* With what has come so far. */
static void advance(struct conn *conn)
{
    if (conn->phase == PHASE_HEAD && conn->in.count > 0) {
        const struct bytes here = {.at = conn->in.at + conn->in.from, .count = conn->in.count};

        if (conn->idle) {
            conn->idle = false;
            enter_phase(conn, PHASE_HEAD, FRONT_HEAD_MS);
        }
        enum request_head_state state = request_head_read(&conn->head, here);
        if (state == REQUEST_HEAD_REFUSED)
            refuse(conn, conn->head.status, conn->head.status == 431 ? "too-large" : "bad-request",
                   conn->head.detail);
        else if (state == REQUEST_HEAD_WHOLE)
            begin_body(conn);
    }
    if (conn->phase == PHASE_BODY)
        read_body(conn);
    if (!conn->input_ended || conn->dead)
        return;
    if (conn->phase == PHASE_HEAD && conn->in.count == 0)
        destroy(conn);
    else if (conn->phase == PHASE_HEAD || conn->phase == PHASE_BODY)
        refuse(conn, 400, "bad-request", "The request is incomplete.");
}

static void next_request(struct conn *conn)
{
    conn->head = (struct request_head){0};
    conn->upload = false;
    conn->idle = true;
    conn->held_ns = 0;
    enter_phase(conn, PHASE_HEAD, FRONT_IDLE_MS);
    advance(conn);
}

/* Until nothing can be done before something comes: a pipe may hold many requests. */
static void settle(struct conn *conn)
{
    while (!conn->dead && conn->phase == PHASE_FLUSH) {
        if (!conn_send(conn))
            conn_cut(conn);
        else if (conn->out.count > 0)
            break;
        else if (conn->closes || (conn->input_ended && conn->in.count == 0))
            linger(conn);
        else
            next_request(conn);
    }
    watch(conn);
}

/* Exports have a share of the threads, and what is short goes past those that wait for it. */
static struct conn *next_queued(const struct front *front)
{
    struct conn *conn = TAILQ_FIRST(&front->queued);

    while (conn != NULL && conn->exports && front->exports_taken >= FRONT_EXPORTS_MAX)
        conn = TAILQ_NEXT(conn, order);
    return front->threads_taken < FRONT_THREADS ? conn : NULL;
}

void front_hand_out(struct front *front)
{
    struct conn *conn;

    while ((conn = next_queued(front)) != NULL) {
        leave_lists(conn);
        bool handed = conn_hand(conn);
        conn->phase = PHASE_BUSY;
        conn->moved_ns = front->now_ns;
        enter_lists(conn);
        if (!handed) {
            refuse(conn, 503, "busy",
                   "The server has no file descriptor left for another request; try again.");
            settle(conn);
        }
        watch(conn);
    }
}

static bool receive(struct conn *conn)
{
    struct front *front = conn->front;
    ssize_t got = recv(conn->client.fd, front->piece, FRONT_PIECE_BYTES, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    conn->input_ended |= got == 0;
    if (conn->phase != PHASE_LINGER)
        buffer_put(front, &conn->in, front->piece, (size_t)got);
    return true;
}

static void client_event(struct conn *conn, uint32_t events)
{
    bool alive = true;

    if ((events & EPOLLIN) != 0)
        alive = receive(conn);
    else if ((events & (EPOLLERR | EPOLLHUP)) != 0)
        alive = false;
    if (alive && (events & EPOLLOUT) != 0)
        alive = conn_send(conn);
    if (!alive) {
        conn_cut(conn);
        return;
    }
    if (conn->phase == PHASE_BUSY && conn->upload && !conn->told) {
        conn_pass_body(conn);
        conn_give(conn);
    } else if (conn->phase == PHASE_LINGER && conn->input_ended) {
        destroy(conn);
    } else {
        advance(conn);
    }
}

static void worker_event(struct conn *conn, uint32_t events)
{
    if ((events & EPOLLOUT) != 0 && !conn->gone)
        conn_give(conn);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    leave_lists(conn); /* it may end here */
    conn_relay(conn, (events & (EPOLLHUP | EPOLLERR)) != 0);
    enter_lists(conn);
    if (conn->worker.fd >= 0)
        return;
    conn->until_ns = conn->front->now_ns + FRONT_STALL_MS * FRONT_MS;
    if (conn->gone)
        destroy(conn);
    front_hand_out(conn->front);
}

void conn_event(struct end *end, uint32_t events)
{
    struct conn *conn = end->conn;

    if (conn->dead || end->fd < 0)
        return;
    if (end == &conn->client)
        client_event(conn, events);
    else
        worker_event(conn, events);
    settle(conn);
}

void conn_look(struct conn *conn)
{
    struct front *front = conn->front;

    if (conn->dead)
        return;
    if (conn->held_ns != 0 && conn->held_ns <= front->now_ns && conn->out.count > 0 &&
        conn->client.fd >= 0 && !conn_send(conn))
        conn_cut(conn);
    if (!conn->dead && conn->worker.fd >= 0) {
        if (!conn->gone && conn->out.count > 0 && front->now_ns >= conn->held_ns &&
            front->now_ns - conn->moved_ns > FRONT_STALL_MS * FRONT_MS)
            conn_cut(conn);
    } else if (!conn->dead && front->now_ns >= conn->until_ns && front->now_ns >= conn->held_ns) {
        if (conn->phase == PHASE_BODY || (conn->phase == PHASE_HEAD && !conn->idle))
            refuse(conn, 408, "timeout", "The request did not arrive completely in time.");
        else if (conn->phase == PHASE_QUEUED)
            refuse(conn, 503, "busy", "All threads were busy for 30 s; try again.");
        else
            destroy(conn);
    }
    if (!conn->dead)
        settle(conn);
}

void conn_open(struct front *front, int fd, uint32_t address)
{
    struct conn *conn = memory_resize(NULL, 1, sizeof *conn);
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *conn = (struct conn){.front = front,
                          .peer = peer_enter(front->peers, address, front->now_ns),
                          .client = {.conn = conn, .fd = fd},
                          .worker = {.conn = conn, .fd = -1},
                          .slot = -1,
                          .idle = true,
                          .until_ns = front->now_ns + FRONT_HEAD_MS * FRONT_MS};
    front->connections++;
    atomic_store(&front->server->connections, front->connections);
    enter_lists(conn);
    watch(conn);
}
