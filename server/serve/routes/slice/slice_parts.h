/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of /api/slice: the slice that is told, and its parts in two files. */
#ifndef JVIEWD_SERVE_ROUTES_SLICE_SLICE_PARTS_H
#define JVIEWD_SERVE_ROUTES_SLICE_SLICE_PARTS_H

#include "serve/answer/slice_out.h"

struct subject {
    struct arena *arena;
    const struct run_traces *run;
    uint32_t host_index;
    const struct host_trace *host;
    const struct trace *trace;
    struct slice slice;
};

/* slice_facts.c: op, module, scope, source, execution, FLOPs, bytes, with "reasons". */
void slice_put_facts(struct json *json, const struct subject *subject);
/* slice_facts.c: "mates": how it compares with the others of its name. */
void slice_put_mates(struct json *json, const struct subject *subject);
/* slice_stack.c: "stack": the Python calls that made its op. */
void slice_put_stack(struct json *json, const struct subject *subject);

#endif
