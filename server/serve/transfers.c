/* GET /api/transfers?run=: memory that moved: how much, which way, how fast, who waited for it. */
#include "analyse/transfers.h"

#include "serve/routes.h"
#include "serve/table_out.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by", .kind = PARAM_WORD, .words = "direction|size|stream|caller|transfer"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = INT32_MAX},
    {.name = "track", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "name", .kind = PARAM_TEXT},
    {.name = "q", .kind = PARAM_TEXT},
    {.name = "sort", .kind = PARAM_TEXT, .max = 256},
    {.name = NULL},
};

static enum status get_transfers(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(transfers_table(run, &restriction, request_text(req, "by"), &page, req->arena, &table,
                        err));
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

const struct route route_transfers = {.method = "GET",
                                      .path = "/api/transfers",
                                      .handle = get_transfers,
                                      .params = params,
                                      .heavy = true};
