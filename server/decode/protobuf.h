/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's wire format, read in place.
 *
 *   message   field*
 *   field     tag (number << 3 | wire)  value
 *   value     wire 0: varint   1: 8 bytes   5: 4 bytes   2: length, then that many bytes
 *
 * A varint holds seven bits a byte, the lowest first; the last byte has its top bit clear; ten
 * bytes at most. Nothing is copied: a field of bytes points into the message, and never past it.
 * A reader is sticky: after a failure it yields no field, and `err` says at which byte of the file.
 *
 * A lenient reader is for messages that may be cut off: a field that is longer than its message
 * is yielded once more, clipped and marked `cut`, before the reader ends with its failure.
 */
#ifndef JVIEWD_DECODE_PROTOBUF_H
#define JVIEWD_DECODE_PROTOBUF_H

#include "base/bytes.h"
#include "base/error.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb {
    const uint8_t *at, *end;
    const uint8_t *file; /* byte 0 of positions in messages */
    bool lenient;
    struct error *err;
};

struct pb_field {
    uint32_t number;
    enum pb_wire wire;
    bool cut;           /* only from a lenient reader: bytes are what is left of the field */
    uint64_t varint;    /* value of wires 0, 1 and 5 */
    struct bytes bytes; /* value of wire 2 */
};

struct pb pb_open(struct bytes file, struct error *err);
/* A message inside another: positions keep counting from the start of the file. */
struct pb pb_inside(const struct pb *outer, struct bytes message, struct error *err);
bool pb_next(struct pb *pb, struct pb_field *ret);
uint64_t pb_varint(struct pb *pb); /* 0 after a failure */
uint64_t pb_position(const struct pb *pb, const uint8_t *at);
static inline struct str pb_text(const struct pb_field *field)
{
    return (struct str){.at = (const char *)field->bytes.at, .count = field->bytes.count};
}

/* The long way of pb_read_varint; NULL when no varint ends before `end`. */
const uint8_t *pb_read_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret);

/* The value of a varint in the low bytes of a word, of which only its bytes are not zero: squeezes
 * out the top bit of each byte, in three steps of twice the width. */
static inline uint64_t pb_squeeze(uint64_t word)
{
    word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
    word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
    return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* For loops that touch millions of fields: the byte after the varint, NULL when none ends before
 * `end`. One byte is the common case; up to eight are read at once where as many may be touched. */
static inline const uint8_t *pb_read_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret)
{
    if (__builtin_expect(at < end && *at < 0x80, 1)) {
        *ret = *at;
        return at + 1;
    }
    if (__builtin_expect(end - at < 8, 0))
        return pb_read_long_varint(at, end, ret);
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t last = ~word & 0x8080808080808080; /* the top bit of bytes that end a varint */
    if (__builtin_expect(last == 0, 0))
        return pb_read_long_varint(at, end, ret);
    unsigned bits = (unsigned)__builtin_ctzll(last) + 1; /* 8, 16 ... 64 */
    *ret = pb_squeeze(word & (last ^ (last - 1)) & 0x7f7f7f7f7f7f7f7f);
    return at + bits / 8;
}

#endif
