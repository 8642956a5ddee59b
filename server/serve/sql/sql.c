/* SPDX-License-Identifier: Apache-2.0 */
/* POST /api/sql?run=: one SELECT over a run's tables, or over those of all runs.
 *
 *   {"query": "select name, count(*), sum(dur_ps) from slices group by name"}
 *
 * The answer comes from a process of its own (sql_parts.h); this one finds the runs, waits until
 * they are indexed, and holds their files meanwhile.
 */
#include <jansson.h>

#include "serve/answer/etag.h"
#include "serve/answer/run_out.h"
#include "serve/routes.h"
#include "serve/routes/trend/trend.h"
#include "serve/sql/sql_job.h"
#include "serve/sql/sql_parts.h"
#include "serve/tool.h"
#include "store/sql.h"

enum {
    ROWS_DEFAULT = 10000,
    ROWS_MAX = 100000,
    BYTES_MAX = 32 << 20,
    RUN_MS_DEFAULT = 10000,
    RUN_MS_MAX = 60000,
    RUNS_MAX = 10000,
    BESIDE_MAX = 4096, /* files of modules, of all runs together */
    PATH_SIZE = 4096,
};

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT, .max = 1024},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = ROWS_MAX},
    {.name = "timeout_ms", .kind = PARAM_INTEGER, .min = 100, .max = RUN_MS_MAX},
    PARAMS_FORMAT,
    {.name = NULL},
};

static void put_host(struct json *json, const struct request *req, const struct run_host *host,
                     bool is_held)
{
    struct cache *cache = req->services->cache;
    char path[PATH_SIZE];

    json_open(json, '{');
    json_put_text(json, "name", host->name);
    json_put_text(json, "key", (struct str){.at = host->content, .count = 8});
    json_put_integer(json, "offset_ps", host->offset_ps);
    cache_segment_path(cache, host->content, path);
    json_put_text(json, "segment", str_of(path));
    cache_attribution_path(cache, host->content, path);
    json_put_text(json, "attribution", str_of(path));
    json_put_bool(json, "checked", is_held);
    json_close(json, '}');
}

/* Modules that may say what the profile does not. */
static void put_beside(struct json *json, const struct request *req, const struct run_record *run,
                       uint32_t *left)
{
    char path[PATH_SIZE];

    json_key(json, "beside");
    json_open(json, '[');
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        const struct run_file *file = &run->files[i];

        if (file->content[0] == '\0' || file->part != PART_PROGRAMS || *left == 0)
            continue;
        json_open(json, '{');
        json_put_text(json, "name", file->path);
        json_put_text(json, "key", (struct str){.at = file->content, .count = 8});
        cache_segment_path(req->services->cache, file->content, path);
        json_put_text(json, "segment", str_of(path));
        json_close(json, '}');
        (*left)--;
    }
    json_close(json, ']');
}

static void put_run(struct json *json, struct request *req, const struct run_record *run,
                    bool is_held, uint32_t *beside_left)
{
    uint64_t step;

    json_open(json, '{');
    json_put_run_members(json, req, run);
    json_put_host_names(json, run);
    if (run_step_of(run->name, &step) && step <= INT64_MAX)
        json_put_unsigned(json, "run_step", step);
    trend_put_metrics(json, req, run);
    json_key(json, "open");
    json_open(json, '[');
    for (uint32_t i = 0; i < run->host_count; i++)
        put_host(json, req, &run->hosts[i], is_held);
    json_close(json, ']');
    put_beside(json, req, run, beside_left);
    sql_put_kept(json, req, run);
    json_close(json, '}');
}

/* The one that run= names, once it can be opened; else all of them, as they are. */
static enum status put_runs(struct request *req, struct json *json, struct error *err)
{
    const struct run_query all = {.limit = RUNS_MAX};
    const struct run_traces *traces;
    const struct run_record *run;
    struct run_record *runs;
    uint32_t count, beside_left = BESIDE_MAX;
    uint64_t count_all;

    if (request_has(req, "run")) {
        TRY(request_traces(req, &traces, err));
        TRY(request_run(req, &run, err));
        put_run(json, req, run, true, &beside_left);
        return OK;
    }
    TRY(catalog_runs(req->services->catalog, &all, req->arena, &runs, &count, &count_all, err));
    for (uint32_t i = 0; i < count; i++) {
        /* A list holds no files; only where there are more than hosts they are looked at. */
        if (runs[i].file_count > runs[i].host_count && beside_left > 0)
            TRY(catalog_run(req->services->catalog, runs[i].id, req->arena, &runs[i], err));
        put_run(json, req, &runs[i], false, &beside_left);
    }
    return OK;
}

/* As it stands in the answer: {"id", "name"}, or null for all runs. */
static void put_run_member(struct request *req, struct json *json)
{
    const struct run_record *run = request_run_known(req);
    struct text text = {0};
    struct json member = json_into(&text);

    if (run == NULL) {
        json_add_null(&member);
    } else {
        json_open(&member, '{');
        json_put_text(&member, "id", run->id);
        json_put_text(&member, "name", run->name);
        json_close(&member, '}');
    }
    json_put_text(json, "run", text_str(&text));
    text_free(&text);
}

static enum status query_of(const struct request *req, struct str *ret, struct error *err)
{
    json_error_t where;
    json_t *body = json_loadb((const char *)req->body.at, req->body.count, JSON_ALLOW_NUL, &where);
    const json_t *query = json_object_get(body, "query");
    bool alone = json_object_size(body) == 1;

