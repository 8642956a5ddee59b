/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the columns of an open row; the layout stands in chunk.h. */
#include <stdlib.h>

#include "base/hash.h"
#include "trace/chunk.h"
#include "trace/width.h"

enum {
    GROUP_SLICES = 32,
    DICTIONARY_SLOTS = 2 * CHUNK_SLICES,
    DICTIONARY_BITS = 13, /* of a slot's index */
    NS_PS = 1000,
    PACKED_BYTES_MAX = CHUNK_SLICES * (8 + 8 + 8 + 4 + 2 + 4 + 4 + 2 + 1 + 1) + 8 * PACKED_COUNT,
};
_Static_assert(1 << DICTIONARY_BITS == DICTIONARY_SLOTS, "one slot for each hash");

struct dictionary_slot {
    uint32_t named;
    uint32_t local; /* stamp << 16 | local id: a stamp of another chunk means free */
};

struct chunk_encoder {
    uint32_t stamp;
    struct dictionary_slot slots[DICTIONARY_SLOTS];
    uint32_t dictionary[CHUNK_SLICES];
    uint16_t local[CHUNK_SLICES];
    uint64_t deltas[CHUNK_SLICES];
    uint8_t packed[PACKED_BYTES_MAX];
};

/* Appends count values of `width` bytes and pads to 8 with zeros. */
static uint8_t *put_values(uint8_t *at, const uint64_t *values, uint32_t count, uint8_t width)
{
    switch (width) {
    case 1:
        for (uint32_t i = 0; i < count; i++)
            at[i] = (uint8_t)values[i];
        break;
    case 2:
        for (uint32_t i = 0; i < count; i++)
            ((uint16_t *)at)[i] = (uint16_t)values[i];
        break;
    case 4:
        for (uint32_t i = 0; i < count; i++)
            ((uint32_t *)at)[i] = (uint32_t)values[i];
        break;
    case 8:
        memcpy(at, values, (size_t)count * 8);
        break;
    }
    at += (size_t)count * width;
    while ((uintptr_t)at & 7)
        *at++ = 0;
    return at;
}

/* Divides exactly by 1000 = 8 * 125 with the inverse of 125 modulo 2^64; false, with the values
 * untouched, when one of them is no multiple. */
static bool divide_to_ns(uint64_t *values, uint32_t count)
{
    const uint64_t inverse_of_125 = UINT64_C(0x1cac083126e978d5);
    uint64_t low_bits = 0;
    bool exact = true;

    for (uint32_t i = 0; i < count; i++)
        low_bits |= values[i];
    if (low_bits & 7)
        return false;
    for (uint32_t i = 0; i < count; i++)
        exact &= (values[i] >> 3) * inverse_of_125 <= UINT64_MAX / NS_PS;
    if (!exact)
        return false;
    for (uint32_t i = 0; i < count; i++)
        values[i] = (values[i] >> 3) * inverse_of_125;
    return true;
}

static uint8_t *put_starts(struct chunk_encoder *encoder, uint8_t *at, const int64_t *start_ps,
                           uint32_t count, struct chunk_entry *entry)
{
    uint64_t *deltas = encoder->deltas;
    const uint32_t group_count = (count + GROUP_SLICES - 1) / GROUP_SLICES;
    uint64_t group_max = 0;

    for (uint32_t i = 0; i < count; i++)
        deltas[i] = (uint64_t)start_ps[i] - (uint64_t)start_ps[0];
    if (deltas[count - 1] > UINT8_MAX && divide_to_ns(deltas, count))
        entry->forms |= CHUNK_START_NS;
    for (uint32_t group = 0; group < group_count; group++) {
        uint32_t first = group * GROUP_SLICES;
        uint32_t last = first + GROUP_SLICES < count ? first + GROUP_SLICES - 1 : count - 1;
        uint64_t span = deltas[last] - deltas[first];
        group_max = span > group_max ? span : group_max;
    }
    uint8_t width = width_of(deltas[count - 1]), grouped_width = width_of(group_max);
    if (grouped_width * count + 8 * group_count < width * count) {
        entry->forms |= CHUNK_START_GROUPED;
        entry->width[PACKED_GROUP] = 8;
        width = grouped_width;
        for (uint32_t group = 0; group < group_count; group++) {
            uint32_t first = group * GROUP_SLICES;
            uint32_t end = first + GROUP_SLICES < count ? first + GROUP_SLICES : count;
            uint64_t base = deltas[first];

            at = put_values(at, &base, 1, 8);
            for (uint32_t i = first; i < end; i++)
                deltas[i] -= base;
        }
    }
    entry->width[PACKED_START] = width;
    return put_values(at, deltas, count, width);
}

