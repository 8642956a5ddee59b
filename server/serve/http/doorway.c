/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a listening unix socket in the place of CivetWeb's port, and connects to it. */
#include "serve/http/doorway.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 512 };

static bool listens_on(int fd, int port)
{
    struct sockaddr_in at = {0};
    socklen_t size = sizeof at, one = sizeof(int);
    int listens = 0;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &one) == 0 && listens &&
           getsockname(fd, (struct sockaddr *)&at, &size) == 0 && at.sin_family == AF_INET &&
           ntohs(at.sin_port) == port;
}

static int listener_of(int port)
{
    DIR *directory = opendir("/proc/self/fd");
    int found = -1;

    if (directory == NULL)
        return -1;
    for (struct dirent *entry; found < 0 && (entry = readdir(directory)) != NULL;) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && listens_on(fd, port))
            found = fd;
    }
    closedir(directory);
    return found;
}

static enum status listen_in(const char *dir, int *ret_fd, int *ret_place, struct error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int below = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *ret_fd = *ret_place = -1;
    if (below >= 0 && fd >= 0) { /* by its descriptor: a path of any length fits */
        snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/http-%d", below, (int)getpid());
        unlink(at.sun_path);
        if (bind(fd, (const struct sockaddr *)&at, sizeof at) == 0) {
            *ret_place = open(at.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            unlink(at.sun_path);
        }
    }
    int failure = errno;
    if (below >= 0)
        close(below);
    if (*ret_place >= 0 && listen(fd, BACKLOG) == 0) {
        *ret_fd = fd;
        return OK;
    }
    if (*ret_place >= 0)
        close(*ret_place);
    if (fd >= 0)
        close(fd);
    return fail(err, ERR_IO, "%s: no socket can be made there: %s", dir, strerror(failure));
}

int doorway_connect(const struct doorway *doorway)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d", doorway->place);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

/* CivetWeb's thread sleeps in poll(2) on what the descriptor was. A connection there wakes it; it
 * looks at what the descriptor is now, and would sleep on if nothing waited there. */
static void knock(const struct doorway *doorway, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int waits = doorway_connect(doorway);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    if (fd >= 0) {
        (void)!connect(fd, (const struct sockaddr *)&at, sizeof at);
        close(fd);
    }
    if (waits >= 0)
        close(waits);
}

enum status doorway_open(struct doorway *doorway, const char *dir, int port, struct error *err)
{
    char own[] = "/tmp/jviewd-http-XXXXXX";
    bool makes = dir == NULL || dir[0] == '\0';
    int fd, place, listener = listener_of(port);

    doorway->place = -1;
    if (listener < 0)
        return fail(err, ERR_IO, "port %d is open, but /proc/self/fd does not list it", port);
    if (makes && mkdtemp(own) == NULL)
        return fail(err, ERR_IO, "%s: %s", own, strerror(errno));
    enum status status = listen_in(makes ? own : dir, &fd, &place, err);
    if (makes)
        rmdir(own);
    TRY(status);
    if (dup3(fd, listener, O_CLOEXEC) < 0) {
        close(fd);
        close(place);
        return fail(err, ERR_IO, "no descriptor: %s", strerror(errno));
    }
    close(fd);
    doorway->place = place;
    knock(doorway, port);
    return OK;
}

void doorway_close(struct doorway *doorway)
{
    if (doorway->place >= 0)
        close(doorway->place);
    doorway->place = -1;
}
