/* SPDX-License-Identifier: Apache-2.0 */
/* FlatBuffers from front to back. Numbers are little-endian, as on all machines that it runs on. */
#include "serve/tables/flat.h"

#include <assert.h>

static void put_zeros(struct text *out, size_t count)
{
    static const char zeros[64];

    for (size_t some; count > 0; count -= some) {
        some = count < sizeof zeros ? count : sizeof zeros;
        text_put(out, zeros, some);
    }
}

void flat_align(struct text *out, size_t align)
{
    put_zeros(out, (align - out->count % align) % align);
}

void flat_set(struct text *out, size_t at, uint64_t value, uint32_t bytes)
{
    assert(at + bytes <= out->count);
    memcpy(out->at + at, &value, bytes);
}

void flat_point(struct text *out, size_t from, size_t to)
{
    flat_set(out, from, to - from, 4);
}

void flat_begin(struct text *out)
{
    put_zeros(out, 4);
}

/* The largest first, so that each is aligned. How many bytes they take, with the offset before. */
static uint16_t place_fields(const struct flat_field *fields, uint32_t count,
                             uint16_t ret_place[FLAT_FIELDS_MAX])
{
    uint16_t at = 4;

    for (uint8_t bytes = 8; bytes > 0; bytes /= 2) {
        for (uint32_t i = 0; i < count; i++) {
            if (fields[i].bytes != bytes)
                continue;
            ret_place[i] = at;
            at = (uint16_t)(at + bytes);
        }
    }
    return at;
}

size_t flat_table(struct text *out, const struct flat_field *fields, uint32_t count,
                  size_t ret_at[FLAT_FIELDS_MAX])
{
    uint16_t place[FLAT_FIELDS_MAX] = {0};
    uint16_t size = place_fields(fields, count, place);
    uint16_t head[2] = {(uint16_t)(4 + 2 * count), size};

    assert(count <= FLAT_FIELDS_MAX);
    flat_align(out, 2);
    size_t vtable = out->count;
    text_put(out, (const char *)head, sizeof head);
    text_put(out, (const char *)place, 2 * (size_t)count);
    while (out->count % 8 != 4) /* its offset takes 4: fields of 8 follow */
        put_zeros(out, 1);
    size_t table = out->count;
    put_zeros(out, size);
    flat_set(out, table, table - vtable, 4);
    for (uint32_t i = 0; i < count; i++) {
        ret_at[i] = fields[i].bytes == 0 ? 0 : table + place[i];
        if (fields[i].bytes != 0)
            flat_set(out, ret_at[i], fields[i].value, fields[i].bytes);
    }
    return table;
}

size_t flat_string(struct text *out, struct str value)
{
    uint32_t count = (uint32_t)value.count;

    flat_align(out, 4);
    size_t ret = out->count;
    text_put(out, (const char *)&count, sizeof count);
    text_put(out, value.at, value.count);
    put_zeros(out, 1);
    return ret;
}

size_t flat_vector(struct text *out, uint32_t count, uint32_t bytes, uint32_t align)
{
    flat_align(out, 4);
    while ((out->count + 4) % align != 0)
        put_zeros(out, 4);
    text_put(out, (const char *)&count, sizeof count);
    size_t ret = out->count;
    put_zeros(out, (size_t)count * bytes);
    return ret;
}
