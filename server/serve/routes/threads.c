/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/threads?run=: the threads of the hosts, how long each was at something, and at what. */
#include "analyse/ops/threads.h"

#include "serve/answer/table_by.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "track", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    PARAM_SORT,
    {.name = NULL},
};

static enum status make(struct request *req, const struct run_traces *run,
                        const struct restriction *restriction, const struct page *page,
                        struct table *ret, struct error *err)
{
    return threads_table(run, restriction, page, req->arena, ret, err);
}

static enum status get_threads(struct request *req, struct reply *reply, struct error *err)
{
    return reply_table_by(req, reply, make, err);
}

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    static const struct restriction whole = {0};

    return threads_table(run, &whole, page, arena, ret, err);
}

static const struct view views[] = {
    {.name = "threads",
     .columns = "track host process name tid #slice_count #busy_ps %share #start_ps #end_ps "
                "longest #longest_ps slice",
     .make = make_view_of_run,
     .kept = ""},
    {.name = NULL}};

static const struct verb verb = {.name = "threads",
                                 .summary = "threads of the hosts: how long each was busy, at what",
                                 .operands = "RUN"};

const struct route route_threads = {.method = "GET",
                                    .path = "/api/threads",
                                    .handle = get_threads,
                                    .params = params,
                                    .heavy = true,
                                    .is_table = true,
                                    .views = views,
                                    .verb = &verb};
