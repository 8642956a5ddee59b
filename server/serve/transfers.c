/* GET /api/transfers?run=: memory that moved: how much, which way, how fast, who waited for it. */
#include "analyse/transfers.h"

#include "serve/routes.h"
#include "serve/table_by.h"

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
    return reply_table_by(req, reply, transfers_table, err);
}

const struct route route_transfers = {.method = "GET",
                                      .path = "/api/transfers",
                                      .handle = get_transfers,
                                      .params = params,
                                      .heavy = true};
