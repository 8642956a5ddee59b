#include "serve/measure.h"

#include <stdlib.h>

#include "analyse/trend_metrics.h"
#include "base/log.h"
#include "serve/reply.h"
#include "serve/trend_parts.h"

enum { RUNS_MAX = 10000 };

/* No address: what a run is asked by who measures. */
static const struct route route_measure = {.method = "GET", .path = "/measure"};

static int by_content(const void *key, const void *item)
{
    const struct metric_of *metric = item;

    return str_compare(*(const struct str *)key, metric->content_id);
}

void measure_missing(const struct services *services, struct arena *arena, struct str **ret_ids,
                     uint32_t *ret_count)
{
    const struct run_query query = {.limit = RUNS_MAX};
    struct run_record *runs;
    struct metric_of *rules;
    struct error ignored = {0};
    uint32_t count = 0, rule_count = 0;
    uint64_t all;

    *ret_count = 0;
    if (catalog_runs(services->catalog, &query, arena, &runs, &count, &all, &ignored) != OK ||
        catalog_metric(services->catalog, STR(""), arena, &rules, &rule_count, &ignored) != OK)
        return;
    *ret_ids = arena_array(arena, struct str, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if ((runs[i].state != RUN_READY && runs[i].state != RUN_PARTIAL) ||
            runs[i].content_id.count == 0)
            continue;
        const struct metric_of *made =
            rule_count == 0
                ? NULL
                : bsearch(&runs[i].content_id, rules, rule_count, sizeof *rules, by_content);
        if (made == NULL || made->metric.value != METRICS_VERSION)
            (*ret_ids)[(*ret_count)++] = runs[i].id;
    }
}

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
    return catalog_put_metrics(req->services->catalog, run->content_id, metrics, count, err);
}

void measure_run(const struct services *services, struct str run_id)
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
        if (measure(&req, &err) != OK)
            log_debug("run %.*s is not measured: %s", STR_ARG(run_id), err.message);
        request_release(req.state);
    }
    arena_destroy(arena);
}
