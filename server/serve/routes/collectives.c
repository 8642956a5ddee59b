/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/collectives?run=: what devices say to each other, how much of it is exposed, and who
 * waits for whom; view=arrivals: each execution by itself. */
#include "analyse/comm/collectives.h"

#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by", .kind = PARAM_WORD, .words = "op|kind|axis|size|group|device|host"},
    {.name = "view", .kind = PARAM_WORD, .words = "table|arrivals"},
    PARAM_SORT,
    {.name = NULL},
};

static enum status find(struct request *req, const struct run_traces *run,
                        const struct restriction *restriction, struct collectives *ret,
                        struct error *err)
{
    struct memo *memo = request_shared(req, run);
    const struct collectives *found;

    if (memo == NULL)
        return collectives_find(run, restriction, req->arena, ret, err);
    TRY(memo_collectives(memo, &found, err));
    *ret = *found;
    return OK;
}

static enum status get_collectives(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;
    struct collectives found;
    const struct steps *steps;
    bool arrivals = request_is(req, "view", "arrivals");

    TRY(request_all_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(request_all_steps(req, run, &steps, err));
    if (arrivals) {
        TRY(collectives_arrivals(run, &restriction, steps, &page, req->arena, &table, err));
    } else {
        TRY(find(req, run, &restriction, &found, err));
        TRY(collectives_of(run, &found, steps, request_text(req, "by"), &page, req->arena, &table,
                           err));
    }
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    if (!arrivals) {
        json_put_text(&json, "by", table.by);
        json_put_integer(&json, "total_ps", table.total_ps);
        json_put_integer(&json, "exposed_ps", table.total_self_ps);
    }
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    return collectives_table(run, &whole, STR(""), page, arena, ret, err);
}

static const struct view views[] = {
    {.name = "collectives",
     .columns =
         "name kind axis #group_size #bytes #count #total_ps #exposed_ps #hidden_ps %exposed_share "
         "%share #mean_ps #min_ps #max_ps %bus_bytes_per_s #wait_ps %wait_share last %last_share "
         "algorithm protocol dtype #async #blocked_ps #spread_ps %moving_bus_bytes_per_s "
         "%alg_bytes_per_s %bus_factor #bytes_total #group_count members module scope host device "
         "longest #longest_start_ps",
     .make = make_view_of_run,
     .kept = "",
     .others = true},
    {.name = NULL}};

static const struct ahead ahead[] = {{.params = "", .shares = true}, {.params = NULL}};

static const struct verb verb = {
    .name = "collectives",
    .summary = "communication between devices: exposed time, bandwidth, who waits for whom",
    .operands = "RUN"};

const struct route route_collectives = {.method = "GET",
                                        .path = "/api/collectives",
                                        .handle = get_collectives,
                                        .params = params,
                                        .heavy = true,
                                        .is_table = true,
                                        .views = views,
                                        .ahead = ahead,
                                        .verb = &verb};
