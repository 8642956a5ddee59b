/* SPDX-License-Identifier: Apache-2.0 */
/* Tells protobuf messages apart, which carry no magic: by number and wire type of their fields.
 *
 * A shape lists what may stand in a message; a field that is listed with another wire type, or a
 * number below `strangers_from` that is not listed, refuses it. Only the first few fields of each
 * message are looked at, and a message may be cut off anywhere, so that the first kilobytes of a
 * file decide and a damaged file is still recognised.
 */
#ifndef JVIEWD_DECODE_SHAPE_H
#define JVIEWD_DECODE_SHAPE_H

#include "decode/protobuf.h"

enum shape_wire {
    SHAPE_VARINT = PB_VARINT,
    SHAPE_FIXED64 = PB_FIXED64,
    SHAPE_BYTES = PB_BYTES,
    SHAPE_FIXED32 = PB_FIXED32,
    SHAPE_TEXT, /* bytes without control characters */
};

struct shape;
struct shape_rule {
    uint32_t number;
    enum shape_wire wire;
    bool must; /* has to stand among the fields looked at, unless the message is cut off */
    const struct shape *inside; /* NULL: any bytes */
};
struct shape {
    const struct shape_rule *rules;
    size_t count;
    uint32_t strangers_from; /* unlisted fields from this number on are no objection; 0: never */
};
#define SHAPE(rules_, from)                                                                        \
    {                                                                                              \
        .rules = (rules_), .count = COUNT(rules_), .strangers_from = (from)                        \
    }

bool shape_fits(struct bytes head, const struct shape *shape);

#endif
