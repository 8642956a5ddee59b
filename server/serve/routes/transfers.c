/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/transfers?run=: memory that moved: how much, which way, how fast, who waited for it. */
#include "analyse/comm/transfers.h"

#include "serve/answer/table_by.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"

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
    PARAM_SORT,
    {.name = NULL},
};

static enum status find(struct request *req, const struct run_traces *run,
                        const struct restriction *restriction, struct transfers *ret,
                        struct error *err)
{
    struct memo *memo = request_shared(req, run);
    const struct transfers *found;
    const struct steps *steps;

    if (memo == NULL) {
        TRY(request_all_steps(req, run, &steps, err));
        return transfers_find(run, restriction, steps, req->arena, ret, err);
    }
    TRY(memo_transfers(memo, &found, err));
    *ret = *found;
    return OK;
}

static enum status make(struct request *req, const struct run_traces *run,
                        const struct restriction *restriction, const struct page *page,
                        struct table *ret, struct error *err)
{
    struct transfers found;

    TRY(find(req, run, restriction, &found, err));
    return transfers_of(run, &found, request_text(req, "by"), page, req->arena, ret, err);
}

static enum status get_transfers(struct request *req, struct reply *reply, struct error *err)
{
    return reply_table_by(req, reply, make, err);
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    return transfers_table(run, &whole, STR("transfer"), page, arena, ret, err);
}

static const struct view views[] = {{.name = "transfers",
                                     .columns = "direction name host #device track stream slice "
                                                "#start_ps #dur_ps #bytes %bytes_per_s memory "
                                                "#blocking #overlapped_ps caller launch #step",
                                     .make = make_view_of_run},
                                    {.name = NULL}};

static const struct ahead ahead[] = {{.params = "", .shares = true}, {.params = NULL}};

static const struct verb verb = {.name = "transfers",
                                 .summary = "memory that moved: which way, how much, how fast",
                                 .operands = "RUN"};

const struct route route_transfers = {.method = "GET",
                                      .path = "/api/transfers",
                                      .handle = get_transfers,
                                      .params = params,
                                      .heavy = true,
                                      .is_table = true,
                                      .views = views,
                                      .ahead = ahead,
                                      .verb = &verb};
