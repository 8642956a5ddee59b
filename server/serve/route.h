/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all endpoints, on top of serve/: what asks them hands it down in its services. */
#ifndef JVIEWD_SERVE_ROUTE_H
#define JVIEWD_SERVE_ROUTE_H

#include "serve/serve.h"

extern const struct route_table routes;

#endif
