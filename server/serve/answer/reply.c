/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a reply: headers, problems, progress, and members that many replies share. */
#include "serve/answer/reply.h"

#include <stdio.h>

#include "serve/answer/header.h"

void reply_header(struct reply *reply, struct str name, struct str value)
{
    if (reply->header_count < REPLY_HEADERS_MAX)
        reply->headers[reply->header_count++] = (struct header){.name = name, .value = value};
}

struct str reply_header_get(const struct reply *reply, struct str name)
{
    return header_get(reply->headers, reply->header_count, name);
}

struct bytes reply_bytes(const struct reply *reply)
{
    if (reply->borrowed.at != NULL)
        return reply->borrowed;
    return (struct bytes){.at = (const uint8_t *)reply->body.at, .count = reply->body.count};
}

struct json reply_json(struct reply *reply)
{
    reply->status = 200;
    reply->type = TYPE_JSON;
    return json_into(&reply->body);
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } rows[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {303, "See Other"},
        {304, "Not Modified"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].status == status)
            return rows[i].reason;
    }
    return "Status";
}

static struct json problem_open(struct reply *reply, int status, const char *type,
                                struct str detail)
{
    text_free(&reply->body);
    reply->borrowed = (struct bytes){0};
    reply->stream = NULL;
    reply->header_count = 0;
    reply->status = status;
    reply->type = TYPE_PROBLEM;

    struct json json = json_into(&reply->body);
    json_open(&json, '{');
    json_put_text(&json, "type", str_of(type));
    json_put_text(&json, "title", str_of(http_reason(status)));
    json_put_integer(&json, "status", status);
    json_put_text(&json, "detail", detail);
    return json;
}

void reply_problem(struct reply *reply, int status, const char *type, struct str detail)
{
    struct json json = problem_open(reply, status, type, detail);

    json_close(&json, '}');
}

static void put_nearest(struct json *json, const struct run_candidates *candidates)
{
    json_key(json, "nearest");
    json_open(json, '[');
    for (uint32_t i = 0; i < candidates->count; i++)
        json_add_text(json, candidates->names[i]);
    json_close(json, ']');
}

static void put_candidates(struct json *json, const struct run_candidates *candidates)
{
    json_key(json, "candidates");
    json_open(json, '[');
    for (uint32_t i = 0; i < candidates->count; i++) {
        json_open(json, '{');
        json_put_text(json, "id", candidates->ids[i]);
        json_put_text(json, "name", candidates->names[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_progress(struct json *json, const struct request *req, struct reply *reply)
{
    const struct run_record *run = request_run_known(req);

    json_key(json, "progress");
    if (run == NULL)
        json_add_null(json);
    else
        json_add_real(json, run->progress);
    if (run != NULL)
        json_put_text(json, "state", str_of(run_state_word(run->state)));
    reply_header(reply, STR("Retry-After"), STR("1"));
}

void reply_failure(const struct request *req, struct reply *reply, const struct error *err)
{
    static const struct {
        int status;
        const char *type;
    } rows[] = {
        [OK] = {500, "internal"},
        [ERR_IO] = {500, "io"},
        [ERR_PERMISSION] = {500, "permission"},
        [ERR_FORMAT] = {422, "failed"},
        [ERR_TRUNCATED] = {422, "failed"},
        [ERR_UNSUPPORTED] = {422, "unsupported"},
        [ERR_LIMIT] = {422, "limit"},
        [ERR_NOT_FOUND] = {404, "not-found"},
        [ERR_AMBIGUOUS] = {409, "ambiguous"},
        [ERR_INVALID] = {400, "bad-request"},
        [ERR_CONFLICT] = {409, "conflict"},
        [ERR_NOT_READY] = {503, "indexing"},
        [ERR_CANCELLED] = {503, "cancelled"},
        [ERR_BUSY] = {503, "busy"},
    };
    const struct run_candidates *candidates = request_candidates(req);
    struct json json =
        problem_open(reply, rows[err->code].status, rows[err->code].type, str_of(err->message));

    if (err->code == ERR_NOT_FOUND && candidates != NULL && request_named_no_run(req))
        put_nearest(&json, candidates);
    if (err->code == ERR_AMBIGUOUS && candidates != NULL)
        put_candidates(&json, candidates);
    if (err->code == ERR_NOT_READY)
        put_progress(&json, req, reply);
    json_close(&json, '}');
}

void reply_free(struct reply *reply)
{
    text_free(&reply->body);
    request_release(reply->held);
    reply->held = NULL;
}

void json_put_run(struct json *json, const struct run_traces *run)
{
    json_key(json, "run");
    json_open(json, '{');
    json_put_text(json, "id", run->id);
    json_put_text(json, "name", run->name);
    json_close(json, '}');
}

static const char *severity_word(enum note_severity severity)
{
    static const char *const words[] = {
        [NOTE_INFO] = "info", [NOTE_WARNING] = "warning", [NOTE_ERROR] = "error"};

    return (unsigned)severity < COUNT(words) ? words[severity] : "info";
}

void json_put_notes(struct json *json, const struct answer_note *const *lists,
                    const uint32_t *counts, uint32_t list_count)
{
    json_key(json, "notes");
    json_open(json, '[');
    for (uint32_t list = 0; list < list_count; list++) {
        for (uint32_t i = 0; i < counts[list]; i++) {
            const struct answer_note *note = &lists[list][i];

            json_open(json, '{');
            json_put_text(json, "kind", str_of(note->kind));
            json_put_text(json, "severity", str_of(severity_word(note->severity)));
            json_put_text(json, "message", note->message);
            json_put_text_or_null(json, "host", note->host);
            json_put_unsigned(json, "count", note->count);
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

void json_put_request_notes(struct json *json, const struct request *req)
{
    uint32_t count;
    const struct answer_note *notes = request_notes(req, &count);

    json_put_notes(json, &notes, &count, 1);
}

void json_put_counted(struct json *json, const struct request *req,
                      const struct restriction *restriction)
{
    char text[48];

    if (!request_is(req, "step", "counted"))
        return;
    if (restriction->step_range_count == 0) {
        json_put_null(json, "counted");
        return;
    }
    snprintf(text, sizeof text, "%lld-%lld", (long long)restriction->steps[0],
             (long long)restriction->steps[1]);
    json_put_text(json, "counted", str_of(text));
}

void json_put_next(struct json *json, uint64_t next)
{
    char cursor[32] = "n";

    json_key(json, "next");
    if (next == 0) {
        json_add_null(json);
        return;
    }
    size_t count = 1 + integer_digits((int64_t)next, cursor + 1);
    json_add_text(json, (struct str){.at = cursor, .count = count});
}
