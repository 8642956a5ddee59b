/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/run?run=: one run with its files, hosts, environment, programs and views.
 *
 * Answers in every state of the run: what needs its traces is null with a reason until they are
 * there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/comm/transfers.h"
#include "analyse/compiles/compiles.h"
#include "analyse/findings/overview.h"
#include "analyse/ops/kernels.h"
#include "analyse/ops/roofline.h"
#include "analyse/steps/align.h"
#include "serve/answer/arg_out.h"
#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"

enum { FILES_MAX = 10000, PROGRAMS_MAX = 1000, PROPERTIES_MAX = 1000 };

static const struct param params[] = {PARAMS_RUN, PARAMS_FORMAT, {.name = NULL}};

static void put_files(struct json *json, const struct run_record *run)
{
    json_key(json, "files");
    json_open(json, '[');
    for (uint32_t i = 0; i < run->run_file_count && i < FILES_MAX; i++) {
        json_open(json, '{');
        json_put_run_file(json, &run->files[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* `alignment` is NULL while the host's trace cannot be read. */
static void put_host(struct json *json, struct arena *arena, const struct run_host *host,
                     const struct host_trace *trace, const struct alignment *alignment)
{
    bool has_skew = alignment != NULL && alignment->known;

    json_open(json, '{');
    json_put_text(json, "name", host->name);
    json_put_text(json, "key", (struct str){.at = host->content, .count = 8});
    json_put_text_or_null(json, "hostname", host->hostname);
    json_put_text_or_null(json, "epoch_ns",
                          host->has_epoch ? str_format(arena, "%lld", (long long)host->epoch_ns)
                                          : STR(""));
    json_put_integer(json, "offset_ps", trace == NULL ? host->offset_ps : trace->offset_ps);
    if (has_skew)
        json_put_integer(json, "skew_ps", alignment->skew_ps);
    else
        json_put_null(json, "skew_ps");
    json_key(json, "reasons");
    json_open(json, '{');
    if (!has_skew)
        json_put_text(json, "skew_ps",
                      str_of(alignment == NULL ? "the run is not indexed yet" : alignment->reason));
    if (!host->has_epoch)
        json_put_text(json, "epoch_ns", STR("the file holds no wall clock"));
    if (host->hostname.count == 0)
        json_put_text(json, "hostname", STR("the file does not name its host"));
    json_close(json, '}');
    json_close(json, '}');
}

static void put_hosts(struct json *json, struct request *req, const struct run_record *run,
                      const struct run_traces *traces)
{
    const struct alignment *alignments = traces == NULL ? NULL : request_alignments(req);

    json_key(json, "hosts");
    json_open(json, '[');
    for (uint32_t i = 0; i < run->host_count; i++)
        put_host(json, req->arena, &run->hosts[i], traces == NULL ? NULL : &traces->hosts[i],
                 traces == NULL ? NULL : &alignments[i]);
    json_close(json, ']');
}

/* Clocks that are apart by more than what was measured varies. */
static uint32_t skew_notes(struct request *req, const struct run_traces *traces,
                           const struct answer_note **ret)
{
    const struct alignment *alignments = request_alignments(req);
    struct answer_note *notes = arena_array(req->arena, struct answer_note, traces->host_count);
    uint32_t count = 0;

    for (uint32_t i = 1; i < traces->host_count; i++) {
        int64_t skew_ps = alignments[i].skew_ps;

        if (!alignments[i].known || llabs(skew_ps) <= alignments[i].spread_ps)
            continue;
        notes[count++] = (struct answer_note){
            .kind = "clock-skew",
            .severity = NOTE_INFO,
            .message =
                str_format(req->arena,
                           "This host's clock is %.3f ms %s that of %.*s, measured by %u shared "
                           "collectives or launches; align=collectives removes the difference.",
                           (double)llabs(skew_ps) / 1e9, skew_ps > 0 ? "ahead of" : "behind",
                           STR_ARG(traces->hosts[0].name), alignments[i].pair_count),
            .host = traces->hosts[i].name,
            .count = 1};
    }
    *ret = notes;
    return count;
}

/* What the file says of the capture stands under words of its profiler's options. */
static bool is_option(struct str key)
{
    return str_contains(key, STR("tracer_level")) || str_contains(key, STR("profile_")) ||
           str_contains(key, STR("option"));
}

static void put_properties(struct json *json, const struct run_traces *traces, const char *member,
                           bool options)
{
    uint32_t count = 0;

    json_key(json, member);
    json_open(json, '[');
    for (uint32_t i = 0; i < traces->host_count + traces->other_count; i++) {
        const struct host_trace *host = run_trace(traces, i);

        for (uint32_t k = 0; k < host->trace->property_count && count < PROPERTIES_MAX; k++) {
            const struct property *property = &host->trace->properties[k];
            struct str key = trace_name(host->trace, property->arg.key);

            if (is_option(key) != options || property_is_count(host->trace, property))
                continue;
            json_open(json, '{');
            json_put_text(json, "host", host->name);
            json_put_text_or_null(
                json, "track",
                property->track == NO_TRACK
                    ? STR("")
                    : trace_name(host->trace, host->trace->tracks[property->track].name));
            json_put_arg_members(json, host->trace, property->arg);
            json_close(json, '}');
            count++;
        }
    }
    json_close(json, ']');
}

static void put_programs(struct json *json, const struct run_traces *traces)
{
    uint32_t count = 0;
    char hex[24];

    json_key(json, "programs");
    json_open(json, '[');
    for (uint32_t i = 0; i < traces->host_count + traces->other_count; i++) {
        const struct host_trace *host = run_trace(traces, i);
        const struct trace *trace = host->trace;

        for (uint32_t k = 0; k < trace->program_count && count < PROGRAMS_MAX; k++, count++) {
            const struct program *program = &trace->programs[k];
            char id[24];

            snprintf(hex, sizeof hex, "%016llx", (unsigned long long)program->fingerprint);
            json_open(json, '{');
            json_put_text(json, "host", host->name);
            json_put_text(json, "id",
                          (struct str){.at = id, .count = unsigned_digits(program->id, id)});
            json_put_text(json, "name", trace_name(trace, program->name));
            json_put_text(json, "fingerprint", str_of(hex));
            json_put_unsigned(json, "instruction_count", program->instruction_count);
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

/* Null where there is something to show; else why not: the first reason that is given. */
static void put_view(struct json *json, const char *name, struct str reason, const char *otherwise)
{
    json_key(json, name);
    if (reason.count == 0 && otherwise == NULL) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_text(json, "reason", reason.count > 0 ? reason : str_of(otherwise));
    json_close(json, '}');
}

static bool any_ops(const struct request *req, const struct run_record *run,
                    const struct run_traces *traces)
{
    for (uint32_t i = 0; i < traces->host_count; i++) {
        if (cache_has_ops(req->services->cache, run->hosts[i].content))
            return true;
    }
    return false;
}

/* Samples of stacks in that unit, "" any. */
static bool any_samples(const struct run_traces *traces, struct str unit)
{
    for (uint32_t i = 0; i < traces->host_count + traces->other_count; i++) {
        const struct trace *trace = run_trace(traces, i)->trace;

        for (uint32_t k = 0; k < trace->sample_type_count; k++) {
            if (unit.count == 0 || str_equal(trace_name(trace, trace->sample_types[k].unit), unit))
                return true;
        }
    }
    return false;
}

static bool any_memory(const struct run_traces *traces)
{
    for (uint32_t i = 0; i < traces->host_count; i++) {
        if (traces->hosts[i].trace->memory_event_count > 0)
            return true;
    }
    return any_samples(traces, STR("bytes"));
}

/* A program's planned memory. */
static bool any_heap(const struct run_traces *traces)
{
    for (uint32_t i = 0; i < traces->host_count + traces->other_count; i++) {
        const struct trace *trace = run_trace(traces, i)->trace;

        for (uint32_t k = 0; k < trace->program_count; k++) {
            if (trace->programs[k].has_buffers)
                return true;
        }
    }
    return false;
}

static bool any_programs(const struct run_traces *traces)
{
    for (uint32_t i = 0; i < traces->host_count + traces->other_count; i++) {
        if (run_trace(traces, i)->trace->program_count > 0)
            return true;
    }
    return false;
}

static void put_kernels_view(struct json *json, struct request *req, struct str no_time,
                             const struct run_traces *traces)
{
    struct str missing = no_time.count > 0 ? STR("") : kernels_missing(traces);

    put_view(json, "kernels", no_time,
             missing.count > 0 ? str_format(req->arena, "%.*s", STR_ARG(missing)).at : NULL);
}

/* What is looked for by the names of slices. */
static void put_named_view(struct json *json, struct request *req, const char *name,
                           struct str no_time, const struct run_traces *traces,
                           struct str (*missing)(const struct run_traces *run))
{
    struct str reason = no_time.count > 0 ? STR("") : missing(traces);

    put_view(json, name, no_time, reason.count > 0 ? str_c(req->arena, reason) : NULL);
}

/* `traces` is NULL where none can be read. */
static void put_views(struct json *json, struct request *req, const struct run_record *run,
                      const struct run_traces *traces)
{
    const struct run_traces none = {0};
    struct str unread = traces != NULL             ? STR("")
                        : run->state == RUN_FAILED ? STR("no file of the run could be read")
                                                   : STR("the run is not indexed yet");
    struct str no_time =
        traces != NULL && traces->host_count == 0 ? run_no_timeline(run, req->arena) : unread;

    traces = traces == NULL ? &none : traces;
    json_key(json, "views");
    json_open(json, '{');
    put_view(json, "overview", no_time, NULL);
    put_view(json, "timeline", no_time, NULL);
    put_view(json, "ops", no_time,
             any_ops(req, run, traces)
                 ? NULL
                 : "the profile holds no ops of devices; the table is by name");
    put_kernels_view(json, req, no_time, traces);
    put_view(json, "flame", any_samples(traces, STR("")) ? STR("") : no_time, NULL);
    put_view(json, "steps", no_time,
             run->step_count != 0 ? NULL
                                  : "no marks of steps, and nothing that repeats like a step");
    put_named_view(json, req, "roofline", no_time, traces, roofline_missing);
    put_named_view(json, req, "compiles", no_time, traces, compiles_missing);
    put_named_view(json, req, "transfers", no_time, traces, transfers_missing);
    put_view(
        json, "memory", unread,
        any_memory(traces) || any_heap(traces)
            ? NULL
            : "the profile holds no allocator events, no memory snapshot and no buffer assignment");
    put_view(json, "hlo", unread,
             any_programs(traces) ? NULL : "the profile holds no compiled programs");
    put_view(json, "files", STR(""), NULL);
    json_close(json, '}');
}

static enum status get_run(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_record *run;
    const struct run_traces *traces = NULL;
    struct error unread = {0};

    TRY(request_run(req, &run, err));
    bool readable = request_all_traces(req, &traces, &unread) == OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run_members(&json, req, run);
    put_files(&json, run);
    put_hosts(&json, req, run, readable ? traces : NULL);
    const struct run_traces none = {0};
    put_properties(&json, readable ? traces : &none, "capture_options", true);
    put_properties(&json, readable ? traces : &none, "environment", false);
    put_programs(&json, readable ? traces : &none);
    put_views(&json, req, run, readable ? traces : NULL);

    const struct answer_note *lists[3];
    uint32_t counts[3] = {0};
    lists[0] = request_notes(req, &counts[0]);
    counts[1] = readable ? run_notes(traces, req->arena, &lists[1]) : 0;
    counts[2] = readable ? skew_notes(req, traces, &lists[2]) : 0;
    json_put_notes(&json, lists, counts, 3);
    json_close(&json, '}');
    return reply_fields(req, reply, err);
}

static const struct in_bundle in_bundle[] = {{.params = "", .what = "run's facts", .rank = 1},
                                             {.params = NULL}};

const struct route route_run = {.method = "GET",
                                .path = "/api/run",
                                .handle = get_run,
                                .params = params,
                                .skews = true,
                                .in_bundle = in_bundle};
