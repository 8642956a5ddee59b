/* SPDX-License-Identifier: Apache-2.0 */
/* GET /metrics?runs=: counters in Prometheus' text format; of the newest runs, too, on request.
 *
 *   jviewd_run_step_seconds{run="exp/step_1000",id="r7c1"} 0.0914
 */
#include "base/clock.h"
#include "serve/answer/reply.h"
#include "serve/answer/run_out.h"
#include "serve/routes.h"
#include "serve/server.h"

static void put_head(struct text *out, const char *name, const char *type, const char *help)
{
    text_putf(out, "# HELP jviewd_%s %s\n# TYPE jviewd_%s %s\n", name, help, name, type);
}

static void put_server(struct text *out, struct server *server)
{
    put_head(out, "uptime_seconds", "gauge", "Since the start of the server.");
    text_putf(out, "jviewd_uptime_seconds %.3f\n",
              (double)(clock_monotonic_ns() - server->started_ns) / 1e9);
    put_head(out, "replies_total", "counter", "Replies by class of status code.");
    for (int class = 2; class < 6; class ++)
        text_putf(out, "jviewd_replies_total{class=\"%dxx\"} %llu\n", class,
                  (unsigned long long)atomic_load(&server->replies[class]));
    put_head(out, "refused_total", "counter", "Requests that were refused.");
    text_putf(out, "jviewd_refused_total %llu\n",
              (unsigned long long)atomic_load(&server->refused));
    put_head(out, "sent_bytes_total", "counter", "Heads and bodies.");
    text_putf(out, "jviewd_sent_bytes_total %llu\n",
              (unsigned long long)atomic_load(&server->bytes_sent));
    put_head(out, "connections", "gauge", "Open connections, including idle ones.");
    text_putf(out, "jviewd_connections %u\n", atomic_load(&server->connections));
    put_head(out, "cut_total", "counter", "Connections closed to make room for others.");
    text_putf(out, "jviewd_cut_total %llu\n", (unsigned long long)atomic_load(&server->cut));
    put_head(out, "requests_in_flight", "gauge",
             "Requests being answered, including event streams.");
    text_putf(out, "jviewd_requests_in_flight %u\n", atomic_load(&server->in_flight));
    put_head(out, "event_streams", "gauge", "Open event streams, 32 at most.");
    text_putf(out, "jviewd_event_streams %u\n", atomic_load(&server->event_streams));
}

static void put_catalog(struct text *out, struct catalog *catalog)
{
    struct scan_state scan = catalog_scan(catalog);

    put_head(out, "scan_active", "gauge", "1 while directories are scanned.");
    text_putf(out, "jviewd_scan_active %d\n", scan.active);
    put_head(out, "scanned_files", "gauge", "Files seen by the last scan.");
    text_putf(out, "jviewd_scanned_files %llu\n", (unsigned long long)scan.files);
    put_head(out, "catalog_generation", "counter", "Changes of the catalog.");
    text_putf(out, "jviewd_catalog_generation %llu\n",
              (unsigned long long)catalog_generation(catalog));
}

static enum status put_jobs(struct request *req, struct text *out, struct error *err)
{
    struct job *jobs;
    uint32_t count = 0, indexing = 0;

    if (req->services->jobs == NULL)
        return OK;
    if (req->services->jobs(req->services->ingest, req->arena, &jobs, &count) != OK)
        return fail(err, ERR_IO, "the queue of jobs cannot be read");
    for (uint32_t i = 0; i < count; i++)
        indexing += str_equal(jobs[i].state, STR("indexing"));
    put_head(out, "jobs", "gauge", "Files by state of their job.");
    text_putf(out, "jviewd_jobs{state=\"queued\"} %u\njviewd_jobs{state=\"indexing\"} %u\n",
              count - indexing, indexing);
    return OK;
}

static const struct param params[] = {
    {.name = "runs", .kind = PARAM_INTEGER, .min = 0, .max = PAGE_LIMIT_MAX}, {.name = NULL}};

static void put_label(struct text *out, struct arena *arena, const char *name, struct str value)
{
    value = str_utf8(arena, value);
    text_putf(out, "%s=\"", name);
    for (size_t i = 0; i < value.count; i++) {
        char c = value.at[i];

        if (c == '\n')
            text_puts(out, "\\n");
        else if (c == '"' || c == '\\')
            text_putf(out, "\\%c", c);
        else
            text_put(out, &c, 1);
    }
    text_puts(out, "\"");
}

enum run_gauge { RUN_STEP, RUN_STEPS, RUN_DURATION, RUN_STARTED, RUN_SIZE, RUN_GAUGES };

