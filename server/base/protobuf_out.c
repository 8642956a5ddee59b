#include "base/protobuf_out.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* A tag and a number take this at most. */
enum { NUMBER_BYTES = 20 };

static char *varint_at(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

void pb_put_varint(struct text *text, uint64_t value)
{
    char bytes[NUMBER_BYTES];

    text_put(text, bytes, (size_t)(varint_at(bytes, value) - bytes));
}

/* In one piece: most of what is written is these. */
static void put_tagged(struct text *text, uint32_t field, unsigned wire, uint64_t value)
{
    char bytes[NUMBER_BYTES];
    char *at = varint_at(bytes, (uint64_t)field << 3 | wire);

    text_put(text, bytes, (size_t)(varint_at(at, value) - bytes));
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

void pb_put_message(struct text *text, uint32_t field, struct text *inside)
{
    pb_put_bytes(text, field, inside->at, inside->count);
    inside->count = 0;
}
