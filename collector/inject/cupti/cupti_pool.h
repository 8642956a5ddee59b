/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that CUPTI fills: as many as there are, never more.
 *
 *   free    bits of those to be handed out, zeroed
 *   ready   bits of those that came back, `valid` bytes in each
 *
 * Any thread takes a free bit and gives a ready one; the writer alone makes ready ones free again.
 * Where all are out CUPTI gets one of a small reserve, whose records are only counted; where those
 * are out too it gets none, and counts what it drops.
 */
#ifndef JVIEWD_INJECT_CUPTI_POOL_H
#define JVIEWD_INJECT_CUPTI_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    POOL_BUFFERS = 64,
    POOL_BUFFER_BYTES = 1 << 20,
    RESERVE_BUFFERS = 8,
    RESERVE_BUFFER_BYTES = 1 << 16
};

bool pool_open(void); /* reserves 64 MiB, touched as they fill */
uint8_t *pool_take(size_t *ret_size);
/* Comes back from CUPTI; true where it is time that the writer looks. */
bool pool_give(const uint8_t *at, size_t valid);

struct pool_buffer {
    uint32_t index;
    bool is_reserve; /* to be counted, not read */
    uint8_t *at;
    size_t valid;
};
/* For the writer: one that came back; false where there is none. */
bool pool_next(struct pool_buffer *ret);
void pool_free(const struct pool_buffer *buffer);

#endif
