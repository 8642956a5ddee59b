/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from what caused to what was caused. */
#ifndef JVIEWD_SERVE_ANSWER_FLOW_OUT_H
#define JVIEWD_SERVE_ANSWER_FLOW_OUT_H

#include "serve/answer/slice_out.h"

/* One arrow: {id, kind, from: {slice, track, ts_ps}, to: {...}}. */
void json_put_flow(struct json *json, struct arena *arena, const struct host_trace *host,
                   const struct flow *flow);
/* "flows": those that begin or end at the slice, at most `most`. */
void json_put_slice_flows(struct json *json, struct arena *arena, const struct host_trace *host,
                          slice_id slice, uint32_t most);

#endif
