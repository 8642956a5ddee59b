/* SPDX-License-Identifier: Apache-2.0 */
/* What happens around each handler: the route is found, its answer tagged, kept or read from where
 * it was kept, and a failure told. */
#include "serve/dispatch/dispatch.h"

#include "base/distance.h"
#include "serve/answer/etag.h"
#include "serve/answer/handle.h"
#include "serve/answer/route_table.h"
#include "serve/dispatch/budget.h"
#include "serve/kept/kept.h"
#include "serve/kept/stored.h"

static bool path_matches(const struct route *route, struct str path)
{
    struct str pattern = str_of(route->path);

    if (pattern.at[pattern.count - 1] != '*')
        return str_equal(pattern, path);
    pattern.count--;
    return path.count > pattern.count && str_starts(path, pattern);
}

const struct route *route_find(const struct route_table *table, struct str method, struct str path,
                               struct str *ret_allow, struct arena *arena)
{
    const struct route *found = NULL;
    struct str wanted = str_equal(method, STR("HEAD")) ? STR("GET") : method;
    struct str allow = STR("");

    for (uint32_t i = 0; i < table->count; i++) {
        if (!path_matches(table->items[i], path))
            continue;
        if (str_equal(str_of(table->items[i]->method), wanted))
            found = table->items[i];
        const char *shown =
            strcmp(table->items[i]->method, "GET") == 0 ? "GET, HEAD" : table->items[i]->method;
        allow = str_format(arena, "%.*s%s%s", STR_ARG(allow), allow.count > 0 ? ", " : "", shown);
    }
    *ret_allow = allow;
    return found;
}

static void no_route(struct request *req, struct reply *reply, struct str allow)
{
    const struct route_table *table = req->services->routes;
    const char *nearest = "/api/runs";
    unsigned least = UINT32_MAX;

    if (allow.count > 0) {
        reply_problem(
            reply, 405, "method-not-allowed",
            str_format(req->arena, "%.*s takes %.*s.", STR_ARG(req->path), STR_ARG(allow)));
        reply_header(reply, STR("Allow"), allow);
        return;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        unsigned distance = edit_distance(req->path, str_of(table->items[i]->path));

        if (distance < least) {
            least = distance;
            nearest = table->items[i]->path;
        }
    }
    reply_problem(
        reply, 404, "not-found",
        str_format(req->arena,
                   "There is no %.*s here; the nearest is %s, and /api/openapi lists all.",
                   req->path.count > 200 ? 200 : (int)req->path.count, req->path.at, nearest));
}

/* "" where answers are never the same twice. */
static enum status tag(struct request *req, struct str *ret, struct error *err)
{
    const struct route *route = request_route(req);
    const struct run_record *run;

    *ret = STR("");
    if (strcmp(route->method, "GET") != 0)
        return OK;
    if (route_takes_run(route)) {
        TRY(request_run(req, &run, err));
        *ret = etag_of_run(req, run);
    } else if (route->age == AGE_CATALOG) {
        *ret = etag_of_catalog(req);
    } else if (route->age == AGE_BUILD) {
        *ret = etag_of_build(req);
    }
    return OK;
}

/* What was asked before of a large run is read where it was kept. */
static enum status handle_kept(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_record *run = request_run_known(req);

    if (run == NULL || !stored_may(req, run))
        return reply_handle(req, reply, err);
    if (request_route(req)->is_table)
        return kept_answer(req, run, reply, err);
    if (stored_get(req, run, reply))
        return OK;
    bool is_ours = stored_take(req, run);
    enum status status = OK;
    if (!stored_get(req, run, reply)) {
        status = reply_handle(req, reply, err);
        if (status == OK)
            stored_put(req, run, reply);
    }
    if (is_ours)
        stored_leave(req, run);
    return status;
}

/* What computes over a whole run does so within the budget of memory. */
static enum status handle(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_record *run = request_run_known(req);

    if (run == NULL || !request_route(req)->heavy)
        return handle_kept(req, reply, err);
    uint64_t bytes = budget_estimate(run->slice_count);
    TRY(budget_enter(bytes, err));
    enum status status = handle_kept(req, reply, err);
    budget_leave(bytes);
    return status;
}

static enum status answer(struct request *req, struct reply *reply, struct error *err)
{
    struct str etag, known = request_header(req, STR("if-none-match"));

    TRY(tag(req, &etag, err));
    if (etag.count > 0 && known.count > 0 && etag_matches(known, etag)) {
        reply->status = 304;
        reply->type = NULL;
    } else {
        TRY(handle(req, reply, err));
    }
    if (etag.count > 0 && reply_header_get(reply, STR("ETag")).count == 0)
        reply_header(reply, STR("ETag"), etag);
    return OK;
}

/* What was made of damaged bytes is never sent, a failure neither. */
static enum status take_back(struct request *req, struct reply *reply, struct error *err)
{
    text_free(&reply->body);
    *reply = (struct reply){.held = req->state};
    *err = (struct error){0};
    return request_drop_damaged(req, err);
}

bool serve_try(struct request *req, struct reply *reply)
{
    struct error err = {0};
    enum status status = OK;

    if (req->state == NULL) {
        struct str allow;
        const struct route *route =
            route_find(req->services->routes, req->method, req->path, &allow, req->arena);

        if (route == NULL) {
            no_route(req, reply, allow);
            return true;
        }
        status = request_open(req, route, &err);
    }
    reply->held = req->state;
    if (status == OK)
        status = answer(req, reply, &err);
    if (status == OK && reply->stream != NULL && !reply->stream_copies)
        request_check_held(req, false);
    if (request_damaged(req))
        status = take_back(req, reply, &err);
    if (status == ERR_NOT_READY && request_should_wait(req)) {
        text_free(&reply->body);
        *reply = (struct reply){0};
        return false;
    }
    if (status != OK)
        reply_failure(req, reply, &err);
    if (reply->stream == NULL) {
        request_release(reply->held);
        reply->held = NULL;
    }
    return true;
}

void serve_wait(struct request *req)
{
    request_wait(req);
    request_release(req->state);
}

void serve_wait_not(struct request *req)
{
    request_wait_not(req);
    request_release(req->state);
}

void serve_request(struct request *req, struct reply *reply)
{
    *reply = (struct reply){0};
    while (!serve_try(req, reply))
        serve_wait(req);
}
