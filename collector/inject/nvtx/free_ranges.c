/* SPDX-License-Identifier: Apache-2.0 */
/* A table of ranges that one thread started and another may end, under one lock. */
#include "inject/nvtx/free_ranges.h"

#include <pthread.h>

/* An id is turn . place; a place's turn grows with each use, so that a late end meets nothing. */
struct place {
    struct range range;
    uint32_t turn, next_free;
    bool is_open;
};

enum { PLACE_BITS = 17, NO_PLACE = 0 };

static struct place places[FREE_RANGES_MAX + 1]; /* from 1 on */
static uint32_t used = 1, first_free = NO_PLACE;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t free_range_start(const struct range *range)
{
    uint64_t id = 0;

    pthread_mutex_lock(&lock);
    uint32_t index = first_free != NO_PLACE ? first_free : used <= FREE_RANGES_MAX ? used++ : 0;
    if (index != NO_PLACE) {
        struct place *place = &places[index];
        if (index == first_free)
            first_free = place->next_free;
        *place = (struct place){.range = *range, .turn = place->turn + 1, .is_open = true};
        id = (uint64_t)place->turn << PLACE_BITS | index;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

bool free_range_end(uint64_t id, struct range *ret)
{
    uint64_t index = id & ((1u << PLACE_BITS) - 1);
    bool is_found = false;

    if (index == 0 || index > FREE_RANGES_MAX)
        return false;
    pthread_mutex_lock(&lock);
    struct place *place = &places[index];
    if (place->is_open && place->turn == id >> PLACE_BITS) {
        *ret = place->range;
        place->is_open = false;
        place->next_free = first_free;
        first_free = (uint32_t)index;
        is_found = true;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

uint32_t free_ranges_open(struct range *ret, uint32_t max)
{
    uint32_t count = 0;

    pthread_mutex_lock(&lock);
    for (uint32_t index = 1; index < used && count < max; index++)
        if (places[index].is_open)
            ret[count++] = places[index].range;
    pthread_mutex_unlock(&lock);
    return count;
}
