#include "base/protobuf_out.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void pb_put_varint(struct text *text, uint64_t value)
{
    char bytes[10];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (char)(value | 0x80);
    bytes[count++] = (char)value;
    text_put(text, bytes, count);
}

static void put_tag(struct text *text, uint32_t field, unsigned wire)
{
    pb_put_varint(text, (uint64_t)field << 3 | wire);
}

void pb_put_number(struct text *text, uint32_t field, uint64_t value)
{
    put_tag(text, field, WIRE_VARINT);
    pb_put_varint(text, value);
}

void pb_put_double(struct text *text, uint32_t field, double value)
{
    uint64_t bits;
    char bytes[8];

    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(bits >> 8 * i);
    put_tag(text, field, WIRE_FIXED64);
    text_put(text, bytes, sizeof bytes);
}

void pb_put_bytes(struct text *text, uint32_t field, const void *at, size_t count)
{
    put_tag(text, field, WIRE_BYTES);
    pb_put_varint(text, count);
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
