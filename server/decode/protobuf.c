/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of varints, fixed numbers and bytes of protobuf's wire format. */
#include "decode/protobuf.h"

#include <inttypes.h>

enum { VARINT_BYTES_MAX = 10 };

const uint8_t *pb_read_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret)
{
    uint64_t value = 0;

    for (unsigned index = 0; index < VARINT_BYTES_MAX && at < end; index++) {
        uint64_t byte = *at++;
        value |= (byte & 0x7f) << (7 * index);
        if (byte < 0x80) {
            *ret = value;
            return at;
        }
    }
    return NULL;
}

struct pb pb_open(struct bytes file, struct error *err)
{
    const uint8_t *end = file.count > 0 ? file.at + file.count : file.at; /* may have no address */

    return (struct pb){.at = file.at, .end = end, .file = file.at, .err = err};
}

struct pb pb_inside(const struct pb *outer, struct bytes message, struct error *err)
{
    return (struct pb){
        .at = message.at,
        .end = message.at + message.count,
        .file = outer->file,
        .lenient = outer->lenient,
        .err = err,
    };
}

uint64_t pb_position(const struct pb *pb, const uint8_t *at)
{
    return (uint64_t)(at - pb->file);
}

uint64_t pb_varint(struct pb *pb)
{
    uint64_t value = 0;

    if (pb->err->code != OK)
        return 0;
    const uint8_t *after = pb_read_varint(pb->at, pb->end, &value);
    if (after == NULL) {
        bool too_long = pb->end - pb->at >= VARINT_BYTES_MAX;
        fail(pb->err, too_long ? ERR_FORMAT : ERR_TRUNCATED, "the number at byte %" PRIu64 " %s",
             pb_position(pb, pb->at), too_long ? "has more than 10 bytes" : "is truncated");
        return 0;
    }
    pb->at = after;
    return value;
}

static bool read_fixed(struct pb *pb, struct pb_field *field, size_t size)
{
    if ((size_t)(pb->end - pb->at) < size) {
        fail(pb->err, ERR_TRUNCATED, "the number at byte %" PRIu64 " is truncated",
             pb_position(pb, pb->at));
        return false;
    }
    field->varint = 0;
    for (size_t index = 0; index < size; index++)
        field->varint |= (uint64_t)pb->at[index] << (8 * index);
    pb->at += size;
    return true;
}

static bool read_bytes(struct pb *pb, struct pb_field *field, const uint8_t *start)
{
    uint64_t count = pb_varint(pb);
    size_t left = (size_t)(pb->end - pb->at);

    if (pb->err->code != OK)
        return false;
    field->cut = count > left;
    field->bytes = (struct bytes){.at = pb->at, .count = field->cut ? left : (size_t)count};
    pb->at += field->bytes.count;
    if (!field->cut)
        return true;
    fail(pb->err, ERR_TRUNCATED,
         "field %" PRIu32 " at byte %" PRIu64 " says it has %" PRIu64 " bytes, and only %zu follow",
         field->number, pb_position(pb, start), count, left);
    return pb->lenient;
}

bool pb_next(struct pb *pb, struct pb_field *ret)
{
    if (pb->err->code != OK || pb->at >= pb->end)
        return false;

    const uint8_t *start = pb->at;
    uint64_t tag = pb_varint(pb);
    if (pb->err->code != OK)
        return false;
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
        fail(pb->err, ERR_FORMAT, "the bytes at %" PRIu64 " are not a message field",
             pb_position(pb, start));
        return false;
    }
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (enum pb_wire)(tag & 7);
    ret->cut = false;
    ret->varint = 0;
    ret->bytes = (struct bytes){.at = pb->at};
    switch (ret->wire) {
    case PB_VARINT:
        ret->varint = pb_varint(pb);
        return pb->err->code == OK;
    case PB_FIXED64:
        return read_fixed(pb, ret, 8);
    case PB_FIXED32:
        return read_fixed(pb, ret, 4);
    case PB_BYTES:
        return read_bytes(pb, ret, start);
    }
    fail(pb->err, ERR_FORMAT, "field %" PRIu32 " at byte %" PRIu64 " has the unknown wire type %u",
         ret->number, pb_position(pb, start), (unsigned)ret->wire);
    return false;
}
