/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/overview?run=: the first answer, on one page. */
#include "analyse/findings/overview.h"

#include "serve/answer/findings_out.h"
#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"
#include "serve/tool.h"
#include "trace/ps.h"

enum { PATH_ROWS = 5 };

static const struct param params[] = {
    PARAMS_RUN, PARAMS_RESTRICTION, PARAMS_FORMAT, {.name = NULL}};

static void put_step(struct json *json, const struct overview *overview)
{
    const struct {
        const char *key;
        int64_t value;
        bool of_several; /* one step has none */
    } figures[] = {
        {"total_ps", overview->total_ps, false}, {"median_ps", overview->median_ps, false},
        {"mean_ps", overview->mean_ps, false},   {"stdev_ps", overview->stdev_ps, true},
        {"min_ps", overview->min_ps, false},     {"max_ps", overview->max_ps, false},
        {"p95_ps", overview->p95_ps, false},
    };

    json_key(json, "step");
    json_open(json, '{');
    json_put_unsigned(json, "count", overview->step_count);
    json_put_unsigned(json, "counted", overview->counted);
    json_put_unsigned(json, "host_count", overview->step_hosts);
    json_put_unsigned(json, "warmup_count", overview->warmup_count);
    json_put_unsigned(json, "cut_count", overview->cut_count);
    json_put_text_or_null(json, "numbers", overview->numbers);
    json_put_text(json, "rule", str_of(step_rule_word(overview->rule)));
    json_put_text(json, "rule_text", overview->rule_text);
    json_put_text_or_null(json, "time_rule",
                          overview->step_count > 0 ? str_of(step_time_word(overview->time_rule))
                                                   : STR(""));
    json_put_unsigned(json, "ahead_max", overview->ahead_max);
    if (overview->counted > 0 && overview->host_ps >= 0)
        json_put_integer(json, "span_ps", overview->host_ps);
    else
        json_put_null(json, "span_ps");
    json_put_text_or_null(json, "others", overview->others);
    json_put_text_or_null(json, "confidence",
                          overview->step_count > 0 ? str_of(step_trust_word(overview->confidence))
                                                   : STR(""));
    json_put_text_or_null(json, "confidence_text", overview->confidence_text);
    for (size_t i = 0; i < COUNT(figures); i++) {
        if (overview->counted > (figures[i].of_several ? 1u : 0u))
            json_put_integer(json, figures[i].key, figures[i].value);
        else
            json_put_null(json, figures[i].key);
    }
    json_key(json, "reasons");
    json_open(json, '{');
    for (size_t i = 0; overview->counted == 0 && i < COUNT(figures); i++)
        json_put_text(json, figures[i].key,
                      overview->doubt.count > 0 ? overview->doubt : STR("no steps were found"));
    if (overview->counted == 0 || overview->host_ps < 0)
        json_put_text(json, "span_ps", STR("no span of the program marks them"));
    if (overview->counted == 1)
        json_put_text(json, "stdev_ps", STR("one step does not deviate"));
    if (overview->step_count == 0)
        json_put_text(json, "confidence", STR("no steps were found"));
    json_close(json, '}');
    json_close(json, '}');
}

static void put_share(struct json *json, int64_t part_ps, int64_t whole_ps)
{
    if (whole_ps > 0 && !ps_is_cut(whole_ps))
        json_put_real(json, "share", (double)part_ps / (double)whole_ps);
    else
        json_put_null(json, "share");
}

static void put_breakdown(struct json *json, const struct overview *overview)
{
    json_key(json, "breakdown");
    json_open(json, '[');
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        json_open(json, '{');
        json_put_text(json, "kind", str_of(kind_word((enum kind)kind)));
        json_put_integer(json, "self_ps", overview->time.kinds_ps[kind]);
        put_share(json, overview->time.kinds_ps[kind], overview->time_total_ps);
        if (kind == KIND_IDLE && overview->device_count == 0 && overview_is_unrecorded(overview))
            json_put_text(json, "label", str_of(doing_word(DOING_NOTHING)));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_integer(json, "breakdown_total_ps", overview->time_total_ps);
    json_put_text(json, "breakdown_of", overview->counted > 0 ? STR("steps") : STR("capture"));
}

