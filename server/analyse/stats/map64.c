/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with linear probing, whose hash is seeded by each process anew. */
#include "analyse/stats/map64.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/scratch.h"

enum { SLOTS_MIN = 64 };

/* Another in each process: keys come from files, and who knew where they go could send all of them
 * to one place. Nothing that is stored or told depends on the order of slots. */
static uint64_t secret[2];

__attribute__((constructor)) static void make_secret(void)
{
    if (getrandom(secret, sizeof secret, 0) != sizeof secret)
        secret[0] = (uint64_t)clock_monotonic_ns() ^ (uint64_t)(uintptr_t)&secret;
    secret[1] |= 1;
}

__extension__ typedef unsigned __int128 wide_uint;

/* The middle of a product by a number nobody knows. */
static uint64_t mix(uint64_t key)
{
    wide_uint product = (wide_uint)(key ^ secret[0]) * secret[1];

    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static struct map64_slot *slot_of(const struct map64 *map, uint64_t key)
{
    uint64_t at = mix(key) & map->mask;

    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static struct map64_slot *make_slots(const struct map64 *map, uint64_t count)
{
    if (map->scratch != NULL)
        return scratch_array(map->scratch, struct map64_slot, count);

    struct map64_slot *slots = memory_zeroed(count, sizeof(*slots));
    return slots;
}

static void free_slots(const struct map64 *map)
{
    if (map->scratch != NULL)
        scratch_free(map->scratch, map->slots);
    else
        free(map->slots);
}

static void resize(struct map64 *map, uint64_t slot_count)
{
    struct map64 larger = {.count = map->count, .mask = slot_count - 1, .scratch = map->scratch};

    larger.slots = make_slots(map, slot_count);
    for (uint64_t i = 0; map->slots != NULL && i <= map->mask; i++) {
        if (map->slots[i].used)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    }
    free_slots(map);
    *map = larger;
}

void map64_reserve(struct map64 *map, uint32_t count)
{
    uint64_t slot_count = map->slots == NULL ? SLOTS_MIN : map->mask + 1;

    while (slot_count * 2 < (uint64_t)count * 3 + 3)
        slot_count *= 2;
    if (map->slots == NULL || slot_count > map->mask + 1)
        resize(map, slot_count);
}

void map64_prefetch(const struct map64 *map, uint64_t key)
{
    if (map->slots != NULL)
        __builtin_prefetch(&map->slots[mix(key) & map->mask]);
}

void map64_free(struct map64 *map)
{
    free_slots(map);
    *map = (struct map64){.scratch = map->scratch};
}

bool map64_get(const struct map64 *map, uint64_t key, uint32_t *ret)
{
    if (map->count == 0)
        return false;

    const struct map64_slot *slot = slot_of(map, key);

    if (!slot->used)
        return false;
    *ret = slot->value;
    return true;
}

uint32_t *map64_at(struct map64 *map, uint64_t key, uint32_t fresh)
{
    if (map->slots == NULL || (uint64_t)map->count * 3 >= 2 * map->mask)
        resize(map, map->slots == NULL ? SLOTS_MIN : 2 * (map->mask + 1));

    struct map64_slot *slot = slot_of(map, key);

    if (!slot->used) {
        *slot = (struct map64_slot){.key = key, .value = fresh, .used = 1};
        map->count++;
    }
    return &slot->value;
}
