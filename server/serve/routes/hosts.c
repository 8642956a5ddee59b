/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/hosts?run=&by=&view=: which host or device the others wait for.
 *
 *   by=host|device   a row a host, or a row a device
 *   view=grid        a row a step and host or device: when it began and ended, who came last
 */
#include "analyse/steps/hosts.h"

#include "analyse/steps/align.h"
#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by", .kind = PARAM_WORD, .words = "host|device"},
    {.name = "view", .kind = PARAM_WORD, .words = "table|grid"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "family", .kind = PARAM_TEXT},
    {.name = "step_regex", .kind = PARAM_TEXT, .max = 256},
    PARAM_SORT,
    {.name = NULL},
};

static enum status get_hosts(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct steps steps;
    struct lanes lanes;
    struct table table;
    bool grid = request_is(req, "view", "grid");

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(request_steps(req, run, &restriction, &steps, err));
    lanes_find(run, &steps, request_is(req, "by", "device") ? LANES_BY_DEVICE : LANES_BY_HOST,
               req->arena, &lanes);
    if (grid)
        TRY(lanes_grid(run, &lanes, &page, req->arena, &table, err));
    else
        TRY(lanes_table(run, &lanes, request_alignments(req), &page, req->arena, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_text(&json, "view", grid ? STR("grid") : STR("table"));
    json_put_text(&json, "rule", str_of(step_rule_word(steps.rule)));
    json_put_text(&json, "confidence", str_of(step_trust_word(steps.confidence)));
    json_put_unsigned(&json, "step_count", lanes.step_count);
    json_put_unsigned(&json, "compared_count", lanes.compared_count);
    json_put_text(&json, "basis", str_of(lanes_basis_word(lanes.basis)));
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    struct steps steps;
    struct lanes lanes;

    TRY(steps_find(run, &whole, arena, &steps, err));
    lanes_find(run, &steps, LANES_BY_HOST, arena, &lanes);
    return lanes_table(run, &lanes, align_hosts(run, arena), page, arena, ret, err);
}

static const struct view views[] = {
    {.name = "hosts",
     .columns =
         "name host #device #device_count #step_count #step_median_ps #step_min_ps #step_max_ps "
         "#busy_ps #idle_ps %busy_share #communication_ps #hidden_communication_ps #op_wait_ps "
         "#wait_ps %wait_share #last_count #compared_count #lag_ps #skew_ps #straggler",
     .make = make_view_of_run,
     .kept = "",
     .rank = 1},
    {.name = NULL}};

static const struct ahead ahead[] = {{.params = "", .shares = true}, {.params = NULL}};

static const struct verb verb = {
    .name = "hosts", .summary = "which host or device the others wait for", .operands = "RUN"};

const struct route route_hosts = {.method = "GET",
                                  .path = "/api/hosts",
                                  .handle = get_hosts,
                                  .params = params,
                                  .heavy = true,
                                  .is_table = true,
                                  .views = views,
                                  .ahead = ahead,
                                  .verb = &verb};
