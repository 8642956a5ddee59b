/* GET /api/overview?run=: the first answer, on one page. */
#include "analyse/overview.h"

#include "serve/routes.h"
#include "serve/table_out.h"

static const struct param params[] = {
    PARAMS_RUN, PARAMS_RESTRICTION, PARAMS_FORMAT, {.name = NULL}};

static void put_step(struct json *json, const struct overview *overview)
{
    const struct {
        const char *key;
        int64_t value;
    } figures[] = {
        {"total_ps", overview->total_ps}, {"median_ps", overview->median_ps},
        {"mean_ps", overview->mean_ps},   {"stdev_ps", overview->stdev_ps},
        {"min_ps", overview->min_ps},     {"max_ps", overview->max_ps},
        {"p95_ps", overview->p95_ps},
    };

    json_key(json, "step");
    json_open(json, '{');
    json_put_unsigned(json, "count", overview->step_count);
    json_put_unsigned(json, "counted", overview->counted);
    json_put_unsigned(json, "warmup_count", overview->warmup_count);
    json_put_text(json, "rule", str_of(step_rule_word(overview->rule)));
    json_put_text(json, "rule_text", overview->rule_text);
    for (size_t i = 0; i < COUNT(figures); i++) {
        if (overview->counted > 0)
            json_put_integer(json, figures[i].key, figures[i].value);
        else
            json_put_null(json, figures[i].key);
    }
    json_key(json, "reasons");
    json_open(json, '{');
    for (size_t i = 0; overview->counted == 0 && i < COUNT(figures); i++)
        json_put_text(json, figures[i].key, STR("no steps were recognised"));
    json_close(json, '}');
    json_close(json, '}');
}

static void put_breakdown(struct json *json, const struct overview *overview)
{
    int64_t total_ps = overview->breakdown_total_ps;

    json_key(json, "breakdown");
    json_open(json, '[');
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        int64_t self_ps = overview->breakdown_ps[kind];

        json_open(json, '{');
        json_put_text(json, "kind", str_of(kind_word((enum kind)kind)));
        json_put_integer(json, "self_ps", self_ps);
        json_put_real(json, "share", total_ps > 0 ? (double)self_ps / (double)total_ps : 0);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_integer(json, "breakdown_total_ps", total_ps);
    json_put_text(json, "breakdown_of", overview->counted > 0 ? STR("steps") : STR("capture"));
}

static void put_devices(struct json *json, const struct run_traces *run,
                        const struct overview *overview)
{
    json_key(json, "devices");
    json_open(json, '[');
    for (uint32_t i = 0; i < overview->device_count; i++) {
        const struct device_busy *device = &overview->devices[i];

        json_open(json, '{');
        json_put_text(json, "name", device->name);
        json_put_text(json, "host", run->hosts[device->host].name);
        json_put_integer(json, "device", device->device);
        json_put_integer(json, "busy_ps", device->busy_ps);
        json_put_integer(json, "idle_ps", device->idle_ps);
        json_put_real(json, "busy_share", device->busy_share);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Rows of the op table stand under their own name here. */
static void put_top(struct json *json, const struct table *table)
{
    json_key(json, "top");
    json_open(json, '[');
    json_put_row_objects(json, table);
    json_close(json, ']');
    json_put_text(json, "top_by", table->by);
    json_put_text(json, "top_of", table->of);
    json_put_integer(json, "top_total_self_ps", table->total_self_ps);
}

static enum status get_overview(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct overview answer;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(overview(run, &restriction, req->arena, &answer, err));
    if (reply_table_text(req, reply, &answer.top))
        return OK;
    uint32_t counts[2] = {0, answer.note_count};
    const struct answer_note *lists[2] = {request_notes(req, &counts[0]), answer.notes};
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_integer(&json, "duration_ps", answer.duration_ps);
    json_put_text(&json, "basis", answer.basis);
    put_step(&json, &answer);
    put_breakdown(&json, &answer);
    put_devices(&json, run, &answer);
    put_top(&json, &answer.top);
    json_key(&json, "findings");
    json_open(&json, '[');
    json_close(&json, ']');
    json_put_notes(&json, lists, counts, 2);
    json_put_approx(&json, &answer.top);
    json_close(&json, '}');
    return OK;
}

const struct route route_overview = {.method = "GET",
                                     .path = "/api/overview",
                                     .handle = get_overview,
                                     .params = params,
                                     .heavy = true};
