/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: accepts, hands events to connections, looks at deadlines, and makes room where too many
 * wait. */
#include "serve/http/front_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    EVENTS = 256,
    ACCEPTED_MAX = 64, /* in a turn */
    LOOK_MS = 100,
    LOOK_QUEUED_MS = 10,
    CONNECTIONS_MAX = 8192,
    CONNECTIONS_MIN = 64,
    DESCRIPTORS_OF_OTHERS = 512,
    STOP_MS = 2000,
};

/* Half of what descriptors there are for: each request that is answered takes a second one. */
static uint32_t connections_max(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur < 2 * CONNECTIONS_MIN + DESCRIPTORS_OF_OTHERS)
        return CONNECTIONS_MIN;
    rlim_t half = (limit.rlim_cur - DESCRIPTORS_OF_OTHERS) / 2;
    return half < CONNECTIONS_MAX ? (uint32_t)half : CONNECTIONS_MAX;
}

struct front *front_create(int listener, const struct doorway *doorway, struct server *server,
                           struct str base_path)
{
    struct front *front = memory_resize(NULL, 1, sizeof *front);

    *front = (struct front){.listener = listener,
                            .epoll = -1,
                            .wake = -1,
                            .doorway = doorway,
                            .server = server,
                            .base_path = base_path,
                            .peers = peers_create(),
                            .connections_max = connections_max(),
                            .piece = memory_resize(NULL, FRONT_PIECE_BYTES, 1)};
    TAILQ_INIT(&front->waiting);
    TAILQ_INIT(&front->queued);
    TAILQ_INIT(&front->busy);
    TAILQ_INIT(&front->dead);
    return front;
}

static void free_dead(struct front *front)
{
    struct conn *conn;

    while ((conn = TAILQ_FIRST(&front->dead)) != NULL) {
        TAILQ_REMOVE(&front->dead, conn, order);
        free(conn);
    }
}

static void cut_counted(struct conn *conn)
{
    atomic_fetch_add(&conn->front->server->cut, 1);
    conn_cut(conn);
}

/* An export that has no thread yet; of this peer, unless NULL. */
static struct conn *queued_export(const struct front *front, const struct peer *peer)
{
    struct conn *conn = TAILQ_FIRST(&front->queued);

    while (conn != NULL && !(conn->exports && (peer == NULL || conn->peer == peer)))
        conn = TAILQ_NEXT(conn, order);
    return conn;
}

/* Of the peer that has too many, else of all; false: everybody is being answered. */
static bool make_room(struct front *front, uint32_t address)
{
    struct peer *peer = peer_enter(front->peers, address, front->now_ns);
    bool own = peer->connections > FRONT_PER_PEER_MAX;
    bool full = own || front->connections >= front->connections_max;
    struct conn *spared = own ? queued_export(front, peer) : NULL;

    if (full && spared == NULL)
        spared = own ? TAILQ_FIRST(&peer->waiting) : TAILQ_FIRST(&front->waiting);
    if (full && !own && spared == NULL)
        spared = queued_export(front, NULL);
    peer_leave(peer);
    if (spared != NULL)
        cut_counted(spared);
    return spared != NULL || !full;
}

static void accept_some(struct front *front)
{
    for (unsigned i = 0; i < ACCEPTED_MAX; i++) {
        struct sockaddr_in from = {0};
        socklen_t size = sizeof from;
        int fd =
            accept4(front->listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && !TAILQ_EMPTY(&front->waiting)) {
            cut_counted(TAILQ_FIRST(&front->waiting));
            continue;
        }
        if (fd < 0)
            return;
        if (make_room(front, from.sin_addr.s_addr)) {
            conn_open(front, fd, from.sin_addr.s_addr);
        } else {
            close(fd);
            atomic_fetch_add(&front->server->cut, 1);
        }
    }
}

/* Threads have run out: clients that take nothing do not keep theirs, longest first. */
static void free_threads(struct front *front)
{
    const int64_t short_ns = FRONT_STALL_SHORT_MS * FRONT_MS;
    struct conn *conn;
    int wanted = 0;

    TAILQ_FOREACH(conn, &front->queued, order)
    wanted += wanted < FRONT_THREADS;
    TAILQ_FOREACH(conn, &front->busy, order)
    wanted -= conn->gone;
    while (wanted-- > 0) {
        struct conn *longest = NULL;

        TAILQ_FOREACH(conn, &front->busy, order)
        {
            if (!conn->gone && conn->out.count > 0 && front->now_ns - conn->moved_ns >= short_ns &&
                (longest == NULL || conn->moved_ns < longest->moved_ns))
                longest = conn;
        }
        if (longest == NULL)
            return;
        cut_counted(longest);
    }
}

/* Bodies and answers that wait for their clients take so much memory together, and no more. */
static void free_memory(struct front *front)
{
    struct conn *conn = TAILQ_FIRST(&front->waiting);

    while (front->held > FRONT_HELD_BYTES_MAX && conn != NULL) {
        struct conn *next = TAILQ_NEXT(conn, order);

        if (conn->in.capacity + conn->out.capacity > REQUEST_HEAD_BYTES_MAX)
            cut_counted(conn);
        conn = next;
    }
}

