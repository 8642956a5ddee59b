/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/kernels?run=: what ran on GPUs, by kernel, and what kept it from running better. */
#include "analyse/ops/kernels.h"

#include "serve/answer/table_out.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by",
     .kind = PARAM_WORD,
     .words = "kernel|variant|activity|range|range-kernel|api|annotation"},
    {.name = "annotation", .kind = PARAM_TEXT},
    PARAM_SORT,
    {.name = NULL},
};

/* What all kernels come to, in the tables that walk them; null in the others. */
static void put_summary(struct json *json, const struct run_traces *run, const struct table *table,
                        const struct kernels_summary *summary)
{
    const struct {
        const char *name;
        int64_t value;
    } sums[] = {
        {"kernel_count", (int64_t)summary->kernel_count},
        {"launch_count", (int64_t)summary->launch_count},
        {"occupancy_known_ps", summary->occupancy_known_ps},
        {"half_occupancy_ps", summary->half_occupancy_ps},
        {"tensor_core_known_ps", summary->tensor_core_known_ps},
        {"tensor_core_ps", summary->tensor_core_ps},
        {"graph_ps", summary->graph_ps},
    };
    bool summed = str_equal(table->by, STR("kernel")) || str_equal(table->by, STR("variant"));

    for (size_t i = 0; i < COUNT(sums); i++) {
        if (summed)
            json_put_integer(json, sums[i].name, sums[i].value);
        else
            json_put_null(json, sums[i].name);
    }
    json_put_text_or_null(json, "missing", kernels_missing(run));
}

static enum status get_kernels(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;
    struct kernels_summary summary;
    const struct kernels_question question = {.by = request_text(req, "by"),
                                              .annotation = request_text(req, "annotation")};

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(kernels(run, &restriction, &question, &page, req->arena, &table, &summary, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_counted(&json, req, &restriction);
    json_put_text(&json, "of", table.of);
    json_put_integer(&json, "total_ps", table.total_ps);
    json_put_integer(&json, "total_self_ps", table.total_self_ps);
    put_summary(&json, run, &table, &summary);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    const struct kernels_question question = {.by = STR("")};
    struct kernels_summary summary;

    return kernels(run, &whole, &question, page, arena, ret, &summary, err);
}

static const struct view views[] = {
    {.name = "kernels",
     .columns = "key name kind #count #total_ps #self_ps %share #mean_ps #stdev_ps #min_ps #p50_ps "
                "#p95_ps "
                "#max_ps #variant_count grid block #registers #shared_bytes %occupancy limited_by "
                "#tensor_core tensor_core_by %waves %tail_share %compute_share %memory_share "
                "#starved_count #starved_ps #queue_p50_ps #launch_p50_ps #call_p50_ps #gap_p50_ps "
                "#launch_count #graph_count op module scope source ncu",
     .make = make_view_of_run,
     .kept = ""},
    {.name = NULL}};

static const struct ahead ahead[] = {{.params = "by=kernel"},
                                     {.params = "by=variant"},
                                     {.params = "by=annotation"},
                                     {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "by=kernel", .limit = 500, .what = "kernels", .rank = 8}, {.params = NULL}};

static const struct verb verb = {
    .name = "kernels", .summary = "GPU kernels: shape, occupancy, queue time", .operands = "RUN"};

const struct route route_kernels = {.method = "GET",
                                    .path = "/api/kernels",
                                    .handle = get_kernels,
                                    .params = params,
                                    .heavy = true,
                                    .is_table = true,
                                    .views = views,
                                    .ahead = ahead,
                                    .in_bundle = in_bundle,
                                    .verb = &verb};
