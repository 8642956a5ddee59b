/* A table of small replies by hash, each good until the catalog changes. */
#include "serve/kept/reply_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "serve/answer/etag.h"
#include "serve/answer/header.h"
#include "serve/answer/reply.h"

enum { SLOTS = 512, BODY_BYTES_MAX = 32768, KEPT_HEADERS_MAX = 4, HEADER_BYTES_MAX = 96 };

struct kept_header {
    char name[HEADER_BYTES_MAX], value[HEADER_BYTES_MAX];
};

struct slot {
    struct hash128 key;
    uint64_t generation;
    struct kept_header headers[KEPT_HEADERS_MAX];
    uint32_t header_count;
    uint8_t *body; /* NULL: empty */
    size_t body_count;
};

struct reply_cache {
    pthread_mutex_t mutex;
    struct slot slots[SLOTS];
};

struct reply_cache *reply_cache_create(void)
{
    struct reply_cache *cache = memory_resize(NULL, 1, sizeof *cache);

    *cache = (struct reply_cache){0};
    pthread_mutex_init(&cache->mutex, NULL);
    return cache;
}

void reply_cache_destroy(struct reply_cache *cache)
{
    if (cache == NULL)
        return;
    for (uint32_t i = 0; i < SLOTS; i++)
        free(cache->slots[i].body);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

/* What decides the bytes of an answer, besides the catalog. */
static struct hash128 key_of(const struct request *req)
{
    const char *encoding = encoding_accepted(req, STR("zstd"))   ? "zstd"
                           : encoding_accepted(req, STR("gzip")) ? "gzip"
                                                                 : "";
    struct str key =
        str_format(req->arena, "%.*s?%.*s %s", STR_ARG(req->path), STR_ARG(req->query), encoding);

    return hash128((struct bytes){.at = (const uint8_t *)key.at, .count = key.count});
}

static bool same_key(struct hash128 a, struct hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

static void fill(const struct slot *slot, struct arena *arena, struct reply *reply)
{
    uint8_t *body = arena_alloc(arena, slot->body_count, 1);

    memcpy(body, slot->body, slot->body_count);
    reply->status = 200;
    reply->type = TYPE_JSON;
    reply->borrowed = (struct bytes){.at = body, .count = slot->body_count};
    for (uint32_t i = 0; i < slot->header_count; i++)
        reply_header(reply, str_copy(arena, str_of(slot->headers[i].name)),
                     str_copy(arena, str_of(slot->headers[i].value)));
}

bool reply_cache_get(struct reply_cache *cache, const struct request *req, uint64_t generation,
                     struct reply *reply)
{
    struct hash128 key = key_of(req);
    struct slot *slot = &cache->slots[key.low % SLOTS];
    struct str known = header_get(req->headers, req->header_count, STR("if-none-match"));

    pthread_mutex_lock(&cache->mutex);
    bool found = slot->body != NULL && slot->generation == generation && same_key(slot->key, key);
    if (found)
        fill(slot, req->arena, reply);
    pthread_mutex_unlock(&cache->mutex);
    if (found && known.count > 0 && etag_matches(known, reply_header_get(reply, STR("ETag")))) {
        struct str etag = reply_header_get(reply, STR("ETag"));

        *reply = (struct reply){.status = 304};
        reply_header(reply, STR("ETag"), etag);
    }
    return found;
}

static bool is_keepable(const struct reply *reply)
{
    size_t count = reply_bytes(reply).count;

    if (reply->status != 200 || reply->stream != NULL || count == 0 || count > BODY_BYTES_MAX ||
        !str_equal(str_of(reply->type), STR(TYPE_JSON)) || reply->header_count > KEPT_HEADERS_MAX ||
        reply_header_get(reply, STR("ETag")).count == 0)
        return false;
    for (uint32_t i = 0; i < reply->header_count; i++) {
        if (reply->headers[i].name.count >= HEADER_BYTES_MAX ||
            reply->headers[i].value.count >= HEADER_BYTES_MAX)
            return false;
    }
    return true;
}

static void copy_text(char to[HEADER_BYTES_MAX], struct str from)
{
    memcpy(to, from.at, from.count);
    to[from.count] = '\0';
}

void reply_cache_put(struct reply_cache *cache, const struct request *req, uint64_t generation,
                     const struct reply *reply)
{
    if (!is_keepable(reply))
        return;
    struct hash128 key = key_of(req);
    struct slot *slot = &cache->slots[key.low % SLOTS];
    struct bytes body = reply_bytes(reply);

    pthread_mutex_lock(&cache->mutex);
    slot->body = memory_resize(slot->body, body.count, 1);
    memcpy(slot->body, body.at, body.count);
    slot->body_count = body.count;
    slot->key = key;
    slot->generation = generation;
    slot->header_count = reply->header_count;
    for (uint32_t i = 0; i < reply->header_count; i++) {
        copy_text(slot->headers[i].name, reply->headers[i].name);
        copy_text(slot->headers[i].value, reply->headers[i].value);
    }
    pthread_mutex_unlock(&cache->mutex);
}
