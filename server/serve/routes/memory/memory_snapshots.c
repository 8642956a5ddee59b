/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/memory?run=&view=pprof&snapshot=&base=&type=&by=: device memory profiles and the like.
 *
 *   {"snapshots": [{"name": "mem_2.prof", "types": [{"name": "space", "unit": "bytes", ...}]}],
 *    "snapshot": "mem_2.prof", "base": null, "type": "space", "unit": "bytes", "total": 4096,
 *    "rows": [{"name": "main", "source": "train.py:12", "value": 4096, "share": 1, ...}]}
 */
#include "analyse/memory/snapshot.h"

#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/routes/memory/memory.h"

static void put_types(struct json *json, const struct trace *trace)
{
    json_key(json, "types");
    json_open(json, '[');
    for (uint32_t i = 0; i < trace->sample_type_count; i++) {
        json_open(json, '{');
        json_put_text(json, "name", trace_name(trace, trace->sample_types[i].name));
        json_put_text(json, "unit", trace_name(trace, trace->sample_types[i].unit));
        json_put_integer(json, "total", sample_type_total(trace, i));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_snapshot(struct json *json, const struct request *req,
                         const struct host_trace *snapshot)
{
    const struct trace *trace = snapshot->trace;

    json_open(json, '{');
    json_put_text(json, "name", snapshot->name);
    if (trace->has_epoch)
        json_put_text(json, "taken_at", unix_ns_iso(req->arena, trace->epoch_ns));
    else
        json_put_null(json, "taken_at");
    json_put_unsigned(json, "sample_count", trace->stack_sample_count);
    put_types(json, trace);
    json_key(json, "reasons");
    json_open(json, '{');
    if (!trace->has_epoch)
        json_put_text(json, "taken_at", trace->epoch_reason);
    json_close(json, '}');
    json_close(json, '}');
}

static void put_name(struct json *json, const char *key, const struct host_trace *snapshot)
{
    if (snapshot != NULL)
        json_put_text(json, key, snapshot->name);
    else
        json_put_null(json, key);
}

/* What the table is of; nulls where there is no snapshot. */
static void put_subject(struct json *json, const struct snapshot_table *found)
{
    put_name(json, "snapshot", found->snapshot);
    put_name(json, "base", found->base);
    json_put_text(json, "by", found->by);
    if (found->snapshot == NULL) {
        json_put_null(json, "type");
        json_put_null(json, "unit");
        json_put_null(json, "total");
    } else {
        const struct trace *trace = found->snapshot->trace;

        json_put_text(json, "type", trace_name(trace, trace->sample_types[found->type].name));
        json_put_text(json, "unit", found->unit);
        json_put_integer(json, "total", found->total);
    }
    if (found->base != NULL)
        json_put_integer(json, "base_total", found->base_total);
    else
        json_put_null(json, "base_total");
}

static void put_reasons(struct json *json, const struct snapshot_table *found)
{
    json_key(json, "reasons");
    json_open(json, '{');
    if (found->snapshots.count == 0)
        json_put_text(json, "snapshot",
                      STR("the run holds no snapshots of memory: save one with "
                          "jax.profiler.save_device_memory_profile"));
    json_close(json, '}');
}

enum status reply_snapshots(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct snapshot_table found;
    struct page page;
    const struct snapshot_question question = {
        .snapshot = request_text(req, "snapshot"),
        .base = request_text(req, "base"),
        .type = request_text(req, "type"),
        .by = request_text(req, "by"),
    };

    TRY(request_all_traces(req, &run, err));
    TRY(request_page(req, &page, err));
    TRY(snapshot_table(run, &question, &page, req->arena, &found, err));
    if (reply_table_text(req, reply, &found.table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("pprof"));
    json_put_text(&json, "order", found.snapshots.by_time ? STR("time") : STR("name"));
    json_key(&json, "snapshots");
    json_open(&json, '[');
    for (uint32_t i = 0; i < found.snapshots.count; i++)
        put_snapshot(&json, req, found.snapshots.items[i]);
    json_close(&json, ']');
    put_subject(&json, &found);
    put_reasons(&json, &found);
    json_put_table(&json, req, &found.table);
    json_close(&json, '}');
    return OK;
}
