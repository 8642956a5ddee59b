/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of kept answers, and who makes one while others wait for it. */
#include "serve/kept/stored.h"

#include <pthread.h>
#include <stdlib.h>

#include "serve/answer/etag.h"
#include "serve/answer/reply.h"
#include "serve/answer/request.h"
#include "serve/answer/route_table.h"
#include "store/answers.h"

bool stored_is_large(const struct run_record *run)
{
    return run->slice_count >= STORED_SLICES_MIN || run->host_count >= STORED_HOSTS_MIN;
}

bool stored_may(const struct request *req, const struct run_record *run)
{
    const struct route *route = request_route(req);

    return route->heavy && route_takes_run(route) && stored_is_large(run) &&
           (run->state == RUN_READY || run->state == RUN_PARTIAL) && req->services->cache != NULL &&
           !request_is(req, "spread", "none");
}

enum {
    RAW_BYTES_MAX = 64 << 20, /* what is kept of them is 8 MiB at most: see store/answers.h */
    PACK_LEVEL = 1,
};

static const uint64_t too_large = UINT64_MAX; /* alone: instead of how many bytes they are */

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

bool stored_is_making(void)
{
    pthread_mutex_lock(&making.lock);
    bool any = making.count > 0;
    pthread_mutex_unlock(&making.lock);
    return any;
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

/* Packed: how many bytes they are, then one frame. */
bool stored_unpack(struct arena *arena, struct bytes body, struct bytes *ret)
{
    uint64_t count;
    struct error ignored = {0};

    if (body.count < sizeof count)
        return false;
    memcpy(&count, body.at, sizeof count);
    if (count > RAW_BYTES_MAX)
        return false;

    uint8_t *raw = arena_alloc(arena, count, 1);

    body.at += sizeof count;
    body.count -= sizeof count;
    *ret = (struct bytes){.at = raw, .count = count};
    return zstd_unpack(raw, count, body, &ignored) == OK;
}

bool stored_get_bytes(struct request *req, const struct run_record *run, struct bytes *ret)
{
    struct hash128 key;
    struct bytes body;

    return answer_key(req, run, &key) &&
           answers_get(req->services->cache, key, req->arena, &body) &&
           stored_unpack(req->arena, body, ret);
}

bool stored_is_refused(struct request *req, const struct run_record *run)
{
    struct hash128 key;
    struct bytes body;

    return answer_key(req, run, &key) &&
           answers_get(req->services->cache, key, req->arena, &body) &&
           body.count == sizeof too_large && memcmp(body.at, &too_large, sizeof too_large) == 0;
}

/* What was made of damaged bytes is not kept; nor what tells of a damage that is mended by now. */
static void put(struct request *req, const struct run_record *run, struct bytes body)
{
    struct hash128 key;

    if (!request_damaged(req) && !request_saw_remade(req) && answer_key(req, run, &key))
        answers_put(req->services->cache, key, run->host_count > 0 ? run->hosts[0].content : "",
                    body);
}

void stored_refuse(struct request *req, const struct run_record *run)
{
    put(req, run, (struct bytes){.at = (const uint8_t *)&too_large, .count = sizeof too_large});
}

void stored_put_bytes(struct request *req, const struct run_record *run, struct bytes bytes)
{
    size_t capacity = zstd_bound(bytes.count);
    uint64_t count = bytes.count;

    if (count > RAW_BYTES_MAX) {
        stored_refuse(req, run);
        return;
    }

    uint8_t *packed = memory_resize(NULL, sizeof count + capacity, 1);

    memcpy(packed, &count, sizeof count);

    size_t packed_count =
        sizeof count + zstd_pack(packed + sizeof count, capacity, bytes, PACK_LEVEL);

    if (packed_count > ANSWER_BYTES_MAX)
        stored_refuse(req, run);
    else
        put(req, run, (struct bytes){.at = packed, .count = packed_count});
    free(packed);
}

bool stored_get(struct request *req, const struct run_record *run, struct reply *reply)
{
    struct bytes body;

    if (!stored_get_bytes(req, run, &body))
        return false;
    reply->borrowed = body;
    reply->status = 200;
    reply->type = TYPE_JSON;
    return true;
}

void stored_put(struct request *req, const struct run_record *run, const struct reply *reply)
{
    if (reply->status == 200 && reply->stream == NULL && reply->header_count == 0 &&
        str_equal(str_of(reply->type), STR(TYPE_JSON)))
        stored_put_bytes(req, run, reply_bytes(reply));
}
