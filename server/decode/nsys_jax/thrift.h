/* SPDX-License-Identifier: Apache-2.0 */
/* Thrift's compact protocol: how Parquet writes its footer and the heads of its pages.
 *
 *   struct   field* 00
 *   field    id step 4 bits . type 4 bits, or 0 . type and the id as a zigzag varint     value
 *   list     count 4 bits . type 4 bits, or 1111 . type and the count as a varint        values
 *
 * Sticky: once something does not fit, every call yields nothing and `broken` is set.
 */
#ifndef JVIEWD_DECODE_NSYS_JAX_THRIFT_H
#define JVIEWD_DECODE_NSYS_JAX_THRIFT_H

#include "base/bytes.h"

enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12,
};

struct thrift {
    const uint8_t *at, *end;
    bool broken;
};

struct thrift_field {
    int64_t id; /* 0 before the first */
    enum thrift_type type;
};

struct thrift thrift_open(struct bytes bytes);
/* The next field of the struct at hand; false at its end. Its value must be read or skipped. */
bool thrift_next(struct thrift *thrift, struct thrift_field *field);
int64_t thrift_integer(struct thrift *thrift, enum thrift_type type);
struct bytes thrift_binary(struct thrift *thrift, enum thrift_type type);
/* How many values follow, and of which type; never more than bytes are left. */
size_t thrift_list(struct thrift *thrift, enum thrift_type type, enum thrift_type *ret_item);
void thrift_skip(struct thrift *thrift, enum thrift_type type);

#endif
