/* SPDX-License-Identifier: Apache-2.0 */
/* GET /healthz: the process answers.  GET /readyz: the first scan has ended. */
#include "serve/answer/reply.h"
#include "serve/routes.h"

static enum status get_healthz(struct request *req, struct reply *reply, struct error *err)
{
    (void)req;
    (void)err;
    reply->status = 200;
    reply->type = TYPE_TEXT;
    text_puts(&reply->body, "ok\n");
    return OK;
}

static enum status get_readyz(struct request *req, struct reply *reply, struct error *err)
{
    struct scan_state scan = catalog_scan(req->services->catalog);

    if (!scan.done_once)
        return fail(err, ERR_NOT_READY,
                    "the first scan is under way: %llu directories, %llu files so far",
                    (unsigned long long)scan.directories, (unsigned long long)scan.files);
    reply->status = 200;
    reply->type = TYPE_TEXT;
    text_puts(&reply->body, "ready\n");
    return OK;
}

const struct route route_healthz = {
    .method = "GET", .path = "/healthz", .handle = get_healthz, .light = true, .open = true};
const struct route route_readyz = {
    .method = "GET", .path = "/readyz", .handle = get_readyz, .light = true, .open = true};
