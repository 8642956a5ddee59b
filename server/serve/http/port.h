/* SPDX-License-Identifier: Apache-2.0 */
/* A port to listen on. */
#ifndef JVIEWD_SERVE_HTTP_PORT_H
#define JVIEWD_SERVE_HTTP_PORT_H

#include "base/bytes.h"
#include "base/error.h"

/* A descriptor that does not block, and the port that it has; port 0 takes any. ERR_CONFLICT tells
 * who has the port, as "jviewd (pid 4711)", or "another process" where that cannot be seen. */
MUST_CHECK enum status port_listen(const char *address, int port, int *ret_fd, int *ret_port,
                                   struct error *err);

#endif
