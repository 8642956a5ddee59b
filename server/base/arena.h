/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory that leaves all at once.
 *
 * Every allocation has an arena, every arena an owner with a lifetime one can say aloud: this
 * trace, this request, this scan. Nothing inside is freed alone. `arena_alloc` does not fail: a
 * process out of memory ends. Sizes that come from a file or a client are checked against a
 * budget before they get here.
 */
#ifndef JVIEWD_BASE_ARENA_H
#define JVIEWD_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
/* Leaves with its parent, by destroy and by reset: for a thread that works for the parent's owner,
 * who makes it before that thread begins. */
struct arena *arena_within(struct arena *parent);
void arena_destroy(struct arena *arena); /* takes NULL; of one within, its parent does it */
void arena_reset(struct arena *arena);   /* keeps one block for the next use, up to 1 MiB */
/* Keeps one page: for an arena that waits long, among many, for its next use. */
void arena_reset_small(struct arena *arena);
size_t arena_used(const struct arena *arena);

/* Zeroed, aligned for any type; count * size is checked. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
#define arena_new(arena, type) ((type *)arena_alloc(arena, 1, sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc(arena, count, sizeof(type)))

/* malloc family that ends the process instead of failing, for buffers that grow and are freed by
 * their owner. */
void *memory_resize(void *memory, size_t count, size_t size);
void *memory_zeroed(size_t count, size_t size);

#endif
