/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on their way through the front: appended behind, taken in front. */
#include "serve/http/front_parts.h"

#include <stdlib.h>

void buffer_put(struct front *front, struct buffer *buffer, const void *at, size_t count)
{
    if (count == 0)
        return;
    if (buffer->from > 0 && buffer->from + buffer->count + count > buffer->capacity) {
        memmove(buffer->at, buffer->at + buffer->from, buffer->count);
        buffer->from = 0;
    }
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = buffer->capacity < 2048 ? 4096 : buffer->capacity * 2;

        while (capacity < buffer->count + count)
            capacity *= 2;
        buffer->at = memory_resize(buffer->at, capacity, 1);
        front->held += capacity - buffer->capacity;
        buffer->capacity = capacity;
    }
    memcpy(buffer->at + buffer->from + buffer->count, at, count);
    buffer->count += count;
}

void buffer_take(struct front *front, struct buffer *buffer, size_t count)
{
    buffer->from += count;
    buffer->count -= count;
    if (buffer->count == 0)
        buffer_free(front, buffer);
}

void buffer_free(struct front *front, struct buffer *buffer)
{
    front->held -= buffer->capacity;
    free(buffer->at);
    *buffer = (struct buffer){0};
}
