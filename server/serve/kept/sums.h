/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of blocks (analyse/scan/block_sums.h) for a question about a window, from the server's
 * cache of them. */
#ifndef JVIEWD_SERVE_KEPT_SUMS_H
#define JVIEWD_SERVE_KEPT_SUMS_H

#include "serve/serve.h"

/* The run with the sums of its hosts, where the request names a window and the server keeps sums;
 * else the run itself. Given back before the traces are let go. */
const struct run_traces *sums_take(struct request *req, const struct run_traces *run);
void sums_return(struct request *req, const struct run_traces *lent);

#endif
