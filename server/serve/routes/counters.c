/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/counters?run=&track=: one counter over a window, folded to so many pixels. */
#include "serve/answer/slice_out.h"
#include "serve/routes.h"
#include "trace/events/counter.h"

enum { PX_DEFAULT = 1000, PX_MAX = 10000 };

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    {.name = "track", .kind = PARAM_TEXT, .required = true, .max = 64},
    {.name = "px", .kind = PARAM_INTEGER, .min = 1, .max = PX_MAX},
    {.name = NULL},
};

static void put_bucket(struct json *json, const struct host_trace *host,
                       const struct counter_bucket *bucket)
{
    json_open(json, '{');
    json_put_integer(json, "ts_ps", run_time(host, bucket->from_ps));
    json_put_integer(json, "end_ps", run_time(host, bucket->to_ps));
    json_put_real(json, "min", bucket->min);
    json_put_real(json, "max", bucket->max);
    json_put_real(json, "first", bucket->first);
    json_put_real(json, "last", bucket->last);
    json_put_unsigned(json, "count", bucket->count);
    json_close(json, '}');
}

static enum status get_counters(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct track_ref track;
    int64_t start_ps, end_ps;
    uint64_t sample_count = 0;

    TRY(request_traces(req, &run, err));
    TRY(request_track(req, request_text(req, "track"), &track, err));
    TRY(request_window(req, &start_ps, &end_ps, err));
    const struct host_trace *host = &run->hosts[track.host];
    if (host->trace->tracks[track.track].kind != TRACK_COUNTER)
        return fail(err, ERR_INVALID,
                    "track \"%.*s\" is not a counter; /api/tracks lists the kinds",
                    STR_ARG(request_text(req, "track")));
    trace_samples(host->trace, track.track, &sample_count);

    uint32_t px = (uint32_t)request_integer(req, "px", PX_DEFAULT);
    struct counter_bucket *buckets = arena_array(req->arena, struct counter_bucket, px);
    uint32_t count = counter_fold(host->trace, track.track, file_time(host, start_ps),
                                  file_time(host, end_ps), px, buckets);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "track", track_text(req->arena, host, track.track));
    json_put_text(&json, "name", trace_name(host->trace, host->trace->tracks[track.track].name));
    json_put_unsigned(&json, "sample_count", sample_count);
    json_put_integer(&json, "start_ps", start_ps);
    json_put_integer(&json, "end_ps", end_ps);
    json_key(&json, "rows");
    json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++)
        put_bucket(&json, host, &buckets[i]);
    json_close(&json, ']');
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

const struct route route_counters = {
    .method = "GET", .path = "/api/counters", .handle = get_counters, .params = params};
