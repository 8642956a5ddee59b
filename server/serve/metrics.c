/* GET /metrics: counters in Prometheus' text format. */
#include "base/clock.h"
#include "serve/reply.h"
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
    put_head(out, "replies_total", "counter", "Replies by hundreds of their status.");
    for (int class = 2; class < 6; class ++)
        text_putf(out, "jviewd_replies_total{class=\"%dxx\"} %llu\n", class,
                  (unsigned long long)atomic_load(&server->replies[class]));
    put_head(out, "refused_total", "counter", "Requests that did not pass the gate.");
    text_putf(out, "jviewd_refused_total %llu\n",
              (unsigned long long)atomic_load(&server->refused));
    put_head(out, "sent_bytes_total", "counter", "Heads and bodies.");
    text_putf(out, "jviewd_sent_bytes_total %llu\n",
              (unsigned long long)atomic_load(&server->bytes_sent));
    put_head(out, "requests_in_flight", "gauge", "Being answered now, event streams included.");
    text_putf(out, "jviewd_requests_in_flight %u\n", atomic_load(&server->in_flight));
    put_head(out, "event_streams", "gauge", "Open event streams, 32 at most.");
    text_putf(out, "jviewd_event_streams %u\n", atomic_load(&server->event_streams));
}

static void put_catalog(struct text *out, struct catalog *catalog)
{
    struct scan_state scan = catalog_scan(catalog);

    put_head(out, "scan_active", "gauge", "1 while directories are walked.");
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
    put_head(out, "jobs", "gauge", "Files by what happens to them.");
    text_putf(out, "jviewd_jobs{state=\"queued\"} %u\njviewd_jobs{state=\"indexing\"} %u\n",
              count - indexing, indexing);
    return OK;
}

static enum status get_metrics(struct request *req, struct reply *reply, struct error *err)
{
    reply->status = 200;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    if (req->server != NULL)
        put_server(&reply->body, req->server);
    put_catalog(&reply->body, req->services->catalog);
    return put_jobs(req, &reply->body, err);
}

const struct route route_metrics = {.method = "GET", .path = "/metrics", .handle = get_metrics};
