/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps steps as copies in arenas, those that were asked last first. */
#include "serve/kept/found_steps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 16 };

struct kept_steps {
    struct kept_steps *next;
    struct hash128 key;
    struct arena *arena;
    struct steps steps;
    uint64_t bytes;
};

struct found_steps {
    pthread_mutex_t lock;
    struct kept_steps *first;
    uint64_t bytes_max;
};

struct found_steps *found_steps_create(uint64_t bytes_max)
{
    struct found_steps *found = memory_resize(NULL, 1, sizeof *found);

    *found = (struct found_steps){.bytes_max = bytes_max};
    pthread_mutex_init(&found->lock, NULL);
    return found;
}

static void drop(struct kept_steps **at)
{
    struct kept_steps *old = *at;

    *at = old->next;
    arena_destroy(old->arena);
    free(old);
}

void found_steps_destroy(struct found_steps *found)
{
    if (found == NULL)
        return;
    while (found->first != NULL)
        drop(&found->first);
    pthread_mutex_destroy(&found->lock);
    free(found);
}

static uint32_t device_count_of(const struct run_traces *run, uint32_t host)
{
    const struct attribution *of = run->hosts[host].attribution;

    return of == NULL ? 0 : of->device_count;
}

/* Of what copy takes; texts are short beside it. */
static uint64_t bytes_of(const struct steps *steps)
{
    return steps->count * sizeof *steps->items;
}

static const bool *const *copy_works(const struct run_traces *run, const struct steps *from,
                                     struct arena *arena)
{
    if (from->works == NULL)
        return NULL;

    bool **ret = arena_array(arena, bool *, (size_t)run->host_count + 1);

    for (uint32_t host = 0; host < run->host_count; host++) {
        uint32_t count = device_count_of(run, host);

        if (from->works[host] == NULL)
            continue;
        ret[host] = arena_array(arena, bool, (size_t)count + 1);
        memcpy(ret[host], from->works[host], count * sizeof *ret[host]);
    }
    return (const bool *const *)ret;
}

/* Steps of one name mostly share its text. */
static struct step *copy_items(const struct steps *from, struct arena *arena)
{
    struct step *ret = arena_array(arena, struct step, (size_t)from->count + 1);

    for (uint32_t i = 0; i < from->count; i++) {
        ret[i] = from->items[i];
        ret[i].name = i > 0 && str_equal(from->items[i].name, ret[i - 1].name)
                          ? ret[i - 1].name
                          : str_copy(arena, from->items[i].name);
    }
    return ret;
}

static struct steps copy(const struct run_traces *run, const struct steps *from,
                         struct arena *arena)
{
    struct steps ret = *from;

    ret.items = copy_items(from, arena);
    ret.rule_text = str_copy(arena, from->rule_text);
    ret.doubt = str_copy(arena, from->doubt);
    ret.others = str_copy(arena, from->others);
    ret.apart = str_copy(arena, from->apart);
    ret.beside = str_copy(arena, from->beside);
    ret.confidence_text = str_copy(arena, from->confidence_text);
    ret.lanes = NULL;
    ret.owners = NULL;
    ret.works = copy_works(run, from, arena);
    return ret;
}

/* Taken out of the list; NULL: it is not there. Lock held. */
static struct kept_steps *take(struct found_steps *found, struct hash128 key)
{
    for (struct kept_steps **at = &found->first; *at != NULL; at = &(*at)->next) {
        struct kept_steps *one = *at;

        if (one->key.low == key.low && one->key.high == key.high) {
            *at = one->next;
            return one;
        }
    }
    return NULL;
}

static void put_first(struct found_steps *found, struct kept_steps *one)
{
    one->next = found->first;
    found->first = one;
}

bool found_steps_get(struct found_steps *found, struct hash128 key, const struct run_traces *run,
                     struct arena *arena, struct steps *ret)
{
    pthread_mutex_lock(&found->lock);
    struct kept_steps *one = take(found, key);
    if (one != NULL) {
        put_first(found, one);
        *ret = copy(run, &one->steps, arena);
    }
    pthread_mutex_unlock(&found->lock);
    return one != NULL;
}

/* Lock held. */
static void make_room(struct found_steps *found)
{
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (struct kept_steps **at = &found->first; *at != NULL;) {
        bytes += (*at)->bytes;
        if (bytes > found->bytes_max || ++count > RUNS_MAX) {
            bytes -= (*at)->bytes;
            drop(at);
        } else {
            at = &(*at)->next;
        }
    }
}

void found_steps_put(struct found_steps *found, struct hash128 key, const struct run_traces *run,
                     const struct steps *steps)
{
    uint64_t bytes = bytes_of(steps);

    if (bytes > found->bytes_max)
        return;

    struct kept_steps *one = memory_resize(NULL, 1, sizeof *one);

    *one = (struct kept_steps){.key = key, .arena = arena_create(), .bytes = bytes};
    one->steps = copy(run, steps, one->arena);
    pthread_mutex_lock(&found->lock);
    struct kept_steps *old = take(found, key);
    put_first(found, one);
    make_room(found);
    pthread_mutex_unlock(&found->lock);
    if (old != NULL) {
        arena_destroy(old->arena);
        free(old);
    }
}
