/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers for CUPTI's records, handed out and taken back by bits of two words, without a lock. */
#include "inject/cupti/cupti_pool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { POOL_IS_BUSY = POOL_BUFFERS / 4 };

struct shelf { /* buffers of one size */
    uint8_t *at;
    size_t size;
    _Atomic uint64_t free, ready;
    size_t valid[64];
};

static struct shelf pool = {.size = POOL_BUFFER_BYTES}, reserve = {.size = RESERVE_BUFFER_BYTES};

static bool shelf_open(struct shelf *shelf, unsigned count)
{
    shelf->at = mmap(NULL, count * shelf->size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shelf->at == MAP_FAILED)
        return false;
    atomic_store(&shelf->free, UINT64_MAX >> (64 - count));
    return true;
}

bool pool_open(void)
{
    return shelf_open(&pool, POOL_BUFFERS) && shelf_open(&reserve, RESERVE_BUFFERS);
}

static uint8_t *shelf_take(struct shelf *shelf)
{
    uint64_t free = atomic_load(&shelf->free);

    while (free != 0 && !atomic_compare_exchange_weak(&shelf->free, &free, free & (free - 1)))
        ;
    return free == 0 ? NULL : shelf->at + (size_t)__builtin_ctzll(free) * shelf->size;
}

uint8_t *pool_take(size_t *ret_size)
{
    uint8_t *at = shelf_take(&pool);

    *ret_size = POOL_BUFFER_BYTES;
    if (at == NULL) {
        at = shelf_take(&reserve);
        *ret_size = RESERVE_BUFFER_BYTES;
    }
    if (at == NULL)
        *ret_size = 0;
    return at;
}

static bool shelf_has(const struct shelf *shelf, unsigned count, const uint8_t *at)
{
    uintptr_t from = (uintptr_t)shelf->at;

    return (uintptr_t)at >= from && (uintptr_t)at < from + count * shelf->size;
}

bool pool_give(const uint8_t *at, size_t valid)
{
    struct shelf *shelf = shelf_has(&pool, POOL_BUFFERS, at)         ? &pool
                          : shelf_has(&reserve, RESERVE_BUFFERS, at) ? &reserve
                                                                     : NULL;

    if (shelf == NULL)
        return false;
    size_t index = (size_t)(at - shelf->at) / shelf->size;
    shelf->valid[index] = valid < shelf->size ? valid : shelf->size;
    uint64_t before = atomic_fetch_or(&shelf->ready, UINT64_C(1) << index);
    return shelf == &reserve || __builtin_popcountll(before) + 1 >= POOL_IS_BUSY;
}

static bool shelf_next(struct shelf *shelf, struct pool_buffer *ret)
{
    uint64_t ready = atomic_load(&shelf->ready);

    if (ready == 0)
        return false;
    ret->index = (uint32_t)__builtin_ctzll(ready);
    atomic_fetch_and(&shelf->ready, ~(UINT64_C(1) << ret->index));
    ret->is_reserve = shelf == &reserve;
    ret->at = shelf->at + (size_t)ret->index * shelf->size;
    ret->valid = shelf->valid[ret->index];
    return true;
}

bool pool_next(struct pool_buffer *ret)
{
    return shelf_next(&pool, ret) || shelf_next(&reserve, ret);
}

/* All of it is zeroed: CUPTI is told that it gets them so. */
void pool_free(const struct pool_buffer *buffer)
{
    struct shelf *shelf = buffer->is_reserve ? &reserve : &pool;

    memset(buffer->at, 0, shelf->size);
    atomic_fetch_or(&shelf->free, UINT64_C(1) << buffer->index);
}