    *ret = str_copy(req->arena, (struct str){.at = json_string_value(query),
                                             .count = json_string_length(query)});
    bool is_text = json_is_string(query);
    json_decref(body);
    if (body == NULL)
        return fail(err, ERR_INVALID, "the body is not valid JSON: %s, line %d", where.text,
                    where.line);
    if (!is_text || !alone)
        return fail(err, ERR_INVALID,
                    "the body must be {\"query\": \"select ...\"} and nothing else");
    if (ret->count >= SQL_QUERY_BYTES_MAX)
        return fail(err, ERR_LIMIT, "a query may have at most %d bytes; this one has %zu",
                    SQL_QUERY_BYTES_MAX, ret->count);
    return OK;
}

static enum status write_query(struct request *req, int64_t run_ms, struct text *out,
                               struct error *err)
{
    struct json json = json_into(out);
    struct str query;

    TRY(query_of(req, &query, err));
    json_open(&json, '{');
    json_put_text(&json, "query", query);
    json_put_integer(&json, "rows_max", request_integer(req, "limit", ROWS_DEFAULT));
    json_put_integer(&json, "bytes_max", BYTES_MAX);
    json_put_integer(&json, "run_ms", run_ms);
    json_put_text(&json, "format", request_text(req, "format"));
    json_close(&json, '}');
    return OK;
}

/* sql_describe */
static enum status write_runs(void *data, struct text *out, struct error *err)
{
    struct request *req = data;
    struct json json = json_into(out);

    json_open(&json, '{');
    json_key(&json, "runs");
    json_open(&json, '[');
    TRY(put_runs(req, &json, err));
    json_close(&json, ']');
    put_run_member(req, &json);
    json_close(&json, '}');
    return OK;
}

/* All that write_runs stands on: which run is named, and the catalog. */
static struct hash128 asked_of(const struct request *req)
{
    struct request named = *req;

    named.query = request_text(req, "run");
    struct str tag = etag_of_catalog(&named);
    return hash128((struct bytes){.at = (const uint8_t *)tag.at, .count = tag.count});
}

/* Of all runs: those that are damaged are found, go, and are read again. */
static void drop_damaged(struct request *req)
{
    const struct run_query all = {.limit = RUNS_MAX};
    const struct services *services = req->services;
    struct run_record *runs;
    struct error ignored = {0};
    uint64_t count_all;
    uint32_t count;

    if (catalog_runs(services->catalog, &all, req->arena, &runs, &count, &count_all, &ignored) !=
        OK)
        return;
    for (uint32_t i = 0; i < count; i++) {
        bool any = false;

        for (uint32_t host = 0; host < runs[i].host_count; host++) {
            struct cached held;

            if (cache_acquire_trace(services->cache, runs[i].hosts[host].content, &held,
                                    &(struct error){0}) != OK)
                continue;
            any |= !cache_check(services->cache, held, true) &&
                   cache_drop_damaged(services->cache, held);
            cache_release(services->cache, held);
        }
        if (any && services->wait != NULL)
            (void)(services->wait(services->ingest, runs[i].id, 0, &(struct error){0}) == OK);
    }
}

/* Nothing of it is answered: the run that was asked waits for its new index (dispatch.c), of all
 * runs those that are damaged are looked for. */
static enum status take_back(struct request *req, struct error *err)
{
    const struct run_traces *held; /* a process that stayed was not told of the run again */

    if (!request_has(req, "run"))
        drop_damaged(req);
    else if (request_all_traces(req, &held, &(struct error){0}) == OK)
        request_check_held(req, true);
    return fail(
        err, ERR_NOT_READY,
        "an index that the query reads was damaged on disk and is being rebuilt: try again");
}

static enum status post_sql(struct request *req, struct reply *reply, struct error *err)
{
    int64_t run_ms = request_integer(req, "timeout_ms", RUN_MS_DEFAULT);
    struct text query = {0};
    struct sql_answer answer = {0};
    enum status status = write_query(req, run_ms, &query, err);
    const struct sql_task job = {.asked = asked_of(req),
                                 .describe = write_runs,
                                 .data = req,
                                 .query = text_str(&query),
                                 .run_ms = run_ms};

    if (status == OK)
        status = sql_job(&job, req->server != NULL, req->arena, &answer, err);
    text_free(&query);
    if (status == ERR_CONFLICT) {
        reply_problem(reply, 429, "busy", str_of(err->message));
        reply_header(reply, STR("Retry-After"), STR("1"));
        return OK;
    }
    TRY(status);
    if (answer.status == SQL_STATUS_DAMAGED)
        return take_back(req, err);
    reply->status = answer.status;
    reply->type = str_c(req->arena, answer.type);
    reply->borrowed =
        (struct bytes){.at = (const uint8_t *)answer.body.at, .count = answer.body.count};
    return OK;
}

static const struct verb verb = {
    .name = "sql",
    .summary = "a SELECT over slices, ops, names, steps, ... of a run or of all",
    .operands = "RUN|--all QUERY",
    .posts = "query"};

static const struct tool_argument arguments[] = {
    {"query", TOOL_TEXT, true,
     "One SELECT of SQLite. Tables: slices, {views}, runs, metrics; the table columns lists all. "
     "Times are picoseconds",
     NULL},
    {"run", TOOL_TEXT, false, "A run; all runs if not given", NULL},
    {"limit", TOOL_INTEGER, false, "Rows at most: 1000", NULL},
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "sql",
     .title = "SQL",
     .text =
         "A read-only SELECT over slices, ops, names, steps, kernels, memory, ... of a run or of "
         "all runs. Numbers are those of the other tools.",
     .arguments = arguments,
     .fixed = "limit=100",
     .limit_max = 1000},
    {.name = NULL}};

const struct route route_sql = {.method = "POST",
                                .path = "/api/sql",
                                .handle = post_sql,
                                .params = params,
                                .apart = true,
                                .verb = &verb,
                                .tools = tools};