/* A column of lengths, against its smallest. */
static uint8_t *put_lengths(struct chunk_encoder *encoder, uint8_t *at, const int64_t *values_ps,
                            uint32_t count, int64_t *ret_base, uint8_t *ret_width, bool *ret_ns)
{
    uint64_t *deltas = encoder->deltas;
    int64_t min = values_ps[0], max = values_ps[0];

    for (uint32_t i = 1; i < count; i++) {
        min = values_ps[i] < min ? values_ps[i] : min;
        max = values_ps[i] > max ? values_ps[i] : max;
    }
    uint64_t span = (uint64_t)max - (uint64_t)min;
    *ret_base = min;
    *ret_ns = false;
    if (span > 0) {
        for (uint32_t i = 0; i < count; i++)
            deltas[i] = (uint64_t)values_ps[i] - (uint64_t)min;
        *ret_ns = span > UINT8_MAX && divide_to_ns(deltas, count);
        if (*ret_ns)
            span /= NS_PS;
    }
    *ret_width = width_of(span);
    return put_values(at, deltas, count, *ret_width);
}

static uint8_t *put_ordinals(struct chunk_encoder *encoder, uint8_t *at, const uint32_t *values,
                             uint32_t count, uint32_t *ret_min, uint32_t *ret_max,
                             uint8_t *ret_width)
{
    uint32_t min = values[0], max = values[0];

    for (uint32_t i = 1; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    *ret_min = min;
    *ret_max = max;
    *ret_width = width_of(max - min);
    if (*ret_width == 0)
        return at;
    for (uint32_t i = 0; i < count; i++)
        encoder->deltas[i] = values[i] - min;
    return put_values(at, encoder->deltas, count, *ret_width);
}

static uint8_t *put_lifts(struct chunk_encoder *encoder, uint8_t *at, const uint16_t *values,
                          uint32_t count, uint16_t *ret_base, uint8_t *ret_width)
{
    uint16_t min = values[0], max = values[0];

    for (uint32_t i = 1; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    *ret_base = min;
    *ret_width = width_of((uint64_t)(max - min));
    for (uint32_t i = 0; i<count && * ret_width> 0; i++)
        encoder->deltas[i] = (uint64_t)(values[i] - min);
    return put_values(at, encoder->deltas, count, *ret_width);
}

static uint8_t *put_flags(uint8_t *at, const uint8_t *values, uint32_t count, uint8_t *ret_base,
                          uint8_t *ret_width)
{
    uint8_t differ = 0;

    for (uint32_t i = 0; i < count; i++)
        differ |= values[i] ^ values[0];
    *ret_base = differ ? 0 : values[0];
    *ret_width = differ ? 1 : 0;
    if (!differ)
        return at;
    memcpy(at, values, count);
    at += count;
    while ((uintptr_t)at & 7)
        *at++ = 0;
    return at;
}

/* Numbers the distinct (name, kind) of the chunk by first use. */
static uint32_t number_names(struct chunk_encoder *encoder, const uint32_t *named, uint32_t count)
{
    uint32_t known = 0, last_named = ~named[0];
    uint16_t last_local = 0;

    if (++encoder->stamp == 1 << 16) {
        memset(encoder->slots, 0, sizeof(encoder->slots));
        encoder->stamp = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (named[i] != last_named) {
            uint32_t slot = (named[i] * UINT32_C(2654435769)) >> (32 - DICTIONARY_BITS);
            const uint32_t stamp = encoder->stamp << 16;

            last_named = named[i];
            while ((encoder->slots[slot].local & 0xffff0000) == stamp &&
                   encoder->slots[slot].named != last_named)
                slot = (slot + 1) & (DICTIONARY_SLOTS - 1);
            if ((encoder->slots[slot].local & 0xffff0000) != stamp) {
                encoder->slots[slot] =
                    (struct dictionary_slot){.named = last_named, .local = stamp | known};
                encoder->dictionary[known++] = last_named;
            }
            last_local = (uint16_t)encoder->slots[slot].local;
        }
        encoder->local[i] = last_local;
    }
    return known;
}

static uint8_t *put_names(struct chunk_encoder *encoder, uint8_t *at, const uint32_t *named,
                          uint32_t count, struct chunk_entry *entry)
{
    uint32_t known = number_names(encoder, named, count);

    entry->dictionary_count = (uint16_t)known;
    entry->width[PACKED_DICTIONARY] = 4;
    entry->width[PACKED_NAME] = width_of(known - 1);
    memcpy(at, encoder->dictionary, (size_t)known * 4);
    at += (size_t)known * 4;
    if ((uintptr_t)at & 7) {
        memset(at, 0, 4);
        at += 4;
    }
    for (uint32_t i = 0; i < count && known > 1; i++)
        encoder->deltas[i] = encoder->local[i];
    return put_values(at, encoder->deltas, count, entry->width[PACKED_NAME]);
}

struct chunk_encoder *chunk_encoder_create(void)
{
    struct chunk_encoder *encoder = memory_resize(NULL, 1, sizeof(*encoder));

    encoder->stamp = 0;
    memset(encoder->slots, 0, sizeof(encoder->slots));
    return encoder;
}

void chunk_encoder_destroy(struct chunk_encoder *encoder)
{
    free(encoder);
}

struct bytes chunk_encode(struct chunk_encoder *encoder, const struct open_columns *columns,
                          uint32_t count, struct chunk_entry *ret)
{
    uint8_t *at = encoder->packed;
    uint32_t parent_max;
    bool ns;

    *ret = (struct chunk_entry){
        .count = (uint16_t)count,
        .start_ps = columns->start_ps[0],
        .end_ps = columns->start_ps[count - 1] + columns->dur_ps[count - 1],
    };
    at = put_starts(encoder, at, columns->start_ps, count, ret);
    at = put_lengths(encoder, at, columns->dur_ps, count, &ret->dur_base, &ret->width[PACKED_DUR],
                     &ns);
    ret->forms |= ns ? CHUNK_DUR_NS : 0;
    if (memcmp(columns->self_ps, columns->dur_ps, (size_t)count * 8) == 0) {
        ret->forms |= CHUNK_SELF_IS_DUR;
    } else {
        at = put_lengths(encoder, at, columns->self_ps, count, &ret->self_base,
                         &ret->width[PACKED_SELF], &ns);
        ret->forms |= ns ? CHUNK_SELF_NS : 0;
    }
    at = put_names(encoder, at, columns->named, count, ret);
    at = put_ordinals(encoder, at, columns->parent, count, &ret->parent_base, &parent_max,
                      &ret->width[PACKED_PARENT]);
    at = put_ordinals(encoder, at, columns->event, count, &ret->event_base, &ret->event_max,
                      &ret->width[PACKED_EVENT]);
    at = put_lifts(encoder, at, columns->lift, count, &ret->lift_base, &ret->width[PACKED_LIFT]);
    at = put_flags(at, columns->flags, count, &ret->flags_base, &ret->width[PACKED_FLAGS]);

    struct bytes packed = {.at = encoder->packed, .count = (size_t)(at - encoder->packed)};
    ret->size = (uint32_t)packed.count;
    ret->hash = hash64(packed);
    return packed;
}
