/* SPDX-License-Identifier: Apache-2.0 */
/* Inside memory*.c: the views of GET /api/memory. */
#ifndef JVIEWD_SERVE_ROUTES_MEMORY_MEMORY_H
#define JVIEWD_SERVE_ROUTES_MEMORY_MEMORY_H

#include "analyse/memory/memory.h"
#include "serve/answer/request.h"

/* view=peak: who held memory at the peak or at another moment. */
MUST_CHECK enum status reply_peak(struct request *req, struct reply *reply, struct error *err);
/* view=layers: who held how much over time. */
MUST_CHECK enum status reply_layers(struct request *req, struct reply *reply, struct error *err);
/* view=heap: what the compiler planned for a module. */
MUST_CHECK enum status reply_heap(struct request *req, struct reply *reply, struct error *err);
/* view=pprof: the run's snapshots, and the samples of one of them. */
MUST_CHECK enum status reply_snapshots(struct request *req, struct reply *reply, struct error *err);

/* A row an allocator. */
struct table memory_allocators_table(struct arena *arena, const struct memory_timeline *timeline);

struct json;
/* Below zero is unknown: null. */
void json_put_known(struct json *json, const char *key, int64_t value);
/* An allocator's members, and why some are null. */
void json_put_allocator(struct json *json, const struct memory_allocator *allocator);
void json_put_allocator_reasons(struct json *json, const struct memory_allocator *allocator);

#endif
