/* GET /api/steps?run=: each step with where its time went. */
#include "analyse/steps.h"

#include "serve/routes.h"
#include "serve/table_out.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "sort", .kind = PARAM_TEXT, .max = 256},
    {.name = NULL},
};

static enum status get_steps(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(steps_table(run, &restriction, &page, req->arena, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text_or_null(&json, "rule", table.by);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

const struct route route_steps = {
    .method = "GET", .path = "/api/steps", .handle = get_steps, .params = params, .heavy = true};
