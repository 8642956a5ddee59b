/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit ids to small numbers: line ids, metadata ids, program ids. Any id may come, also hostile
 * ones; nothing is removed. */
#ifndef JVIEWD_DECODE_ID_MAP_H
#define JVIEWD_DECODE_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct id_map {
    struct id_map_slot *slots;
    uint32_t count, capacity; /* a power of two, at most two thirds full */
};

/* The number of the id, or `value` after adding it; *ret_new says which. */
uint32_t id_map_add(struct id_map *map, uint64_t id, uint32_t value, bool *ret_new);
bool id_map_find(const struct id_map *map, uint64_t id, uint32_t *ret);
void id_map_free(struct id_map *map);

#endif
