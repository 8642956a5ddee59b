#include "serve/stored.h"

#include <pthread.h>

#include "serve/etag.h"
#include "serve/reply.h"
#include "serve/request.h"
#include "store/answers.h"

bool stored_may(const struct request *req, const struct run_record *run)
{
    const struct route *route = request_route(req);

    return route->heavy && route_takes_run(route) && run->slice_count >= STORED_SLICES_MIN &&
           (run->state == RUN_READY || run->state == RUN_PARTIAL) && req->services->cache != NULL &&
           !request_is(req, "spread", "none");
}

enum { MAKING_MAX = 32 }; /* more are made without anybody waiting for them */

static struct making {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct hash128 keys[MAKING_MAX];
    uint64_t turns[MAKING_MAX]; /* the makers of one key are told apart by it */
    uint32_t count;
    uint64_t turn;
} making = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* making.count: nobody makes it. */
static uint32_t place_of(struct hash128 key)
{
    uint32_t at = 0;

    while (at < making.count &&
           (making.keys[at].low != key.low || making.keys[at].high != key.high))
        at++;
    return at;
}

static bool is_making(struct hash128 key, uint64_t turn)
{
    uint32_t at = place_of(key);

    return at < making.count && making.turns[at] == turn;
}

/* Whoever has waited waits no more: what is never kept would be made by one after the other. */
bool stored_take(struct request *req, const struct run_record *run)
{
    struct hash128 key;

    if (!answer_key(req, run, &key))
        return false;
    pthread_mutex_lock(&making.lock);
    uint32_t at = place_of(key);
    bool taken = at == making.count && at < MAKING_MAX;
    if (taken) {
        making.keys[at] = key;
        making.turns[at] = ++making.turn;
        making.count++;
    }
    uint64_t turn = at < making.count ? making.turns[at] : 0;
    while (!taken && is_making(key, turn))
        pthread_cond_wait(&making.changed, &making.lock);
    pthread_mutex_unlock(&making.lock);
    return taken;
}

void stored_leave(struct request *req, const struct run_record *run)
{
    struct hash128 key;

    if (!answer_key(req, run, &key))
        return;
    pthread_mutex_lock(&making.lock);
    uint32_t at = place_of(key);
    if (at < making.count) {
        making.keys[at] = making.keys[--making.count];
        making.turns[at] = making.turns[making.count];
    }
    pthread_cond_broadcast(&making.changed);
    pthread_mutex_unlock(&making.lock);
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