/* False: the run has no such value, and so no line. */
static bool gauge_of(const struct run_record *run, enum run_gauge gauge, double *ret)
{
    bool timed = run_was_read(run) && run->host_count > 0;

    switch (gauge) {
    case RUN_STEP:
        *ret = (double)run->step_median_ps / 1e12;
        return run->step_median_ps >= 0;
    case RUN_STEPS:
        *ret = (double)run->step_count;
        return run->step_count >= 0;
    case RUN_DURATION:
        *ret = (double)run->duration_ps / 1e12;
        return timed;
    case RUN_STARTED:
        *ret = (double)run->epoch_ns / 1e9;
        return run->has_epoch;
    default:
        *ret = (double)run->file_bytes;
        return true;
    }
}

static void put_gauge(struct request *req, struct text *out, const struct run_record *runs,
                      uint32_t count, enum run_gauge gauge)
{
    static const struct {
        const char *name, *help;
    } words[RUN_GAUGES] = {
        [RUN_STEP] = {"run_step_seconds", "Median of the counted steps."},
        [RUN_STEPS] = {"run_steps", "Steps that were found."},
        [RUN_DURATION] = {"run_duration_seconds", "Of the capture."},
        [RUN_STARTED] = {"run_started_timestamp_seconds", "Unix time of the first event."},
        [RUN_SIZE] = {"run_file_bytes", "Size of the run's files."},
    };

    put_head(out, words[gauge].name, "gauge", words[gauge].help);
    for (uint32_t i = 0; i < count; i++) {
        double value;

        if (!gauge_of(&runs[i], gauge, &value))
            continue;
        text_putf(out, "jviewd_%s{", words[gauge].name);
        put_label(out, req->arena, "run", runs[i].name);
        text_puts(out, ",");
        put_label(out, req->arena, "id", runs[i].id);
        text_putf(out, "} %.17g\n", value);
    }
}

struct measured {
    struct metric_of *items;
    uint32_t count;
};

static void put_measured_of(struct request *req, struct text *out, const char *family,
                            struct str unit, double whole, const struct run_record *run,
                            const struct measured *measured)
{
    for (uint32_t i = 0; i < measured->count; i++) {
        const struct run_metric *metric = &measured->items[i].metric;

        if (!metric->known || metric->name.count == 0 || !str_equal(metric->unit, unit))
            continue;
        text_putf(out, "jviewd_%s{", family);
        put_label(out, req->arena, "run", run->name);
        text_puts(out, ",");
        put_label(out, req->arena, "id", run->id);
        text_puts(out, ",");
        put_label(out, req->arena, "metric", metric->name);
        text_putf(out, "} %.17g\n", (double)metric->value / whole);
    }
}

/* What was measured of each run (measure.h): a family a unit, the metric's name a label. */
static enum status put_measured(struct request *req, struct text *out,
                                const struct run_record *runs, uint32_t count, struct error *err)
{
    static const struct {
        const char *family, *unit, *help;
        double whole;
    } families[] = {
        {"run_metric_seconds", "ps", "Times of a run; per step unless the name says otherwise.",
         1e12},
        {"run_metric_bytes", "bytes", "Sizes of a run.", 1},
        {"run_metric_ratio", "share", "Shares of a run's mean step, and of peak FLOPs.",
         METRIC_SHARE_WHOLE},
        {"run_metric_count", "count", "Counts of a run.", 1},
    };
    struct measured *all = arena_array(req->arena, struct measured, count + 1);

    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].kept_id.count > 0)
            TRY(catalog_metrics_of(req->services->catalog, runs[i].kept_id, req->arena,
                                   &all[i].items, &all[i].count, err));
    }
    for (size_t k = 0; k < COUNT(families); k++) {
        put_head(out, families[k].family, "gauge", families[k].help);
        for (uint32_t i = 0; i < count; i++)
            put_measured_of(req, out, families[k].family, str_of(families[k].unit),
                            families[k].whole, &runs[i], &all[i]);
    }
    return OK;
}

static enum status put_runs(struct request *req, struct text *out, struct error *err)
{
    const struct run_query newest = {.limit = (uint64_t)request_integer(req, "runs", 0)};
    struct run_record *runs;
    uint32_t count;
    uint64_t all;

    if (newest.limit == 0)
        return OK;
    TRY(catalog_runs(req->services->catalog, &newest, req->arena, &runs, &count, &all, err));
    for (int gauge = 0; gauge < RUN_GAUGES; gauge++)
        put_gauge(req, out, runs, count, (enum run_gauge)gauge);
    return put_measured(req, out, runs, count, err);
}

static enum status get_metrics(struct request *req, struct reply *reply, struct error *err)
{
    reply->status = 200;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    if (req->server != NULL)
        put_server(&reply->body, req->server);
    put_catalog(&reply->body, req->services->catalog);
    TRY(put_jobs(req, &reply->body, err));
    return put_runs(req, &reply->body, err);
}

const struct route route_metrics = {
    .method = "GET", .path = "/metrics", .handle = get_metrics, .params = params};
