/* SPDX-License-Identifier: Apache-2.0 */
/* Reading stats, in the file that reads events: inline, since it runs for every one.
 *
 *   XStat  1 metadata id  one of: 2 double  3 uint64  4 int64  5 text  6 bytes  7 ref
 *
 * Tags below 16 are one byte, so a switch over that byte reads all fields that are known; others
 * go the long way and are skipped. Numbers are read up to `limit`, the end of the file, and the
 * message's own end is compared once behind its last field: that saves a check per number, and
 * lets the reader take eight bytes at a time.
 */
#ifndef JVIEWD_DECODE_XSPACE_XSPACE_STAT_H
#define JVIEWD_DECODE_XSPACE_XSPACE_STAT_H

#include "decode/xspace/xspace.h"

/* Behind a field that is not wanted; NULL when it does not end in the message. */
static __attribute__((noinline)) const uint8_t *skip_field(struct plane *plane, const uint8_t *at,
                                                           const uint8_t *end)
{
    struct error err = {0};
    struct pb pb = {.at = at, .end = end, .file = plane->space->file.at, .err = &err};
    struct pb_field field;

    return pb_next(&pb, &field) ? pb.at : NULL;
}

static inline const uint8_t *read_span(const uint8_t *at, const uint8_t *end, const uint8_t *limit,
                                       struct bytes *ret)
{
    uint64_t count;

    at = pb_read_varint(at, limit, &count);
    if (at == NULL || at > end || count > (uint64_t)(end - at))
        return NULL;
    *ret = (struct bytes){.at = at, .count = (size_t)count};
    return at + count;
}

static __attribute__((noinline)) const uint8_t *read_text(struct plane *plane, const uint8_t *at,
                                                          const uint8_t *end, const uint8_t *limit,
                                                          uint64_t *ret)
{
    struct bytes bytes;

    at = read_span(at, end, limit, &bytes);
    if (at != NULL)
        *ret = sink_name(plane->space->sink,
                         (struct str){.at = (const char *)bytes.at, .count = bytes.count});
    return at;
}

/* Writers put the id first and one value behind it; the loop takes them in any order, and of
 * several values the last. */
static inline __attribute__((always_inline)) bool read_stat(struct plane *plane, const uint8_t *at,
                                                            const uint8_t *end,
                                                            const uint8_t *limit, struct arg *ret,
                                                            enum stat_role *ret_role)
{
    static const uint8_t types[] = {
        [0] = ARG_NULL,
        [XSTAT_DOUBLE] = ARG_DOUBLE,
        [XSTAT_UINT64] = ARG_UINT64,
        [XSTAT_INT64] = ARG_INT64,
        [XSTAT_TEXT] = ARG_STRING,
        [XSTAT_BYTES] = ARG_BYTES,
        [XSTAT_REF] = ARG_STRING,
    };
    uint64_t id = 0, bits = 0;
    unsigned value = 0; /* number of the field that holds it */

    while (at < end) {
        unsigned tag = *at++;
        switch (tag) {
        case TAG(XSTAT_ID, PB_VARINT):
            at = pb_read_varint(at, limit, &id);
            break;
        case TAG(XSTAT_INT64, PB_VARINT):
        case TAG(XSTAT_UINT64, PB_VARINT):
        case TAG(XSTAT_REF, PB_VARINT):
            at = pb_read_varint(at, limit, &bits);
            value = tag >> 3;
            break;
        case TAG(XSTAT_DOUBLE, PB_FIXED64):
            if (end - at < 8)
                return false;
            memcpy(&bits, at, sizeof bits);
            at += sizeof bits;
            value = XSTAT_DOUBLE;
            break;
        case TAG(XSTAT_TEXT, PB_BYTES):
        case TAG(XSTAT_BYTES, PB_BYTES):
            at = read_text(plane, at, end, limit, &bits);
            value = tag >> 3;
            break;
        default:
            at = skip_field(plane, at - 1, end);
        }
        if (at == NULL)
            return false;
    }
    if (value == XSTAT_REF)
        bits = names_stat(plane, bits)->name;
    const struct stat_metadata *metadata = names_stat(plane, id);
    ret->key = metadata->name;
    ret->type = (enum arg_type)types[value];
    ret->bits = bits;
    *ret_role = (enum stat_role)metadata->role;
    return at == end;
}

#endif
