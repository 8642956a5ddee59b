/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/roofline?run=: how far each op is from the limits of its device. */
#include "analyse/ops/roofline.h"

#include <math.h>

#include "analyse/device/device_link.h"

#include "serve/answer/table_out.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN, PARAMS_RESTRICTION, PARAMS_PAGE, PARAMS_FORMAT, PARAM_SORT, {.name = NULL},
};

static void put_roof(struct json *json, const struct roof *roof)
{
    json_open(json, '{');
    json_put_text(json, "kind", roof->is_memory ? STR("memory") : STR("compute"));
    json_put_text(json, "name", roof->name);
    json_put_real(json, "per_s", roof->per_s);
    json_put_text(json, "source", roof->source);
    json_close(json, '}');
}

static void put_link(struct json *json, const char *to, const char *name, double gb_per_s,
                     const char *reason)
{
    json_open(json, '{');
    json_put_text(json, "to", str_of(to));
    json_put_text_or_null(json, "name", str_of(name));
    if (name != NULL)
        json_put_real(json, "bytes_per_s", gb_per_s * 1e9);
    else
        json_put_null(json, "bytes_per_s");
    json_put_text_or_null(json, "reason", str_of(reason));
    json_close(json, '}');
}

static void put_links(struct json *json, const struct device_link *link)
{
    json_key(json, "links");
    json_open(json, '[');
    put_link(json, "devices", link->name, link->gb_per_s, link->reason);
    put_link(json, "host", link->host_name, link->host_gb_per_s, link->host_reason);
    json_close(json, ']');
}

static void put_devices(struct json *json, const struct roofline *roofline)
{
    json_key(json, "devices");
    json_open(json, '[');
    for (uint32_t i = 0; i < roofline->device_count; i++) {
        const struct roofline_device *device = &roofline->devices[i];

        json_open(json, '{');
        json_put_text(json, "host", device->host);
        json_put_text_or_null(json, "name", device->name);
        json_put_unsigned(json, "device_count", device->device_count);
        json_key(json, "roofs");
        json_open(json, '[');
        for (uint32_t k = 0; k < device->roof_count; k++)
            put_roof(json, &device->roofs[k]);
        json_close(json, ']');
        put_links(json, device->link);
        json_put_text_or_null(json, "reason", device->reason);
        json_put_text_or_null(json, "doubt", device->doubt);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_real_or_null(struct json *json, const char *key, bool known, double value)
{
    if (known && isfinite(value))
        json_put_real(json, key, value);
    else
        json_put_null(json, key);
}

/* The program as one op; what is missing of it is told by `missing`. */
static void put_program(struct json *json, const struct roofline *roofline)
{
    bool known = roofline->unknown_count < roofline->op_count;
    double seconds = (double)roofline->self_ps * 1e-12;
    double best_s =
        roofline->compute_s > roofline->memory_s ? roofline->compute_s : roofline->memory_s;

    json_key(json, "program");
    json_open(json, '{');
    json_put_integer(json, "self_ps", roofline->self_ps);
    json_put_unsigned(json, "op_count", roofline->op_count);
    json_put_unsigned(json, "unknown_count", roofline->unknown_count);
    put_real_or_null(json, "flops", known, roofline->flops);
    put_real_or_null(json, "bytes", known, roofline->bytes);
    put_real_or_null(json, "intensity", known && roofline->bytes > 0,
                     roofline->flops / roofline->bytes);
    put_real_or_null(json, "flops_per_s", known && seconds > 0, roofline->flops / seconds);
    put_real_or_null(json, "bytes_per_s", known && seconds > 0, roofline->bytes / seconds);
    put_real_or_null(json, "peak_share",
                     known && seconds > 0 && !isnan(roofline->compute_s + roofline->memory_s),
                     best_s / seconds);
    json_close(json, '}');
}

static void put_bounds(struct json *json, const struct roofline *roofline)
{
    json_key(json, "bounds");
    json_open(json, '[');
    for (uint32_t i = 0; i < ROOFLINE_BOUNDS; i++) {
        json_open(json, '{');
        json_put_text(json, "bound_by", roofline->bounds[i].word);
        json_put_integer(json, "self_ps", roofline->bounds[i].self_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static enum status get_roofline(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct roofline found;
    struct page page;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(roofline(run, &restriction, &page, req->arena, &table, &found, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_counted(&json, req, &restriction);
    put_devices(&json, &found);
    put_program(&json, &found);
    put_bounds(&json, &found);
    json_put_text_or_null(&json, "missing", found.missing);
    json_put_integer(&json, "total_self_ps", table.total_self_ps);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    struct roofline summary;

    return roofline(run, &whole, page, arena, ret, &summary, err);
}

static const struct view views[] = {
    {.name = "roofline",
     .columns =
         "key name kind category module scope source phase type #count #total_ps #self_ps %share "
         "%flops "
         "%bytes %intensity %flops_per_s %bytes_per_s %roof_flops_per_s %peak_share bound_by "
         "counted",
     .make = make_view_of_run,
     .kept = ""},
    {.name = NULL}};

static const struct ahead ahead[] = {{.params = ""}, {.params = NULL}};

static const struct verb verb = {.name = "roofline",
                                 .summary = "how far each op is from the limits of its device",
                                 .operands = "RUN"};

const struct route route_roofline = {.method = "GET",
                                     .path = "/api/roofline",
                                     .handle = get_roofline,
                                     .params = params,
                                     .heavy = true,
                                     .is_table = true,
                                     .views = views,
                                     .ahead = ahead,
                                     .verb = &verb};
