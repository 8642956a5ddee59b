/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Thrift's compact protocol. Facts: thrift-compact-protocol.md of Apache Thrift. */
#include "decode/nsys_jax/thrift.h"

enum { DEPTH_MAX = 32 };

struct thrift thrift_open(struct bytes bytes)
{
    return (struct thrift){.at = bytes.at, .end = bytes.at + bytes.count};
}

static uint8_t next_byte(struct thrift *thrift)
{
    if (thrift->broken || thrift->at == thrift->end) {
        thrift->broken = true;
        return 0;
    }
    return *thrift->at++;
}

static uint64_t varint(struct thrift *thrift)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = next_byte(thrift);

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    thrift->broken = true;
    return 0;
}

static int64_t zigzag(struct thrift *thrift)
{
    uint64_t value = varint(thrift);

    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

bool thrift_next(struct thrift *thrift, struct thrift_field *field)
{
    uint8_t head = next_byte(thrift);

    field->type = (enum thrift_type)(head & 15);
    if (thrift->broken || field->type == THRIFT_STOP)
        return false;
    field->id = head >> 4 != 0 ? (int64_t)((uint64_t)field->id + (head >> 4)) : zigzag(thrift);
    return !thrift->broken;
}

int64_t thrift_integer(struct thrift *thrift, enum thrift_type type)
{
    switch (type) {
    case THRIFT_TRUE:
        return 1;
    case THRIFT_FALSE:
        return 0;
    case THRIFT_BYTE:
        return (int8_t)next_byte(thrift);
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        return zigzag(thrift);
    default:
        thrift->broken = true;
        return 0;
    }
}

struct bytes thrift_binary(struct thrift *thrift, enum thrift_type type)
{
    uint64_t count = type == THRIFT_BINARY ? varint(thrift) : 0;

    if (thrift->broken || type != THRIFT_BINARY || count > (uint64_t)(thrift->end - thrift->at)) {
        thrift->broken = true;
        return (struct bytes){0};
    }
    struct bytes bytes = {.at = thrift->at, .count = (size_t)count};
    thrift->at += count;
    return bytes;
}

size_t thrift_list(struct thrift *thrift, enum thrift_type type, enum thrift_type *ret_item)
{
    uint8_t head = next_byte(thrift);
    uint64_t count = head >> 4 == 15 ? varint(thrift) : head >> 4;

    *ret_item = (enum thrift_type)(head & 15);
    if ((type != THRIFT_LIST && type != THRIFT_SET) || count > (uint64_t)(thrift->end - thrift->at))
        thrift->broken = true;
    return thrift->broken ? 0 : (size_t)count;
}

static void skip(struct thrift *thrift, enum thrift_type type, int depth);

static void skip_items(struct thrift *thrift, enum thrift_type type, int depth)
{
    enum thrift_type item;

    for (size_t left = thrift_list(thrift, type, &item); left > 0 && !thrift->broken; left--) {
        if (item == THRIFT_TRUE || item == THRIFT_FALSE)
            next_byte(thrift);
        else
            skip(thrift, item, depth);
    }
}

static void skip_fields(struct thrift *thrift, int depth)
{
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);)
        skip(thrift, field.type, depth);
}

static void skip(struct thrift *thrift, enum thrift_type type, int depth)
{
    if (depth == DEPTH_MAX) {
        thrift->broken = true;
        return;
    }
    switch (type) {
    case THRIFT_DOUBLE:
        if (thrift->end - thrift->at < 8)
            thrift->broken = true;
        else
            thrift->at += 8;
        break;
    case THRIFT_BINARY:
        thrift_binary(thrift, type);
        break;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_items(thrift, type, depth + 1);
        break;
    case THRIFT_STRUCT:
        skip_fields(thrift, depth + 1);
        break;
    default:
        thrift_integer(thrift, type);
    }
}

void thrift_skip(struct thrift *thrift, enum thrift_type type)
{
    skip(thrift, type, 0);
}
