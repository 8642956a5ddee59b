/* SPDX-License-Identifier: Apache-2.0 */
/* A table of small replies by hash, each good until the catalog changes.
 *
 * Every slot has its place in one mapping, and pages behind its body go back to the system. Bodies
 * from malloc would lie among what requests free, and hold its pages: the server would grow by
 * some hundred bytes a question.
 */
#include "serve/kept/reply_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
    size_t body_count; /* 0: empty */
};

struct reply_cache {
    pthread_mutex_t mutex;
    struct slot slots[SLOTS];
    uint8_t *bodies; /* BODY_BYTES_MAX a slot; NULL: nothing is kept */
    size_t page;
};

static uint8_t *body_of(const struct reply_cache *cache, const struct slot *slot)
{
    return cache->bodies + (size_t)(slot - cache->slots) * BODY_BYTES_MAX;
}

static size_t whole_pages(const struct reply_cache *cache, size_t count)
{
    return (count + cache->page - 1) / cache->page * cache->page;
}

struct reply_cache *reply_cache_create(void)
{
    struct reply_cache *cache = memory_resize(NULL, 1, sizeof *cache);

    *cache = (struct reply_cache){.page = (size_t)sysconf(_SC_PAGESIZE)};
    pthread_mutex_init(&cache->mutex, NULL);
    void *bodies = mmap(NULL, (size_t)SLOTS * BODY_BYTES_MAX, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cache->bodies = bodies == MAP_FAILED ? NULL : bodies;
    return cache;
}

void reply_cache_destroy(struct reply_cache *cache)
{
    if (cache == NULL)
        return;
    if (cache->bodies != NULL)
        (void)munmap(cache->bodies, (size_t)SLOTS * BODY_BYTES_MAX);
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

static void fill(const struct reply_cache *cache, const struct slot *slot, struct arena *arena,
                 struct reply *reply)
{
    uint8_t *body = arena_alloc(arena, slot->body_count, 1);

    memcpy(body, body_of(cache, slot), slot->body_count);
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
    bool found = slot->body_count > 0 && slot->generation == generation && same_key(slot->key, key);
    if (found)
        fill(cache, slot, req->arena, reply);
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
    if (cache->bodies == NULL || !is_keepable(reply))
        return;
    struct hash128 key = key_of(req);
    struct slot *slot = &cache->slots[key.low % SLOTS];
    struct bytes body = reply_bytes(reply);

    pthread_mutex_lock(&cache->mutex);
    size_t held = whole_pages(cache, slot->body_count), taken = whole_pages(cache, body.count);
    if (held > taken)
        (void)madvise(body_of(cache, slot) + taken, held - taken, MADV_DONTNEED);
    memcpy(body_of(cache, slot), body.at, body.count);
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
