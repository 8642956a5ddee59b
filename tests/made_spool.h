/* SPDX-License-Identifier: Apache-2.0 */
/* Spools made frame by frame, for tests and fuzzing: an independent writer of api/record.h. */
#ifndef JVIEWD_TESTS_MADE_SPOOL_H
#define JVIEWD_TESTS_MADE_SPOOL_H

#include <stdlib.h>

#include "api/record.h"
#include "base/hash.h"
#include "base/pack/pack.h"

struct made_spool {
    struct text file;
    uint64_t sequence;
    size_t raw_bits;   /* of all frames so far, before they were packed */
    size_t turned_bit; /* of those, counted from 1: turned before its frame is packed and checked */
};

static inline void spool_check(struct made_spool *made, size_t from)
{
    uint64_t check = hash64((struct bytes){.at = (const uint8_t *)made->file.at + from,
                                           .count = made->file.count - from});

    text_put(&made->file, (const char *)&check, sizeof check);
}

/* Opened at second 1,000 of the epoch; a tick is a nanosecond after two ties (spool_ties). */
static inline void spool_begin(struct made_spool *made)
{
    struct spool_head head = {.version = SPOOL_VERSION,
                              .process = 466,
                              .realtime_ns = INT64_C(1000000000000),
                              .monotonic_ns = 5};

    memcpy(head.magic, SPOOL_MAGIC, sizeof head.magic);
    text_put(&made->file, (const char *)&head, sizeof head - sizeof head.check);
    spool_check(made, 0);
}

static inline void spool_frame(struct made_spool *made, uint16_t type, struct bytes raw)
{
    size_t from = made->file.count, capacity = zstd_bound(raw.count);
    void *packed = malloc(capacity);
    uint8_t *turned = malloc(raw.count + 1);
    size_t bit = made->turned_bit - made->raw_bits - 1;

    if (raw.count > 0)
        memcpy(turned, raw.at, raw.count);
    if (made->turned_bit > made->raw_bits && bit < raw.count * 8)
        turned[bit / 8] ^= (uint8_t)(1 << bit % 8);
    made->raw_bits += raw.count * 8;
    raw.at = turned;
    struct spool_frame head = {.magic = SPOOL_FRAME_MAGIC,
                               .type = type,
                               .raw_bytes = (uint32_t)raw.count,
                               .packed_bytes = (uint32_t)zstd_pack(packed, capacity, raw, 1),
                               .sequence = made->sequence++};

    text_put(&made->file, (const char *)&head, sizeof head);
    text_put(&made->file, packed, head.packed_bytes);
    spool_check(made, from);
    free(packed);
    free(turned);
}

static inline void spool_varint(struct text *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_put(to, (const char[]){(char)(value | 0x80)}, 1);
    text_put(to, (const char[]){(char)value}, 1);
}

static inline void spool_rows(struct made_spool *made, enum spool_type type, const int64_t *rows,
                              uint32_t count, uint32_t columns)
{
    struct text raw = {0};

    spool_varint(&raw, count);
    spool_varint(&raw, columns);
    for (uint32_t column = 0; column < columns; column++) {
        int64_t before = 0;
        for (uint32_t row = 0; row < count; row++) {
            int64_t value = rows[row * columns + column],
                    step = (int64_t)((uint64_t)value - (uint64_t)before);
            spool_varint(&raw, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
            before = value;
        }
    }
    spool_frame(made, (uint16_t)type, (struct bytes){(const uint8_t *)raw.at, raw.count});
    text_free(&raw);
}

static inline void spool_texts(struct made_spool *made, enum spool_type type, uint64_t first,
                               const char *const *texts, size_t count)
{
    struct text raw = {0};

    spool_varint(&raw, first);
    spool_varint(&raw, count);
    for (size_t index = 0; index < count; index++) {
        spool_varint(&raw, strlen(texts[index]));
        text_puts(&raw, texts[index]);
    }
    spool_frame(made, (uint16_t)type, (struct bytes){(const uint8_t *)raw.at, raw.count});
    text_free(&raw);
}

static inline void spool_ties(struct made_spool *made)
{
    const int64_t ties[] = {1000,    INT64_C(1000000000000), 5,
                            2001000, INT64_C(1000002000000), 2000005};

    spool_rows(made, SPOOL_CLOCK, ties, 2, CLOCK_COLUMNS);
}

#endif
