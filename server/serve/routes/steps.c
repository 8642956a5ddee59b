/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/steps?run=&view=: each step with where its time went.
 *
 *   steps     a row a step: the mean of the host's devices
 *   devices   a row a step and device
 *   idle      a row a device and cause of its idle time
 *   gaps      a row an idle gap, the longest first
 */
#include "analyse/steps/idle.h"

#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "view", .kind = PARAM_WORD, .words = "steps|devices|idle|gaps"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = INT32_MAX},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "family", .kind = PARAM_TEXT},
    {.name = "step_regex", .kind = PARAM_TEXT, .max = 256},
    PARAM_SORT,
    {.name = NULL},
};

static enum status ask(struct request *req, const struct run_traces *run,
                       const struct restriction *restriction, const struct page *page,
                       struct steps *ret_steps, struct table *ret, struct error *err)
{
    if (request_is(req, "view", "devices"))
        return step_devices_table(run, restriction, page, req->arena, ret_steps, ret, err);
    if (request_is(req, "view", "idle") || request_is(req, "view", "gaps")) {
        TRY(steps_find(run, restriction, req->arena, ret_steps, err));
        return request_is(req, "view", "idle")
                   ? idle_table(run, restriction, page, req->arena, ret, err)
                   : gaps_table(run, restriction, page, req->arena, ret, err);
    }
    TRY(request_steps(req, run, restriction, ret_steps, err));
    return steps_rows(run, ret_steps, page, req->arena, ret, err);
}

static enum status get_steps(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct steps steps;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(ask(req, run, &restriction, &page, &steps, &table, err));
    if (restriction.step_range_count > 0 && steps.count == 0)
        return fail(err, ERR_NOT_FOUND, "no step has that number (%.*s)", STR_ARG(steps.rule_text));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "rule", str_of(step_rule_word(steps.rule)));
    json_put_text(&json, "rule_text", steps.rule_text);
    json_put_text(&json, "confidence", str_of(step_trust_word(steps.confidence)));
    json_put_text(&json, "confidence_text", steps.confidence_text);
    json_put_unsigned(&json, "warmup_count", steps.warmup_count);
    json_put_unsigned(&json, "cut_count", steps.cut_count);
    json_put_integer(&json, "total_ps", table.total_ps);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_steps(const struct run_traces *run, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err)
{
    struct steps steps;

    return steps_table(run, &whole, page, arena, &steps, ret, err);
}

static enum status make_gaps(const struct run_traces *run, const struct page *page,
                             struct arena *arena, struct table *ret, struct error *err)
{
    return gaps_table(run, &whole, page, arena, ret, err);
}

static const struct view views[] = {
    {.name = "steps",
     .columns = "#step name host #start_ps #end_ps #dur_ps rule #span_ps #work_start_ps "
                "#work_end_ps #ahead "
                "#delta_ps #warmup #outlier #cut slowest_by #slowest_by_ps #busy_ps #wait_ps "
                "#hidden_communication_ps #compute_ps #communication_ps "
                "#copy_ps #host_ps #input_ps #compile_ps #other_ps #idle_ps",
     .make = make_steps,
     .kept = "",
     .rank = 4},
    {.name = "gaps",
     .columns = "host #device #start_ps #dur_ps cause #cause_ps #step before after",
     .make = make_gaps,
     .rank = 4},
    {.name = NULL},
};

static const struct ahead ahead[] = {{.params = "", .shares = true}, {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "", .limit = 1000, .what = "steps", .rank = 4},
    {.params = "view=idle", .limit = 200, .what = "causes of idle time", .rank = 16},
    {.params = "view=devices", .limit = 200, .what = "steps by device", .rank = 17},
    {.params = NULL}};

static const struct verb verb = {.name = "steps",
                                 .summary = "each step and its breakdown, by device too; idle gaps",
                                 .operands = "RUN"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"step", TOOL_TEXT, true, "The step's number", NULL},
    {"host", TOOL_TEXT, false, "Only this host", NULL},
    TOOL_TOKENS,
    TOOL_END};
static const struct tool_part parts[] = {
    {.member = "steps", .path = "/api/steps", .fixed = "limit=8"},
    {.member = "top",
     .path = "/api/top",
     .fixed = "limit=8",
     .columns = "name kind scope source count total_ps self_ps share"},
    {.member = "gaps", .path = "/api/steps", .fixed = "view=gaps&limit=5"},
    {.path = NULL}};
static const struct tool tools[] = {
    {.name = "explain_step",
     .title = "One step",
     .text = "One step of a run: its duration, the time of each kind of work, why it is slower "
             "than others, its costliest ops and longest idle gaps.",
     .arguments = arguments,
     .parts = parts,
     .rank = 5},
    {.name = NULL}};

const struct route route_steps = {.method = "GET",
                                  .path = "/api/steps",
                                  .handle = get_steps,
                                  .params = params,
                                  .heavy = true,
                                  .is_table = true,
                                  .views = views,
                                  .ahead = ahead,
                                  .in_bundle = in_bundle,
                                  .verb = &verb,
                                  .tools = tools};
