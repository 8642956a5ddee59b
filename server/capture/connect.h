/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection that does not hang: to a name, within seconds. */
#ifndef JVIEWD_CAPTURE_CONNECT_H
#define JVIEWD_CAPTURE_CONNECT_H

#include "base/bytes.h"
#include "base/error.h"

/* Tries each address of the name; `go_on` is asked meanwhile, but not while the name is looked up.
 * *ret_fd does not block; the caller closes it. */
MUST_CHECK enum status connect_to(const char *host, const char *port, bool (*go_on)(void *data),
                                  void *data, int *ret_fd, struct error *err);

#endif
