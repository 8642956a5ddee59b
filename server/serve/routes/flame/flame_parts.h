/* SPDX-License-Identifier: Apache-2.0 */
/* Inside /api/flame: trees for speedscope.app. */
#ifndef JVIEWD_SERVE_ROUTES_FLAME_FLAME_PARTS_H
#define JVIEWD_SERVE_ROUTES_FLAME_FLAME_PARTS_H

#include "analyse/flame/flame.h"
#include "serve/answer/reply.h"

/* One "sampled" profile a tree: weights of one question, or of several. */
void reply_speedscope(struct reply *reply, const struct run_traces *run, const struct flame *trees,
                      uint32_t count);

#endif
