/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/chain?run=&slice=: what a slice waited for, link by link to its left; see
 * analyse/steps/chain.h. */
#include "analyse/steps/chain.h"
#include "serve/answer/slice_out.h"
#include "serve/routes.h"
#include "trace/ps.h"

enum { LINKS_USUAL = 64, LINKS_MAX = 10000 };

static const struct param params[] = {
    PARAMS_RUN,
    {.name = "slice", .kind = PARAM_TEXT, .required = true, .max = 64},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = LINKS_MAX},
    {.name = NULL},
};

static void put_links(struct json *json, struct arena *arena, const struct host_trace *host,
                      const struct chain_link *links, uint32_t count)
{
    json_key(json, "rows");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        struct slice slice = trace_slice(host->trace, links[i].slice);

        json_open(json, '{');
        json_put_slice_members(json, arena, host, &slice);
        json_put_text(json, "via", str_of(chain_via_word(links[i].via)));
        json_put_integer(json, "covered_ps", links[i].covered_ps);
        json_put_integer(json, "gap_ps", links[i].gap_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static enum status get_chain(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    uint32_t host;
    slice_id focus;
    bool more;

    TRY(request_traces(req, &run, err));
    TRY(request_slice(req, request_text(req, "slice"), &host, &focus, err));

    uint32_t most = (uint32_t)request_integer(req, "limit", LINKS_USUAL);
    struct chain_link *links = arena_array(req->arena, struct chain_link, most);
    const struct host_trace *at = &run->hosts[host];
    uint32_t count = chain_find(at->trace, at->attribution, focus, most, links, &more);
    int64_t covered_ps = 0, gap_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        ps_add(&covered_ps, links[i].covered_ps);
        ps_add(&gap_ps, links[i].gap_ps);
    }
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "slice", request_text(req, "slice"));
    put_links(&json, req->arena, at, links, count);
    json_put_unsigned(&json, "row_count", count);
    json_put_text(&json, "ended", more ? STR("limit") : STR("begin"));
    json_put_integer(&json, "covered_ps", covered_ps);
    json_put_integer(&json, "gap_ps", gap_ps);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

const struct route route_chain = {
    .method = "GET", .path = "/api/chain", .handle = get_chain, .params = params};
