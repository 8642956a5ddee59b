/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit ids to small numbers. */
#include "decode/id_map.h"

#include <stdlib.h>

#include "base/arena.h"

struct id_map_slot {
    uint64_t id;
    uint32_t value;
    bool taken;
};

enum { CAPACITY_FIRST = 64 };

static uint32_t slot_of(const struct id_map *map, uint64_t id)
{
    uint64_t mixed = (id ^ id >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(mixed >> 32) & (map->capacity - 1);

    while (map->slots[slot].taken && map->slots[slot].id != id)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static void grow(struct id_map *map)
{
    struct id_map old = *map;

    map->capacity = old.capacity == 0 ? CAPACITY_FIRST : old.capacity * 2;
    map->slots = memory_resize(NULL, map->capacity, sizeof *map->slots);
    for (uint32_t slot = 0; slot < map->capacity; slot++)
        map->slots[slot].taken = false;
    for (uint32_t slot = 0; slot < old.capacity; slot++)
        if (old.slots[slot].taken)
            map->slots[slot_of(map, old.slots[slot].id)] = old.slots[slot];
    free(old.slots);
}

uint32_t id_map_add(struct id_map *map, uint64_t id, uint32_t value, bool *ret_new)
{
    if (map->count >= map->capacity / 3 * 2)
        grow(map);
    struct id_map_slot *slot = &map->slots[slot_of(map, id)];
    *ret_new = !slot->taken;
    if (*ret_new) {
        *slot = (struct id_map_slot){.id = id, .value = value, .taken = true};
        map->count++;
    }
    return slot->value;
}

bool id_map_find(const struct id_map *map, uint64_t id, uint32_t *ret)
{
    if (map->count == 0)
        return false;
    const struct id_map_slot *slot = &map->slots[slot_of(map, id)];
    if (slot->taken)
        *ret = slot->value;
    return slot->taken;
}

void id_map_free(struct id_map *map)
{
    free(map->slots);
    *map = (struct id_map){0};
}
