#include "analyse/map64.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SLOTS_MIN = 64 };

static uint64_t mix(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15ULL;
    return key ^ key >> 29;
}

static struct map64_slot *slot_of(const struct map64 *map, uint64_t key)
{
    uint64_t at = mix(key) & map->mask;

    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static void grow(struct map64 *map)
{
    struct map64 larger = {.count = map->count,
                           .mask = map->slots == NULL ? SLOTS_MIN - 1 : 2 * map->mask + 1};

    larger.slots = memory_resize(NULL, larger.mask + 1, sizeof(*larger.slots));
    memset(larger.slots, 0, (larger.mask + 1) * sizeof(*larger.slots));
    for (uint64_t i = 0; map->slots != NULL && i <= map->mask; i++) {
        if (map->slots[i].used)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    }
    free(map->slots);
    *map = larger;
}

void map64_free(struct map64 *map)
{
    free(map->slots);
    *map = (struct map64){0};
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
        grow(map);

    struct map64_slot *slot = slot_of(map, key);

    if (!slot->used) {
        *slot = (struct map64_slot){.key = key, .value = fresh, .used = 1};
        map->count++;
    }
    return &slot->value;
}
