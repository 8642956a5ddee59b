/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit key to a 32-bit value: open hashing, keys are added and never removed. */
#ifndef JVIEWD_ANALYSE_STATS_MAP64_H
#define JVIEWD_ANALYSE_STATS_MAP64_H

#include <stdbool.h>
#include <stdint.h>

struct scratch;

struct map64_slot {
    uint64_t key;
    uint32_t value, used;
};

struct map64 { /* zeroed is empty */
    struct map64_slot *slots;
    uint32_t count;
    uint64_t mask;
    struct scratch *scratch; /* where the slots stand; NULL: on the heap */
};

void map64_free(struct map64 *map);
bool map64_get(const struct map64 *map, uint64_t key, uint32_t *ret);
/* Where the key's value is; a new key's is `fresh`. Valid until the next call. */
uint32_t *map64_at(struct map64 *map, uint64_t key, uint32_t fresh);

/* Room for so many keys in all, so that adding them moves nothing. */
void map64_reserve(struct map64 *map, uint32_t count);
/* Asks for the key's place: many look-ups that know what comes next wait only once. */
void map64_prefetch(const struct map64 *map, uint64_t key);

static inline uint64_t map64_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

#endif
