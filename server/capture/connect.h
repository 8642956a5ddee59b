/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection that does not hang: to a name, within seconds. */
#ifndef JVIEWD_CAPTURE_CONNECT_H
#define JVIEWD_CAPTURE_CONNECT_H

#include "base/bytes.h"
#include "base/error.h"

struct connect_wish {
    const char *host, *port;
    bool public_only;          /* no address of this machine or of its own networks */
    bool (*go_on)(void *data); /* asked meanwhile, but not while the name is looked up */
    void *data;
};

/* Tries each address of the name. ERR_PERMISSION: all are of a kind that is not wanted.
 * *ret_fd does not block; the caller closes it. */
MUST_CHECK enum status connect_to(const struct connect_wish *wish, int *ret_fd, struct error *err);

#endif
