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

#include "capture/address.h"

enum { CONNECT_MS = 5000, LOOK_MS = 200 };

/* 0, or errno of what failed. */
static int finish(int fd, const struct connect_wish *wish)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0, ready = 0;
    socklen_t size = sizeof error;

    for (int waited_ms = 0; ready == 0 && waited_ms < CONNECT_MS; waited_ms += LOOK_MS) {
        ready = poll(&wait, 1, LOOK_MS);
        if (!wish->go_on(wish->data))
            return ECANCELED;
    }
    if (ready <= 0)
        return ready == 0 ? ETIMEDOUT : errno;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* A connected socket, or -1 with *ret_error set. */
static int try_address(const struct addrinfo *address, const struct connect_wish *wish,
                       int *ret_error)
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
        *ret_error = finish(fd, wish);
    if (*ret_error != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* The address that is looked at is the one that is connected to: a name may mean another a moment
 * later. -1 with *ret_error set; EACCES: there was none that may be taken. */
static int try_all(const struct addrinfo *found, const struct connect_wish *wish, int *ret_error)
{
    int fd = -1;

    *ret_error = EACCES;
    for (const struct addrinfo *at = found; at != NULL && fd < 0 && *ret_error != ECANCELED;
         at = at->ai_next) {
        if (!wish->public_only || address_is_public(at->ai_addr))
            fd = try_address(at, wish, ret_error);
    }
    return fd;
}

static enum status unconnected(const struct connect_wish *wish, int error, struct error *err)
{
    if (error == ECANCELED)
        return fail(err, ERR_CANCELLED, "it was told to end");
    if (error == EACCES && wish->public_only)
        return fail(err, ERR_PERMISSION,
                    "%s is on this machine or a private network: this server records it only if "
                    "started with --allow-capture=HOST:PORT naming it",
                    wish->host);
    return fail(err, ERR_NOT_FOUND, "nothing answers at %s:%s (%s)", wish->host, wish->port,
                strerror(error));
}

enum status connect_to(const struct connect_wish *wish, int *ret_fd, struct error *err)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int error;

    int code = getaddrinfo(wish->host, wish->port, &wanted, &found);
    if (code != 0)
        return fail(err, ERR_NOT_FOUND, "%s: %s", wish->host, gai_strerror(code));
    *ret_fd = try_all(found, wish, &error);
    freeaddrinfo(found);
    return *ret_fd >= 0 ? OK : unconnected(wish, error, err);
}
