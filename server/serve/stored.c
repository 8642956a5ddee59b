#include "serve/stored.h"

#include "serve/etag.h"
#include "serve/reply.h"
#include "serve/request.h"
#include "store/answers.h"

bool stored_may(const struct request *req, const struct run_record *run)
{
    const struct route *route = request_route(req);

    return route->heavy && route_takes_run(route) && run->slice_count >= STORED_SLICES_MIN &&
           (run->state == RUN_READY || run->state == RUN_PARTIAL) &&
           req->services->cache != NULL && !request_is(req, "spread", "none");
}

bool stored_get(struct request *req, const struct run_record *run, struct reply *reply)
{
    struct hash128 key;
    struct bytes body;

    if (!answer_key(req, run, &key) || !answers_get(req->services->cache, key, req->arena, &body))
        return false;
    reply->status = 200;
    reply->type = TYPE_JSON;
    reply->borrowed = body;
    return true;
}

void stored_put(struct request *req, const struct run_record *run, const struct reply *reply)
{
    struct hash128 key;

    if (reply->status == 200 && reply->stream == NULL && reply->header_count == 0 &&
        str_equal(str_of(reply->type), STR(TYPE_JSON)) && answer_key(req, run, &key))
        answers_put(req->services->cache, key, run->host_count > 0 ? run->hosts[0].content : "",
                    reply_bytes(reply));
}
