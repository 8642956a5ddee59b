/* SPDX-License-Identifier: Apache-2.0 */
/* The one-time link, where a token is needed.
 *
 *   GET  /launch/CODE   -> the cookie, and on to the page; each code once,
 *                          within 10 minutes
 *   POST /api/launch    -> {"path": "launch/CODE"}: `jviewd open` makes a new link with the token
 */
#include "base/clock.h"
#include "serve/access/auth.h"
#include "serve/answer/reply.h"
#include "serve/routes.h"
#include "serve/server.h"

static struct auth *auth_of(const struct request *req)
{
    return req->server == NULL ? NULL : atomic_load(&req->server->auth);
}

static enum status get_launch(struct request *req, struct reply *reply, struct error *err)
{
    struct auth *auth = auth_of(req);
    struct str code = str_skip(req->path, sizeof "/launch/" - 1);

    (void)err;
    if (auth != NULL && auth_mode(auth) == AUTH_TOKEN) {
        /* A HEAD is a look, not a use. */
        if (str_equal(req->method, STR("HEAD")) || !auth_redeem(auth, code, clock_monotonic_ns())) {
            reply_problem(reply, 403, "used",
                          STR("This link was used already, is older than 10 minutes, or belongs to "
                              "another server: `jviewd open` makes a new one."));
            return OK;
        }
        reply_header(reply, STR("Set-Cookie"), auth_cookie(auth, req->arena));
    }
    reply->status = 303;
    reply_header(reply, STR("Location"), STR("../"));
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    return OK;
}

static enum status post_launch(struct request *req, struct reply *reply, struct error *err)
{
    struct auth *auth = auth_of(req);
    char code[AUTH_SECRET_SIZE] = "";

    if (auth == NULL || auth_mode(auth) != AUTH_TOKEN)
        return fail(err, ERR_NOT_FOUND, "this server needs no token, so it has no launch links");
    auth_launch(auth, code);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "path", str_format(req->arena, "launch/%s", code));
    json_close(&json, '}');
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    return OK;
}

const struct route route_launch = {
    .method = "GET", .path = "/launch/*", .handle = get_launch, .light = true, .open = true};
const struct route route_launch_make = {
    .method = "POST", .path = "/api/launch", .handle = post_launch, .light = true};
