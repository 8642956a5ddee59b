/* SPDX-License-Identifier: Apache-2.0 */
/* GET /  and  GET /assets/NAME: the UI, from memory.
 *
 * Names below assets/ carry a hash of their content, so they never change.
 */
#include "base/bisect.h"
#include "serve/access/gate.h"
#include "serve/answer/reply.h"
#include "serve/assets.h"
#include "serve/routes.h"

static const struct asset *find(struct str path)
{
    uint32_t at = BISECT(0, asset_count, i, str_compare(str_of(assets[i].path), path) < 0);

    return at < asset_count && str_equal(str_of(assets[at].path), path) ? &assets[at] : NULL;
}

static enum status send(struct request *req, struct reply *reply, struct str path, bool immutable,
                        struct error *err)
{
    const struct asset *asset = find(path);

    if (asset == NULL)
        return fail(err, ERR_NOT_FOUND, "this program contains no %.*s", STR_ARG(path));
    reply->status = 200;
    reply->type = asset->mime;
    reply_header(reply, STR("Vary"), STR("Accept-Encoding"));
    if (asset->is_gzip && !encoding_accepted(req, STR("gzip")))
        TRY(asset_put(asset, &reply->body, err));
    else
        reply->borrowed = asset->stored;
    if (asset->is_gzip && reply->borrowed.count > 0)
        reply_header(reply, STR("Content-Encoding"), STR("gzip"));
    if (immutable)
        reply_header(reply, STR("Cache-Control"), STR("public, max-age=31536000, immutable"));
    return OK;
}

/* Named origins may frame the view that has no controls round it. */
static void allow_frames(struct request *req, struct reply *reply)
{
    const struct services *services = req->services;
    struct text who = {0};

    for (uint32_t i = 0; i < services->embed_origin_count; i++)
        text_putf(&who, "%s%.*s", i > 0 ? " " : "", STR_ARG(services->embed_origins[i]));
    reply->frame_ancestors = str_copy(req->arena, text_str(&who));
    text_free(&who);
}

static enum status get_page(struct request *req, struct reply *reply, struct error *err)
{
    if (gate_is_embedded(req->path, req->query))
        allow_frames(req, reply);
    return send(req, reply, STR("/index.html"), false, err);
}

static enum status get_asset(struct request *req, struct reply *reply, struct error *err)
{
    return send(req, reply, req->path, true, err);
}

const struct route route_page = {.method = "GET",
                                 .path = "/",
                                 .handle = get_page,
                                 .light = true,
                                 .any_query = true,
                                 .age = AGE_BUILD};
const struct route route_assets = {
    .method = "GET", .path = "/assets/*", .handle = get_asset, .light = true, .age = AGE_BUILD};
