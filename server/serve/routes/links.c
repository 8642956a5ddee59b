/* SPDX-License-Identifier: Apache-2.0 */
/* Short links to views: an address of the page, kept under an id that nobody guesses.
 *
 *   POST /api/links {"address": "?run=step_500&view=flame"}  ->  {"id", "path": "l/4f2k..."}
 *   GET  /l/4f2k...                                          ->  303 ../?run=step_500&view=flame
 */
#include "serve/answer/body.h"
#include "serve/answer/reply.h"
#include "serve/routes.h"
#include "store/user.h"

/* A query of our own page and nothing else, so that no link leads elsewhere. */
static bool is_address(struct str text)
{
    if (text.count < 2 || text.at[0] != '?')
        return false;
    for (size_t i = 0; i < text.count; i++) {
        uint8_t c = (uint8_t)text.at[i];

        if (c <= ' ' || c >= 127 || strchr("\"<>\\^`{|}#", c) != NULL)
            return false;
    }
    return true;
}

static enum status post_link(struct request *req, struct reply *reply, struct error *err)
{
    struct str address = STR("");
    const struct body_member members[] = {{.name = "address", .required = true, .text = &address}};
    char id[USER_LINK_ID_SIZE];

    TRY(body_read(req, members, COUNT(members), err));
    if (!is_address(address))
        return fail(err, ERR_INVALID,
                    "an address is the part of the URL after the page's path, from the question "
                    "mark on: \"?run=step_500&view=flame\", with other bytes as %%XX");
    TRY(user_add_link(req->services->user, address, id, err));
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "id", str_of(id));
    json_put_text(&json, "path", str_format(req->arena, "l/%s", id));
    json_put_text(&json, "address", address);
    json_close(&json, '}');
    return OK;
}

static enum status get_link(struct request *req, struct reply *reply, struct error *err)
{
    struct str id = str_skip(req->path, sizeof "/l/" - 1);
    struct str address = user_link(req->services->user, id, req->arena);

    if (!is_address(address))
        return fail(err, ERR_NOT_FOUND,
                    "this link is not known: another server made it, or its user database no "
                    "longer exists");
    reply->status = 303;
    reply_header(reply, STR("Location"), str_format(req->arena, "../%.*s", STR_ARG(address)));
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    return OK;
}

const struct route route_link_make = {.method = "POST", .path = "/api/links", .handle = post_link};
const struct route route_link = {.method = "GET", .path = "/l/*", .handle = get_link};
