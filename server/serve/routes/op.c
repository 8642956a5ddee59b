/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/op?run=&name=: when an op ran: by step, its longest slice, how its durations lie. */
#include "analyse/ops/op_times.h"

#include "serve/answer/slice_out.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    {.name = "by", .kind = PARAM_WORD, .words = "op|name"},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = PAGE_LIMIT_MAX},
    PARAMS_FORMAT,
    {.name = NULL},
};

static void put_steps(struct json *json, const struct run_traces *run, const struct op_times *times,
                      uint32_t limit)
{
    json_key(json, "steps");
    json_open(json, '[');
    for (uint32_t i = 0; i < times->step_count && i < limit; i++) {
        const struct op_in_step *step = &times->steps[i];

        json_open(json, '{');
        json_put_integer(json, "step", step->number);
        json_put_text(json, "host", run->hosts[step->host].name);
        json_put_integer(json, "start_ps", step->start_ps);
        json_put_integer(json, "dur_ps", step->dur_ps);
        json_put_unsigned(json, "count", step->count);
        json_put_integer(json, "self_ps", step->self_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_unsigned(json, "step_count", times->step_count);
    json_key(json, "outside");
    json_open(json, '{');
    json_put_unsigned(json, "count", times->outside.count);
    json_put_integer(json, "self_ps", times->outside.self_ps);
    json_close(json, '}');
}

static void put_spread(struct json *json, const struct op_times *times)
{
    if (!times->has_spread) {
        json_put_null(json, "histogram");
        return;
    }
    json_key(json, "histogram");
    json_open(json, '{');
    json_key(json, "bounds_ps");
    json_open(json, '[');
    for (int i = 0; i <= OP_TIMES_BUCKETS; i++)
        json_add_integer(json, times->bounds_ps[i]);
    json_close(json, ']');
    json_key(json, "counts");
    json_open(json, '[');
    for (int i = 0; i < OP_TIMES_BUCKETS; i++)
        json_add_unsigned(json, times->counts[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static enum status get_op(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct op_times times;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    if (restriction.name.count == 0)
        return fail(err, ERR_INVALID, "name= is missing: the op's name as /api/top has it");
    TRY(op_times(run, &restriction, !request_is(req, "by", "name"), req->arena, &times, err));
    if (times.slice_count == 0)
        return fail(err, ERR_NOT_FOUND, "nothing of the name \"%.*s\" ran in what is asked for",
                    STR_ARG(restriction.name));

    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "name", restriction.name);
    json_put_text_or_null(&json, "module", restriction.module);
    json_put_text(&json, "by", request_is(req, "by", "name") ? STR("name") : STR("op"));
    json_put_counted(&json, req, &restriction);
    json_put_unsigned(&json, "event_count", times.slice_count);
    json_put_integer(&json, "self_ps", times.self_ps);
    json_put_integer(&json, "min_ps", times.min_ps);
    json_put_integer(&json, "max_ps", times.max_ps);
    json_put_text(&json, "longest", slice_text(req->arena, &run->hosts[times.host], times.longest));
    put_steps(&json, run, &times, (uint32_t)request_integer(req, "limit", PAGE_LIMIT_MAX));
    put_spread(&json, &times);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return reply_fields(req, reply, err);
}

const struct route route_op = {
    .method = "GET", .path = "/api/op", .handle = get_op, .params = params, .heavy = true};
