/* SPDX-License-Identifier: Apache-2.0 */
/*   cache -> [ content, sums, holders 1 ] -> [ ..., holders 0 ] -> [ content, too large ] -> ...
 *
 * Most recently asked for first; what nobody holds goes from the end while all are larger than the
 * limit. Sums are made without the lock: who asks for the same meanwhile waits, nobody else. What
 * came out larger than the cache is not made again: its content stays, without sums.
 */
#include <pthread.h>
#include <stdlib.h>

#include "analyse/scan/block_sums.h"
#include "base/arena.h"
#include "base/lost.h"

enum {
    SLICES_MIN = 1 << 17,
    ENTRIES_MAX = 64,        /* nobody's go beyond, also those without sums */
    SLICE_BYTES_LIKELY = 12, /* of the sums of several hosts, which are held together */
};

struct shelved {
    char content[33];
    uint32_t entry_count;    /* of the attribution that it was made from */
    struct block_sums *sums; /* NULL: they are being made, or are too large */
    bool is_made;
    uint32_t holders;
    struct shelved *next;
};

struct block_sum_cache {
    pthread_mutex_t lock;
    pthread_cond_t made;
    struct shelved *first;
    uint64_t bytes_max;
};

struct block_sum_cache *block_sum_cache_create(uint64_t bytes_max)
{
    struct block_sum_cache *cache = memory_resize(NULL, 1, sizeof *cache);

    *cache = (struct block_sum_cache){.bytes_max = bytes_max};
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->made, NULL);
    return cache;
}

static void drop(struct shelved **at)
{
    struct shelved *old = *at;

    *at = old->next;
    block_sums_free(old->sums);
    free(old);
}

void block_sum_cache_destroy(struct block_sum_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->first != NULL)
        drop(&cache->first);
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Lock held. */
static void make_room(struct block_sum_cache *cache)
{
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (struct shelved **at = &cache->first; *at != NULL;) {
        uint64_t own = (*at)->sums == NULL ? 0 : (*at)->sums->bytes;

        if ((bytes + own > cache->bytes_max || count == ENTRIES_MAX) && (*at)->holders == 0) {
            drop(at);
        } else {
            bytes += own;
            count += count < ENTRIES_MAX;
            at = &(*at)->next;
        }
    }
}

/* The entry of this content, taken out of the list; NULL: there is none. Lock held. */
static struct shelved *take(struct block_sum_cache *cache, const char content[33],
                            uint32_t entry_count)
{
    for (struct shelved **at = &cache->first; *at != NULL; at = &(*at)->next) {
        struct shelved *one = *at;

        if (one->entry_count == entry_count && strcmp(one->content, content) == 0) {
            *at = one->next;
            return one;
        }
    }
    return NULL;
}

/* It stands first, held by one more. Lock held. */
static struct shelved *find_or_add(struct block_sum_cache *cache, const char content[33],
                                   uint32_t entry_count, bool *ret_is_new)
{
    struct shelved *one = take(cache, content, entry_count);

    *ret_is_new = one == NULL;
    if (one == NULL) {
        one = memory_resize(NULL, 1, sizeof *one);
        *one = (struct shelved){.entry_count = entry_count};
        memcpy(one->content, content, sizeof one->content);
    }
    one->holders++;
    one->next = cache->first;
    cache->first = one;
    return one;
}

struct making {
    const struct trace *trace;
    const struct attribution *attribution;
    struct block_sums *sums;
};

static void make_guarded(void *data)
{
    struct making *making = data;

    making->sums = block_sums_make(making->trace, making->attribution);
}

/* The lock is held before and after, not meanwhile. False: a page of the trace was lost; nobody
 * finds this entry again, and who waits for it goes without. */
static bool make(struct block_sum_cache *cache, struct shelved *one, const struct trace *trace,
                 const struct attribution *attribution)
{
    struct making making = {.trace = trace, .attribution = attribution};

    pthread_mutex_unlock(&cache->lock);
    bool whole = lost_guard(make_guarded, &making);
    struct block_sums *sums = whole ? making.sums : NULL;

    if (whole && sums->bytes > cache->bytes_max) {
        block_sums_free(sums);
        sums = NULL;
    }
    pthread_mutex_lock(&cache->lock);
    one->sums = sums;
    one->is_made = true;
    if (!whole)
        one->content[0] = '\0';
    pthread_cond_broadcast(&cache->made);
    return whole;
}

const struct block_sums *block_sum_cache_hold(struct block_sum_cache *cache, const char content[33],
                                              const struct trace *trace,
                                              const struct attribution *attribution)
{
    bool is_new, whole = true;

    if (trace->slice_count < SLICES_MIN)
        return NULL;
    pthread_mutex_lock(&cache->lock);
    struct shelved *one =
        find_or_add(cache, content, attribution == NULL ? 0 : attribution->entry_count, &is_new);
    if (is_new)
        whole = make(cache, one, trace, attribution);
    while (!one->is_made)
        pthread_cond_wait(&cache->made, &cache->lock);
    const struct block_sums *sums = one->sums;
    one->holders -= sums == NULL; /* nothing to give back */
    make_room(cache);
    pthread_mutex_unlock(&cache->lock);
    if (!whole)
        lost_leave();
    return sums;
}

bool block_sum_cache_fits(const struct block_sum_cache *cache, uint64_t slice_count)
{
    return slice_count <= cache->bytes_max / SLICE_BYTES_LIKELY;
}

void block_sum_cache_release(struct block_sum_cache *cache, const struct block_sums *sums)
{
    if (sums == NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    for (struct shelved *one = cache->first; one != NULL; one = one->next)
        one->holders -= one->sums == sums;
    make_room(cache);
    pthread_mutex_unlock(&cache->lock);
}