static void look_at(struct conn_list *list)
{
    struct conn *conn = TAILQ_FIRST(list);

    while (conn != NULL) {
        struct conn *next = TAILQ_NEXT(conn, order);

        conn_look(conn);
        conn = next;
    }
}

static void look(struct front *front)
{
    look_at(&front->waiting);
    look_at(&front->queued);
    look_at(&front->busy);
}

static void watch_fd(struct front *front, int fd, void *mark)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};

    epoll_ctl(front->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void turn(struct front *front)
{
    struct epoll_event events[EVENTS];
    int wait_ms = !TAILQ_EMPTY(&front->queued) ? LOOK_QUEUED_MS
                  : front->connections > 0     ? LOOK_MS
                                               : -1;
    int count = epoll_wait(front->epoll, events, EVENTS, wait_ms);

    front->now_ns = clock_monotonic_ns();
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &front->listener)
            accept_some(front);
        else if (events[i].data.ptr != &front->wake)
            conn_event(events[i].data.ptr, events[i].events);
    }
    if (!TAILQ_EMPTY(&front->queued))
        free_threads(front);
    if (front->held > FRONT_HELD_BYTES_MAX)
        free_memory(front);
}

static void end(struct front *front)
{
    int64_t until_ns = clock_monotonic_ns() + STOP_MS * FRONT_MS;

    epoll_ctl(front->epoll, EPOLL_CTL_DEL, front->listener, NULL);
    epoll_ctl(front->epoll, EPOLL_CTL_DEL, front->wake, NULL);
    close(front->listener);
    front->listener = -1;
    for (;;) {
        struct conn *conn, *next;
        bool flushes = false;

        for (conn = TAILQ_FIRST(&front->waiting); conn != NULL; conn = next) {
            next = TAILQ_NEXT(conn, order);
            flushes |= conn->phase == PHASE_FLUSH;
            if (conn->phase != PHASE_FLUSH)
                conn_cut(conn);
        }
        if ((!flushes && TAILQ_EMPTY(&front->busy) && TAILQ_EMPTY(&front->queued)) ||
            front->now_ns > until_ns)
            break;
        turn(front);
    }
    /* Threads that are still at it write to nobody. */
    while (!TAILQ_EMPTY(&front->queued))
        conn_cut(TAILQ_FIRST(&front->queued));
    while (!TAILQ_EMPTY(&front->waiting))
        conn_cut(TAILQ_FIRST(&front->waiting));
    while (!TAILQ_EMPTY(&front->busy))
        conn_abandon(TAILQ_FIRST(&front->busy));
    free_dead(front);
}

static void *run(void *data)
{
    struct front *front = data;
    int64_t looks_ns = 0;

    while (!atomic_load(&front->stopping)) {
        turn(front);
        if (front->now_ns >= looks_ns) {
            look(front);
            looks_ns = front->now_ns + LOOK_MS * FRONT_MS;
        }
        free_dead(front);
    }
    end(front);
    return NULL;
}

enum status front_run(struct front *front, struct error *err)
{
    front->epoll = epoll_create1(EPOLL_CLOEXEC);
    front->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    front->now_ns = clock_monotonic_ns();
    if (front->epoll < 0 || front->wake < 0)
        return fail(err, ERR_IO, "no descriptor to wait on: %s", strerror(errno));
    watch_fd(front, front->listener, &front->listener);
    watch_fd(front, front->wake, &front->wake);
    int error = pthread_create(&front->thread, NULL, run, front);
    if (error != 0)
        return fail(err, ERR_IO, "no thread can be had: %s", strerror(error));
    front->runs = true;
    return OK;
}

void front_stop(struct front *front)
{
    const uint64_t one = 1;

    atomic_store(&front->stopping, true);
    if (!front->runs)
        return;
    (void)!write(front->wake, &one, sizeof one);
    pthread_join(front->thread, NULL);
    front->runs = false;
}

void front_destroy(struct front *front)
{
    if (front == NULL)
        return;
    if (front->listener >= 0)
        close(front->listener);
    if (front->epoll >= 0)
        close(front->epoll);
    if (front->wake >= 0)
        close(front->wake);
    peers_destroy(front->peers);
    free(front->piece);
    free(front);
}

bool front_client_gone(struct front *front, unsigned ticket)
{
    return ticket < FRONT_THREADS && atomic_load(&front->slots[ticket].gone);
}

void front_wrong_token(struct front *front, unsigned ticket)
{
    if (ticket < FRONT_THREADS)
        atomic_store(&front->slots[ticket].wrong, true);
}

void front_answered(struct front *front, unsigned ticket, bool keep)
{
    if (ticket < FRONT_THREADS)
        atomic_store(&front->slots[ticket].keep, keep);
}