static void put_known(struct json *json, const char *key, bool known, double share)
{
    if (known)
        json_put_real(json, key, share);
    else
        json_put_null(json, key);
}

static void put_efficiency(struct json *json, const struct overview_efficiency *efficiency)
{
    json_key(json, "efficiency");
    json_open(json, '{');
    put_known(json, "mfu", efficiency->has_mfu, efficiency->mfu);
    json_put_bool(json, "is_least", efficiency->is_least);
    json_put_text_or_null(json, "peak", efficiency->peak);
    put_known(json, "roofline_share", efficiency->has_roof_share, efficiency->roof_share);
    put_known(json, "flops", efficiency->has_flops, efficiency->flops);
    put_known(json, "recomputed_flops", efficiency->has_flops, efficiency->recomputed_flops);
    put_known(json, "known_share", efficiency->has_flops, efficiency->known_share);
    json_key(json, "reasons");
    json_open(json, '{');
    if (!efficiency->has_mfu)
        json_put_text(json, "mfu", efficiency->mfu_reason);
    if (!efficiency->has_roof_share)
        json_put_text(json, "roofline_share", efficiency->roof_reason);
    json_close(json, '}');
    json_close(json, '}');
}

/* What the breakdown does not tell: work and waiting of devices, and what hosts did meanwhile. */
static void put_duty(struct json *json, const struct overview *overview)
{
    const struct device_time *time = &overview->time;
    const struct {
        const char *key;
        int64_t value;
    } figures[] = {{"busy_ps", time->busy_ps},
                   {"work_ps", time->busy_ps - time->wait_ps},
                   {"wait_ps", time->wait_ps},
                   {"hidden_communication_ps", time->hidden_ps}};

    json_key(json, "duty");
    json_open(json, '{');
    for (size_t i = 0; i < COUNT(figures); i++) {
        if (overview->device_count > 0)
            json_put_integer(json, figures[i].key, figures[i].value);
        else
            json_put_null(json, figures[i].key);
    }
    json_key(json, "reasons");
    json_open(json, '{');
    for (size_t i = 0; overview->device_count == 0 && i < COUNT(figures); i++)
        json_put_text(json, figures[i].key, STR("no work of a device was recorded"));
    json_close(json, '}');
    json_close(json, '}');
    json_key(json, "idle_causes");
    json_open(json, '[');
    for (int doing = 0; doing < DOING_COUNT; doing++) {
        bool is_idle =
            overview->device_count > 0 || doing_kind((enum host_doing)doing) == KIND_IDLE;

        if (!is_idle || time->doing_ps[doing] == 0)
            continue;
        json_open(json, '{');
        json_put_text(json, "cause", str_of(doing_word((enum host_doing)doing)));
        json_put_text(json, "kind", str_of(kind_word(doing_kind((enum host_doing)doing))));
        json_put_integer(json, "self_ps", time->doing_ps[doing]);
        put_share(json, time->doing_ps[doing], overview->time_total_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
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
        if (device->has_share)
            json_put_real(json, "busy_share", device->busy_share);
        else
            json_put_null(json, "busy_share");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_bytes(struct json *json, const char *key, int64_t bytes)
{
    if (bytes >= 0)
        json_put_integer(json, key, bytes);
    else
        json_put_null(json, key);
}

/* The allocator with the highest peak, as a line of 200 points; null with the reason why not. */
static void put_memory(struct json *json, const struct memory_summary *memory)
{
    json_key(json, "memory");
    json_open(json, '{');
    json_put_text_or_null(json, "reason", memory->reason);
    if (memory->reason.count == 0) {
        json_put_text(json, "allocator", memory->allocator);
        json_put_text(json, "host", memory->host);
        json_put_integer(json, "peak_bytes", memory->peak_bytes);
        json_put_integer(json, "peak_at_ps", memory->peak_at_ps);
        put_bytes(json, "capacity_bytes", memory->capacity_bytes);
        put_bytes(json, "before_bytes", memory->before_bytes);
        json_put_text_or_null(json, "owner", memory->owner);
        json_put_text_or_null(json, "owner_scope", memory->owner_scope);
        put_bytes(json, "owner_bytes", memory->owner_bytes);
        json_put_bool(json, "owner_is_known", memory->owner_is_known);
        json_key(json, "points");
        json_open(json, '[');
        for (uint32_t i = 0; i < memory->point_count; i++) {
            json_open(json, '{');
            json_put_integer(json, "at_ps", memory->points[i].at_ps);
            json_put_integer(json, "bytes", memory->points[i].bytes);
            json_close(json, '}');
        }
        json_close(json, ']');
    }
    json_close(json, '}');
}

/* The newest snapshot of memory and its largest owners; null where the run has none. */
static void put_snapshot(struct json *json, const struct overview *overview)
{
    json_key(json, "snapshot");
    if (!overview->has_snapshot) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_text(json, "name", overview->snapshot.snapshot->name);
    json_put_integer(json, "total_bytes", overview->snapshot.total);
    json_key(json, "rows");
    json_open(json, '[');
    json_put_row_objects(json, &overview->snapshot.table);
    json_close(json, ']');
    json_close(json, '}');
}

/* Where ops ran; what of hosts and callbacks might be on a device. */
static void put_places(struct json *json, const struct op_placement *places)
{
    json_key(json, "places");
    json_open(json, '{');
    json_put_text_or_null(json, "reason", places->reason);
    json_put_integer(json, "total_ps", places->total_ps);
    json_key(json, "rows");
    json_open(json, '[');
    for (int place = 0; places->reason.count == 0 && place < PLACE_COUNT; place++) {
        const struct place_time *time = &places->of[place];

        json_open(json, '{');
        json_put_text(json, "place", str_of(place_word((enum place)place)));
        if (time->reason.count == 0) {
            json_put_integer(json, "self_ps", time->self_ps);
            put_share(json, time->self_ps, places->total_ps);
            json_put_unsigned(json, "count", time->count);
        } else {
            json_put_null(json, "self_ps");
            json_put_null(json, "share");
            json_put_null(json, "count");
        }
        json_put_text_or_null(json, "reason", time->reason);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key(json, "movable");
    json_open(json, '[');
    for (uint32_t i = 0; i < places->movable_count; i++) {
        const struct movable *op = &places->movable[i];

        json_open(json, '{');
        json_put_text(json, "name", op->name);
        json_put_text(json, "place", str_of(place_word(op->place)));
        json_put_integer(json, "self_ps", op->self_ps);
        json_put_unsigned(json, "count", op->count);
        json_put_text(json, "why", str_of(op->why));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_unsigned(json, "movable_count", places->movable_count_all);
    json_put_integer(json, "movable_ps", places->movable_ps);
    json_close(json, '}');
}

static void put_most(struct json *json, const struct overview *overview)
{
    json_key(json, "most");
    if (!overview->most.known) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_real(json, "share", 0.8);
    json_put_unsigned(json, "count", overview->most.count);
    json_put_unsigned(json, "of", overview->most.of);
    json_close(json, '}');
}

/* Where the critical path of the typical step lies, the largest parts first. */
static void put_path(struct json *json, const struct run_traces *run,
                     const struct overview *overview)
{
    const struct path_places *path = &overview->path;

    json_key(json, "path");
    json_open(json, '{');
    json_put_text_or_null(json, "reason", path->reason);
    json_put_text(json, "sentence", overview->path_sentence);
    if (path->step == NULL)
        json_put_null(json, "step");
    else
        json_put_integer(json, "step", path->step->number);
    json_put_text_or_null(json, "host", path->count > 0 ? run->hosts[path->host].name : STR(""));
    json_put_integer(json, "dur_ps", path->dur_ps);
    json_key(json, "rows");
    json_open(json, '[');
    for (uint32_t i = 0; i < path->count && i < PATH_ROWS; i++) {
        const struct path_place *place = &path->items[i];

        json_open(json, '{');
        json_put_text(json, "name", place->name);
        json_put_text(json, "of", str_of(place_of_word(place->of)));
        json_put_text(json, "kind", str_of(piece_word(place->kind)));
        json_put_integer(json, "on_path_ps", place->on_path_ps);
        put_share(json, place->on_path_ps, path->dur_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_unsigned(json, "row_count", path->count);
    json_close(json, '}');
}

static enum status put_findings(struct json *json, struct memo *memo,
                                const struct overview *overview, struct error *err)
{
    const struct page page = {.limit = OVERVIEW_FINDINGS};
    struct table table;

    TRY(findings_table(memo, &overview->findings, &page, &table, err));
    json_key(json, "findings");
    json_open(json, '[');
    json_put_findings(json, memo->run, &overview->findings, &table);
    json_close(json, ']');
    json_put_unsigned(json, "finding_count", overview->findings.count);
    return OK;
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

    TRY(request_all_traces(req, &run, err)); /* as its findings have them on a page of their own */
    TRY(request_restriction(req, &restriction, err));

    struct memo *memo = request_memo(req, run, &restriction);

    TRY(overview(memo, &answer, err));
    if (reply_table_text(req, reply, &answer.top))
        return OK;
    uint32_t counts[3] = {0, answer.note_count, answer.findings.note_count};
    const struct answer_note *lists[3] = {request_notes(req, &counts[0]), answer.notes,
                                          answer.findings.notes};
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "sentence", answer.sentence);
    json_put_integer(&json, "duration_ps", answer.duration_ps);
    json_put_text(&json, "basis", answer.basis);
    put_step(&json, &answer);
    put_breakdown(&json, &answer);
    put_duty(&json, &answer);
    put_efficiency(&json, &answer.efficiency);
    put_devices(&json, run, &answer);
    put_top(&json, &answer.top);
    put_most(&json, &answer);
    put_path(&json, run, &answer);
    put_places(&json, &answer.places);
    put_memory(&json, &answer.memory);
    put_snapshot(&json, &answer);
    TRY(put_findings(&json, memo, &answer, err));
    json_put_notes(&json, lists, counts, 3);
    json_put_approx(&json, &answer.top);
    json_close(&json, '}');
    return OK;
}

static const struct ahead ahead[] = {{.params = "", .shares = true}, {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "", .what = "overview's figures", .rank = 2}, {.params = NULL}};

static const struct verb verb = {
    .name = "overview", .summary = "where the step time goes", .operands = "RUN"};

static const struct tool_argument arguments[] = {TOOL_RUN, TOOL_TOKENS, TOOL_END};
static const struct tool tools[] = {
    {.name = "overview",
     .title = "Overview",
     .text = "Where a run's step time goes: a sentence, steps, breakdown by kind of work, devices, "
             "the costliest ops, the first findings. Call this first.",
     .arguments = arguments,
     .columns = TOOL_OP_COLUMNS " idle_ps busy_ps busy_share device host rule severity "
                                "confidence text remedy win_ps self_ps message step",
     .rank = 2},
    {.name = NULL}};

const struct route route_overview = {.method = "GET",
                                     .path = "/api/overview",
                                     .handle = get_overview,
                                     .params = params,
                                     .heavy = true,
                                     .ahead = ahead,
                                     .in_bundle = in_bundle,
                                     .verb = &verb,
                                     .tools = tools};
