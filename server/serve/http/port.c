/* SPDX-License-Identifier: Apache-2.0 */
/* Listens on a port, and says who has it where that cannot be: by way of /proc: port -> socket
 * inode -> the process that has it.
 *
 *   sl  local_address rem_address   st ... uid timeout inode
 *   0: 0100007F:1F90  00000000:0000 0A ... 0   0       123456
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve/http/port.h"

enum { BACKLOG = 1024 };

static unsigned long listening_inode(int port)
{
    FILE *file = fopen("/proc/net/tcp", "r");
    char line[512];
    unsigned long found = 0;

    if (file == NULL)
        return 0;
    while (found == 0 && fgets(line, sizeof line, file) != NULL) {
        unsigned local, state;
        unsigned long inode;

        if (sscanf(line, " %*d: %*8x:%4x %*8x:%*4x %2x %*s %*s %*s %*u %*d %lu", &local, &state,
                   &inode) == 3 &&
            state == 0x0a && local == (unsigned)port)
            found = inode;
    }
    fclose(file);
    return found;
}

static bool has_socket(const char *pid, unsigned long inode)
{
    char path[300], wanted[64], target[64];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(directory)) != NULL;) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);

        if (length <= 0)
            continue;
        target[length] = '\0';
        found = strcmp(target, wanted) == 0;
    }
    closedir(directory);
    return found;
}

static void name_of(const char *pid, char *ret, size_t size)
{
    char path[300];

    snprintf(path, sizeof path, "/proc/%s/comm", pid);
    FILE *file = fopen(path, "r");
    snprintf(ret, size, "%s", "a process");
    if (file == NULL)
        return;
    if (fgets(ret, (int)size, file) != NULL)
        ret[strcspn(ret, "\n")] = '\0';
    fclose(file);
}

static void port_holder(int port, char ret[128])
{
    unsigned long inode = listening_inode(port);
    DIR *directory = inode == 0 ? NULL : opendir("/proc");

    snprintf(ret, 128, "another process");
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[64];

        if (!isdigit((unsigned char)entry->d_name[0]) || !has_socket(entry->d_name, inode))
            continue;
        name_of(entry->d_name, name, sizeof name);
        snprintf(ret, 128, "%s (pid %.16s)", name, entry->d_name);
        break;
    }
    closedir(directory);
}

enum status port_listen(const char *address, int port, int *ret_fd, int *ret_port,
                        struct error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof at;
    int on = 1;

    if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return fail(err, ERR_INVALID,
                    "\"%s\" is not an IPv4 address to listen on; for IPv6 use a proxy in front",
                    address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail(err, ERR_IO, "no socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool listens = bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0 &&
                   getsockname(fd, (struct sockaddr *)&at, &size) == 0;
    int failure = listens ? 0 : errno;
    *ret_fd = fd;
    *ret_port = ntohs(at.sin_port);
    if (listens)
        return OK;
    close(fd);
    if (failure == EADDRINUSE) {
        char holder[128];

        port_holder(port, holder);
        return fail(err, ERR_CONFLICT,
                    "port %d is in use by %s; choose another with --port N or --port auto", port,
                    holder);
    }
    return fail(err, failure == EACCES ? ERR_PERMISSION : ERR_IO, "%s:%d: %s", address, port,
                strerror(failure));
}
