/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/jobs: what is being indexed, and what waits. */
#include "serve/answer/reply.h"
#include "serve/routes.h"

static const struct param params[] = {PARAMS_PAGE, {.name = NULL}};

static void put_job(struct json *json, const struct job *job)
{
    json_open(json, '{');
    json_put_text(json, "run", job->run);
    json_put_text(json, "run_name", job->run_name);
    json_put_text(json, "file", job->file);
    json_put_text(json, "state", job->state);
    json_put_real(json, "progress", job->progress);
    json_put_unsigned(json, "bytes", job->bytes);
    json_close(json, '}');
}

static enum status get_jobs(struct request *req, struct reply *reply, struct error *err)
{
    struct job *jobs = NULL;
    uint32_t count = 0;
    struct page page;

    TRY(request_page(req, &page, err));
    if (req->services->jobs != NULL &&
        req->services->jobs(req->services->ingest, req->arena, &jobs, &count) != OK)
        return fail(err, ERR_IO, "the queue of jobs cannot be read");
    uint64_t end = page.offset + page.limit < count ? page.offset + page.limit : count;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_key(&json, "jobs");
    json_open(&json, '[');
    for (uint64_t i = page.offset; i < end; i++)
        put_job(&json, &jobs[i]);
    json_close(&json, ']');
    json_put_unsigned(&json, "row_count", count);
    json_put_next(&json, end < count && end > page.offset ? end : 0);
    json_put_notes(&json, NULL, NULL, 0);
    json_close(&json, '}');
    return OK;
}

const struct route route_jobs = {
    .method = "GET", .path = "/api/jobs", .handle = get_jobs, .params = params, .light = true};
