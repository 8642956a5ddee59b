/* GET /api/compiles?run=: what was compiled, why, and what that took. */
#include "analyse/compiles.h"

#include "serve/routes.h"
#include "serve/table_out.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by", .kind = PARAM_WORD, .words = "function|compile"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "track", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "module", .kind = PARAM_TEXT},
    {.name = "name", .kind = PARAM_TEXT},
    {.name = "q", .kind = PARAM_TEXT},
    {.name = "sort", .kind = PARAM_TEXT, .max = 256},
    {.name = NULL},
};

static enum status get_compiles(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(compiles_table(run, &restriction, request_text(req, "by"), &page, req->arena, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_integer(&json, "total_ps", table.total_ps);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

const struct route route_compiles = {.method = "GET",
                                     .path = "/api/compiles",
                                     .handle = get_compiles,
                                     .params = params,
                                     .heavy = true};
