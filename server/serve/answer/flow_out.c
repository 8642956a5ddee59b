/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arrows of slices as JSON, with both ends. */
#include "serve/answer/flow_out.h"

static void put_end(struct json *json, struct arena *arena, const struct host_trace *host,
                    const char *key, slice_id slice, int64_t at_ps)
{
    json_key(json, key);
    json_open(json, '{');
    if (slice < host->trace->slice_count) {
        row_id row = trace_row_of(host->trace, slice);

        json_put_text(json, "slice", slice_text(arena, host, slice));
        json_put_text(json, "track", track_text(arena, host, host->trace->rows[row].track));
    } else {
        json_put_null(json, "slice");
        json_put_null(json, "track");
    }
    json_put_integer(json, "ts_ps", run_time(host, at_ps));
    json_close(json, '}');
}

void json_put_flow(struct json *json, struct arena *arena, const struct host_trace *host,
                   const struct flow *flow)
{
    char id[24];

    json_open(json, '{');
    json_put_text(json, "id", (struct str){.at = id, .count = unsigned_digits(flow->id, id)});
    json_put_text(json, "kind", trace_name(host->trace, flow->kind));
    put_end(json, arena, host, "from", flow->from, flow->from_ps);
    put_end(json, arena, host, "to", flow->to, flow->to_ps);
    json_close(json, '}');
}

void json_put_slice_flows(struct json *json, struct arena *arena, const struct host_trace *host,
                          slice_id slice, uint32_t most)
{
    const struct trace *trace = host->trace;
    uint32_t written = 0;

    json_key(json, "flows");
    json_open(json, '[');
    for (uint64_t i = flow_first_from(trace, slice);
         i < trace->flow_count && trace->flows[i].from == slice && written < most; i++, written++)
        json_put_flow(json, arena, host, &trace->flows[i]);
    for (uint64_t i = flow_first_to(trace, slice); i < trace->flow_count && written < most; i++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[i]];

        if (flow->to != slice)
            break;
        if (flow->from == slice)
            continue;
        json_put_flow(json, arena, host, flow);
        written++;
    }
    json_close(json, ']');
}
