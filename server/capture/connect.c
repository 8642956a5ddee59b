/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves a name, and tries its addresses one after another, each for some seconds at most. */
#include "capture/connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_MS = 5000, LOOK_MS = 200 };

struct asker {
    bool (*go_on)(void *data);
    void *data;
};

/* 0, or errno of what failed. */
static int finish(int fd, const struct asker *asker)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0, ready = 0;
    socklen_t size = sizeof error;

    for (int waited_ms = 0; ready == 0 && waited_ms < CONNECT_MS; waited_ms += LOOK_MS) {
        ready = poll(&wait, 1, LOOK_MS);
        if (!asker->go_on(asker->data))
            return ECANCELED;
    }
    if (ready <= 0)
        return ready == 0 ? ETIMEDOUT : errno;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* A connected socket, or -1 with *ret_error set. */
static int try_address(const struct addrinfo *address, const struct asker *asker, int *ret_error)
{
    int on = 1;
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    address->ai_protocol);

    if (fd < 0) {
        *ret_error = errno;
        return -1;
    }
    *ret_error = connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (*ret_error == EINPROGRESS)
        *ret_error = finish(fd, asker);
    if (*ret_error != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

enum status connect_to(const char *host, const char *port, bool (*go_on)(void *data), void *data,
                       int *ret_fd, struct error *err)
{
    const struct asker asker = {go_on, data};
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int error = ECONNREFUSED, fd = -1;

    int code = getaddrinfo(host, port, &wanted, &found);
    if (code != 0)
        return fail(err, ERR_NOT_FOUND, "%s: %s", host, gai_strerror(code));
    for (const struct addrinfo *at = found; at != NULL && fd < 0 && error != ECANCELED;
         at = at->ai_next)
        fd = try_address(at, &asker, &error);
    freeaddrinfo(found);
    if (error == ECANCELED && fd < 0)
        return fail(err, ERR_CANCELLED, "it was told to end");
    if (fd < 0)
        return fail(err, ERR_NOT_FOUND, "nothing answers at %s:%s (%s)", host, port,
                    strerror(error));
    *ret_fd = fd;
    return OK;
}
