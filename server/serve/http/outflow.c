/* SPDX-License-Identifier: Apache-2.0 */
/* A queue between the thread that makes a stream and the connection that sends it; a file takes
 * what the client is slow to read. */
#include "serve/http/outflow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

enum { PIECE_BYTES = 256 << 10 };

struct outflow {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *dir;
    struct outflow_room *shared;
    int fd;             /* -1: no file yet, or none to be had */
    bool refused;       /* the disk has, once: no second try */
    int64_t sent, made; /* positions in the file */
    struct bytes piece; /* from hand to hand, behind all that is in the file */
    bool gone, ended;
    enum status status; /* once it has ended */
};

struct outflow *outflow_create(const char *dir, struct outflow_room *room)
{
    struct outflow *outflow = memory_resize(NULL, 1, sizeof *outflow);

    *outflow = (struct outflow){.dir = dir, .shared = room, .fd = -1, .refused = dir == NULL};
    pthread_mutex_init(&outflow->lock, NULL);
    pthread_cond_init(&outflow->changed, NULL);
    return outflow;
}

void outflow_destroy(struct outflow *outflow)
{
    if (outflow->fd >= 0)
        close(outflow->fd);
    atomic_fetch_sub(&outflow->shared->waiting, outflow->made - outflow->sent);
    pthread_cond_destroy(&outflow->changed);
    pthread_mutex_destroy(&outflow->lock);
    free(outflow);
}

static int open_nameless(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || snprintf(path, sizeof path, "%s/outflow-XXXXXX", dir) >= (int)sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Behind what is in the file; the sender reads in front of it meanwhile. */
static bool keep(struct outflow *outflow, struct bytes piece)
{
    struct error ignored = {0};

    if (outflow->refused || atomic_load(&outflow->shared->waiting) >= outflow->shared->bytes_max)
        return false;
    if (outflow->fd < 0)
        outflow->fd = open_nameless(outflow->dir);
    outflow->refused = outflow->fd < 0 || file_write_all(outflow->fd, piece.at, piece.count,
                                                         (uint64_t)outflow->made, &ignored) != OK;
    return !outflow->refused;
}

/* With the lock held, until all that is in the file has been sent. */
static void wait_until_empty(struct outflow *outflow)
{
    while (outflow->sent < outflow->made && !outflow->gone)
        pthread_cond_wait(&outflow->changed, &outflow->lock);
}

static void hand_over(struct outflow *outflow, struct bytes piece)
{
    wait_until_empty(outflow);
    outflow->piece = piece;
    pthread_cond_broadcast(&outflow->changed);
    while (outflow->piece.count > 0 && !outflow->gone)
        pthread_cond_wait(&outflow->changed, &outflow->lock);
}

enum status outflow_put(void *data, struct bytes piece, struct error *err)
{
    struct outflow *outflow = data;

    if (piece.count == 0)
        return OK;
    pthread_mutex_lock(&outflow->lock);
    if (outflow->made - outflow->sent >= OUTFLOW_AHEAD_BYTES_MAX)
        wait_until_empty(outflow);
    if (outflow->made == outflow->sent)
        outflow->made = outflow->sent = 0;
    pthread_mutex_unlock(&outflow->lock);
    bool kept = keep(outflow, piece);
    pthread_mutex_lock(&outflow->lock);
    if (kept) {
        outflow->made += (int64_t)piece.count;
        atomic_fetch_add(&outflow->shared->waiting, (int64_t)piece.count);
        pthread_cond_broadcast(&outflow->changed);
    } else {
        hand_over(outflow, piece);
    }
    bool gone = outflow->gone;
    pthread_mutex_unlock(&outflow->lock);
    return gone ? fail(err, ERR_CANCELLED, "the client disconnected") : OK;
}

void outflow_end(struct outflow *outflow, enum status status)
{
    pthread_mutex_lock(&outflow->lock);
    outflow->ended = true;
    outflow->status = status;
    pthread_cond_broadcast(&outflow->changed);
    pthread_mutex_unlock(&outflow->lock);
}

/* What is to be sent next; nothing: it has ended. A piece of the file is read into `room`. */
static enum status take(struct outflow *outflow, uint8_t *room, struct bytes *ret,
                        struct error *err)
{
    pthread_mutex_lock(&outflow->lock);
    while (outflow->sent == outflow->made && outflow->piece.count == 0 && !outflow->ended)
        pthread_cond_wait(&outflow->changed, &outflow->lock);
    int64_t at = outflow->sent, waits = outflow->made - at;
    bool failed = outflow->ended && outflow->status != OK;
    *ret = waits > 0 ? (struct bytes){.at = room} : outflow->piece;
    pthread_mutex_unlock(&outflow->lock);
    if (failed)
        return fail(err, outflow->status, "the answer could not be produced");
    if (waits == 0)
        return OK;
    ssize_t got = pread(outflow->fd, room, waits < PIECE_BYTES ? (size_t)waits : PIECE_BYTES, at);
    if (got <= 0)
        return fail(err, ERR_IO, "the data waiting for the client cannot be read: %s",
                    got < 0 ? strerror(errno) : "it was cut off");
    ret->count = (size_t)got;
    return OK;
}

static void taken(struct outflow *outflow, struct bytes piece, const uint8_t *room)
{
    pthread_mutex_lock(&outflow->lock);
    if (piece.at == room) {
        outflow->sent += (int64_t)piece.count;
        atomic_fetch_sub(&outflow->shared->waiting, (int64_t)piece.count);
    } else {
        outflow->piece.count = 0;
    }
    pthread_cond_broadcast(&outflow->changed);
    pthread_mutex_unlock(&outflow->lock);
}

/* Who makes hears of it with the next piece. */
static void leave(struct outflow *outflow)
{
    pthread_mutex_lock(&outflow->lock);
    outflow->gone = true;
    pthread_cond_broadcast(&outflow->changed);
    while (!outflow->ended)
        pthread_cond_wait(&outflow->changed, &outflow->lock);
    pthread_mutex_unlock(&outflow->lock);
}

enum status outflow_send(struct outflow *outflow, pack_write *write, void *to, struct error *err)
{
    uint8_t *room = memory_resize(NULL, PIECE_BYTES, 1);
    struct bytes piece = {0};
    enum status status;

    while ((status = take(outflow, room, &piece, err)) == OK && piece.count > 0) {
        status = write(to, piece, err);
        if (status != OK)
            break;
        taken(outflow, piece, room);
    }
    leave(outflow);
    free(room);
    return status;
}
