/* SPDX-License-Identifier: Apache-2.0 */
/* The way from the front to CivetWeb: a unix socket in place of its port.
 *
 *   client --TCP--> front --unix--> CivetWeb's threads
 *
 * CivetWeb opens a TCP port of loopback, for it knows nothing else (Debian's build has no unix
 * sockets); any user of the machine could hold its threads there. So its listening descriptor is
 * replaced: a listening unix socket takes the number, and the port is gone. The socket's file is
 * unlinked at once; who holds `place`, an O_PATH descriptor of it, can still connect, nobody else.
 */
#ifndef JVIEWD_SERVE_HTTP_DOORWAY_H
#define JVIEWD_SERVE_HTTP_DOORWAY_H

#include "base/bytes.h"
#include "base/error.h"

struct doorway {
    int place; /* -1: closed */
};

/* Takes the place of this process's listener on that port of 127.0.0.1. `dir` is where the file
 * stands for a moment: NULL or "" take one in /tmp. */
MUST_CHECK enum status doorway_open(struct doorway *doorway, const char *dir, int port,
                                    struct error *err);
void doorway_close(struct doorway *doorway);
/* A descriptor that does not block; -1 with errno where none can be had. */
int doorway_connect(const struct doorway *doorway);

#endif
