/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/openapi: every endpoint, its parameters, its replies. */
#include "serve/routes/openapi.h"

#include "serve/answer/reply.h"
#include "serve/routes.h"

static enum status get_openapi(struct request *req, struct reply *reply, struct error *err)
{
    (void)req;
    (void)err;
    reply->status = 200;
    reply->type = "application/yaml; charset=utf-8";
    reply->borrowed = (struct bytes){.at = openapi_yaml, .count = openapi_yaml_count};
    return OK;
}

const struct route route_openapi = {
    .method = "GET", .path = "/api/openapi", .handle = get_openapi, .age = AGE_BUILD};
