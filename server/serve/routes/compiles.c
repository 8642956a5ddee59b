/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/compiles?run=: what was compiled, why, and what that took. */
#include "analyse/compiles/compiles.h"

#include "serve/answer/table_by.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"

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
    PARAM_SORT,
    {.name = NULL},
};

static enum status make(struct request *req, const struct run_traces *run,
                        const struct restriction *restriction, const struct page *page,
                        struct table *ret, struct error *err)
{
    const struct steps *all;

    TRY(request_all_steps(req, run, &all, err));
    return compiles_table(run, restriction, all, request_text(req, "by"), page, req->arena, ret,
                          err);
}

static enum status get_compiles(struct request *req, struct reply *reply, struct error *err)
{
    return reply_table_by(req, reply, make, err);
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    return compiles_table(run, &whole, NULL, STR("compile"), page, arena, ret, err);
}

static const struct view views[] = {
    {.name = "compiles",
     .columns =
         "function module program_id host track slice #start_ps #dur_ps #total_ps %share #trace_ps "
         "#lower_ps #cache_ps #passes_ps #codegen_ps #autotune_ps #compiler_ps #other_ps "
         "#backend_ps "
         "#step #nth #cached change changed",
     .make = make_view_of_run},
    {.name = NULL}};

static const struct ahead ahead[] = {{.params = ""}, {.params = NULL}};

static const struct verb verb = {.name = "compiles",
                                 .summary = "what was compiled, why, and how long it took",
                                 .operands = "RUN"};

const struct route route_compiles = {.method = "GET",
                                     .path = "/api/compiles",
                                     .handle = get_compiles,
                                     .params = params,
                                     .heavy = true,
                                     .is_table = true,
                                     .views = views,
                                     .ahead = ahead,
                                     .verb = &verb};
