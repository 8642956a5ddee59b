/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the figures of one run after another, and puts them into the catalog. */
#include "serve/prepare/measure.h"

#include "analyse/compare/trend_metrics.h"
#include "base/log.h"
#include "base/lost.h"
#include "serve/answer/reply.h"
#include "serve/routes/trend/trend.h"

/* No address: what a run is asked by who measures. */
static const struct route route_measure = {.method = "GET", .path = "/measure"};

/* Every figure unknown, for this reason. */
static uint32_t all_unknown(struct str reason, struct run_metric *ret)
{
    enum unit unit;
    uint32_t count = 0;

    for (const char *name; (name = trend_figure_name(count, &unit)) != NULL; count++)
        ret[count] = (struct run_metric){
            .name = str_of(name), .unit = trend_unit_word(unit), .reason = reason};
    return count;
}

static uint32_t take_figures(const struct trend_figures *figures, struct run_metric *ret)
{
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct trend_figure *figure = &figures->items[i];

        ret[i] = (struct run_metric){.name = figure->name,
                                     .unit = trend_unit_word(figure->unit),
                                     .known = figure->known,
                                     .value = figure->value,
                                     .reason = figure->reason};
    }
    return figures->count;
}

static enum status measure(struct request *req, struct error *err)
{
    enum { METRICS_MAX = 256 };
    struct run_metric *metrics = arena_array(req->arena, struct run_metric, METRICS_MAX);
    const struct run_traces *traces;
    const struct run_record *run;
    struct trend_figures figures;
    struct error why = {0};
    uint32_t count;

    TRY(request_run(req, &run, err));
    enum status status = request_traces(req, &traces, &why);
    if (status == ERR_NOT_READY)
        return fail(err, status, "%s", why.message);
    if (status == OK)
        status = trend_figures(traces, req->arena, &figures, &why);
    count = status == OK ? take_figures(&figures, metrics)
                         : all_unknown(str_copy(req->arena, str_of(why.message)), metrics);
    if (request_damaged(req))
        return request_drop_damaged(req, err);
    return catalog_put_metrics(req->services->catalog, run->kept_id, metrics, count, err);
}

struct measuring {
    struct request *req;
    enum status status;
    struct error *err;
};

static void measure_guarded(void *data)
{
    struct measuring *measuring = data;

    measuring->status = measure(measuring->req, measuring->err);
}

static void measure_run(const struct services *services, struct str run_id)
{
    struct arena *arena = arena_create();
    struct request req = {.method = STR("GET"),
                          .path = str_of(route_measure.path),
                          .query = STR(""),
                          .arena = arena,
                          .services = services};
    struct error err = {0};

    if (request_open(&req, &route_measure, &err) == OK) {
        request_name_run(&req, run_id);
        struct measuring measuring = {.req = &req, .err = &err};

        if (!lost_guard(measure_guarded, &measuring))
            measuring.status = request_drop_damaged(&req, &err);
        if (measuring.status != OK)
            log_debug("run %.*s is not measured: %s", STR_ARG(run_id), err.message);
        request_release(req.state);
    }
    arena_destroy(arena);
}

uint32_t measure_next(const struct services *services, struct unmeasured *walk)
{
    struct arena *arena = arena_create();
    struct str ids[MEASURE_AT_ONCE];
    struct error ignored = {0};
    uint32_t count = 0;

    if (catalog_unmeasured(services->catalog, walk, arena, ids, COUNT(ids), &count, &ignored) != OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        measure_run(services, ids[i]);
    arena_destroy(arena);
    return count;
}

void measure_one(const struct services *services, const struct run_record *run)
{
    struct arena *arena = arena_create();
    struct metric_of *known;
    struct error ignored = {0};
    uint32_t count = 0;

    if (run->kept_id.count > 0 &&
        catalog_metrics_of(services->catalog, run->kept_id, arena, &known, &count, &ignored) ==
            OK &&
        count == 0)
        measure_run(services, run->id);
    arena_destroy(arena);
}
