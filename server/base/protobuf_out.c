/* SPDX-License-Identifier: Apache-2.0 */
/* Writes fields of protobuf's wire format into a growing text. */
#include "base/protobuf_out.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* A tag and a number take this at most. */
enum { NUMBER_BYTES = 20, PAIR_BYTES = 2 + 2 * 11 };

/* Where the next bytes go. Most of what is written is few of them, written in place. */
static char *room(struct text *text, size_t more)
{
    if (text->capacity - text->count <= more) {
        text->capacity = text->capacity + text->capacity / 2 + 256 + more;
        text->at = memory_resize(text->at, text->capacity, 1);
    }
    return text->at + text->count;
}

static void put_until(struct text *text, char *end)
{
    *end = '\0';
    text->count = (size_t)(end - text->at);
}

static char *varint_at(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

void pb_put_varint(struct text *text, uint64_t value)
{
    put_until(text, varint_at(room(text, NUMBER_BYTES), value));
}

/* In one piece: most of what is written is these. */
static void put_tagged(struct text *text, uint32_t field, unsigned wire, uint64_t value)
{
    char *at = varint_at(room(text, NUMBER_BYTES), (uint64_t)field << 3 | wire);

    put_until(text, varint_at(at, value));
}

void pb_put_number(struct text *text, uint32_t field, uint64_t value)
{
    put_tagged(text, field, WIRE_VARINT, value);
}

void pb_put_double(struct text *text, uint32_t field, double value)
{
    uint64_t bits;
    char bytes[8];

    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(bits >> 8 * i);
    pb_put_varint(text, (uint64_t)field << 3 | WIRE_FIXED64);
    text_put(text, bytes, sizeof bytes);
}

void pb_put_bytes(struct text *text, uint32_t field, const void *at, size_t count)
{
    put_tagged(text, field, WIRE_BYTES, count);
    text_put(text, at, count);
}

void pb_put_text(struct text *text, uint32_t field, struct str value)
{
    pb_put_bytes(text, field, value.at, value.count);
}

void pb_put_pair(struct text *text, uint32_t field, uint32_t first_field, uint64_t first,
                 uint32_t second_field, uint64_t second)
{
    char *from = room(text, PAIR_BYTES), *at = from + 2;

    *at++ = (char)(first_field << 3 | WIRE_VARINT);
    at = varint_at(at, first);
    *at++ = (char)(second_field << 3 | WIRE_VARINT);
    at = varint_at(at, second);
    from[0] = (char)(field << 3 | WIRE_BYTES);
    from[1] = (char)(at - from - 2);
    put_until(text, at);
}

void pb_put_triple(struct text *text, uint32_t field, const uint64_t numbers[3],
                   struct bytes behind)
{
    char front[3 * 11], *at = front;

    for (int index = 0; index < 3; index++) {
        *at++ = (char)((index + 1) << 3 | WIRE_VARINT);
        at = varint_at(at, numbers[index]);
    }
    size_t count = (size_t)(at - front);
    char *to = room(text, NUMBER_BYTES + count + behind.count);

    to = varint_at(to, (uint64_t)field << 3 | WIRE_BYTES);
    to = varint_at(to, count + behind.count);
    memcpy(to, front, count);
    if (behind.count > 0)
        memcpy(to + count, behind.at, behind.count);
    put_until(text, to + count + behind.count);
}

void pb_put_message(struct text *text, uint32_t field, struct text *inside)
{
    pb_put_bytes(text, field, inside->at, inside->count);
    inside->count = 0;
}
