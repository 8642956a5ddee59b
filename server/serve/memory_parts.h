/* Inside memory*.c: the views of GET /api/memory. */
#ifndef JVIEWD_SERVE_MEMORY_PARTS_H
#define JVIEWD_SERVE_MEMORY_PARTS_H

#include "serve/request.h"

/* view=pprof: the run's snapshots, and the samples of one of them. */
MUST_CHECK enum status reply_snapshots(struct request *req, struct reply *reply, struct error *err);

#endif
