/* SPDX-License-Identifier: Apache-2.0 */
/* An arena is a list of blocks, newest first; an allocation takes the next bytes of the newest.
 *
 *   arena -> [ block | used ......| free ] -> [ block | used .....|xx ] -> ...
 *
 * Blocks grow from 1 KiB to 1 MiB, so that a small request costs little and a large one few calls;
 * what does not fit gets a block of its own. Free space is poisoned under AddressSanitizer, with a
 * gap behind each allocation, so that running over an end is seen there.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#define POISON(at, size) __asan_poison_memory_region((at), (size))
#define UNPOISON(at, size) __asan_unpoison_memory_region((at), (size))
#else
enum { GAP = 0 };
#define POISON(at, size) ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

enum { ALIGN = 16, BLOCK_MIN = 1024, BLOCK_MAX = 1 << 20 };

struct block {
    struct block *older;
    size_t size, used; /* of the bytes behind this header */
};
_Static_assert(sizeof(struct block) <= 32, "the header keeps its bytes aligned");

enum { HEADER = 32 };

struct arena {
    struct block *newest;
    size_t used;                    /* by allocations, over all blocks */
    size_t next_size;               /* of the next block */
    struct arena *within, *sibling; /* those that leave with it, the newest first */
};

static unsigned char *block_bytes(struct block *block)
{
    return (unsigned char *)block + HEADER;
}

static struct block *block_create(size_t size)
{
    struct block *block = memory_calloc(1, HEADER + size);

    if (block == NULL)
        memory_refused(1, size);
    block->size = size;
    POISON(block_bytes(block), size);
    return block;
}

static void block_destroy(struct block *block)
{
    UNPOISON(block_bytes(block), block->size);
    free(block);
}

struct arena *arena_create(void)
{
    struct arena *arena = memory_calloc(1, sizeof(*arena));

    if (arena == NULL)
        memory_refused(1, sizeof(*arena));
    arena->next_size = BLOCK_MIN - HEADER;
    return arena;
}

struct arena *arena_within(struct arena *parent)
{
    struct arena *arena = arena_create();

    arena->sibling = parent->within;
    parent->within = arena;
    return arena;
}

static void destroy_within(struct arena *parent)
{
    for (struct arena *arena = parent->within, *next; arena != NULL; arena = next) {
        next = arena->sibling;
        arena_destroy(arena);
    }
    parent->within = NULL;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    destroy_within(arena);
    for (struct block *block = arena->newest, *older; block != NULL; block = older) {
        older = block->older;
        block_destroy(block);
    }
    free(arena);
}

/* The newest block that is small enough stays. */
static void reset_keeping(struct arena *arena, size_t size_max)
{
    struct block *kept = NULL;

    destroy_within(arena);
    for (struct block *block = arena->newest, *older; block != NULL; block = older) {
        older = block->older;
        if (kept == NULL && block->size <= size_max)
            kept = block;
        else
            block_destroy(block);
    }
    if (kept != NULL) {
        UNPOISON(block_bytes(kept), kept->size);
        memset(block_bytes(kept), 0, kept->used);
        POISON(block_bytes(kept), kept->size);
        kept->used = 0;
        kept->older = NULL;
    }
    arena->newest = kept;
    arena->used = 0;
}

void arena_reset(struct arena *arena)
{
    reset_keeping(arena, BLOCK_MAX);
}

void arena_reset_small(struct arena *arena)
{
    reset_keeping(arena, BLOCK_MIN);
    arena->next_size = BLOCK_MIN - HEADER;
}

size_t arena_used(const struct arena *arena)
{
    size_t used = arena->used;

    for (const struct arena *one = arena->within; one != NULL; one = one->sibling)
        used += arena_used(one);
    return used;
}

/* A block of its own for what is large, behind the newest one, which may still have room. */
static unsigned char *alloc_apart(struct arena *arena, size_t size)
{
    struct block *block = block_create(size);

    block->used = size;
    if (arena->newest == NULL) {
        arena->newest = block;
    } else {
        block->older = arena->newest->older;
        arena->newest->older = block;
    }
    return block_bytes(block);
}

static unsigned char *alloc_next(struct arena *arena, size_t size)
{
    struct block *block = arena->newest;

    if (block == NULL || block->size - block->used < size) {
        block = block_create(arena->next_size);
        block->older = arena->newest;
        arena->newest = block;
        if (arena->next_size < BLOCK_MAX - HEADER)
            arena->next_size = 2 * (arena->next_size + HEADER) - HEADER;
    }

    unsigned char *at = block_bytes(block) + block->used;

    block->used += size;
    return at;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes, taken;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)(ALIGN - 1 + GAP), &taken) || taken > PTRDIFF_MAX)
        memory_refused(count, size);
    taken -= taken % ALIGN;
    if (taken == 0)
        taken = ALIGN;
    arena->used += taken;

    unsigned char *at =
        taken > arena->next_size / 4 ? alloc_apart(arena, taken) : alloc_next(arena, taken);

    UNPOISON(at, bytes);
    return at;
}

void *memory_zeroed(size_t count, size_t size)
{
    void *ret = memory_calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    if (ret == NULL)
        memory_refused(count, size);
    return ret;
}

void *memory_resize(void *memory, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        memory_refused(count, size);

    void *moved = memory_realloc(memory, bytes > 0 ? bytes : 1);

    if (moved == NULL)
        memory_refused(count, size);
    return moved;
}
