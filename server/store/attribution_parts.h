/* SPDX-License-Identifier: Apache-2.0 */
/* Inside attribution*.c: the file as attribution.c describes it. */
#ifndef JVIEWD_STORE_ATTRIBUTION_PARTS_H
#define JVIEWD_STORE_ATTRIBUTION_PARTS_H

#include "base/hash.h"
#include "trace/attribution.h"

enum { /* in the order of the file */
       PART_BLOCKS,
       PART_COLUMNS,
       PART_OPS,
       PART_EXECUTIONS,
       PART_TOTALS,
       PART_DEVICES,
       PART_SPREADS,
       PART_KERNELS,
       PART_KERNEL_TOTALS,
       PART_KERNEL_NAMES,
       PART_COSTS,
       PART_NEEDS,
       PART_TEXTS,
       PART_TEXT_ENDS,
       PART_COUNT
};

/* They stay in the processor's cache between two uses. */
enum { PIECE_BYTES = 1 << 17, PIECE_RECORDS = 4096, COLUMN_WORD = 8 };

struct attribution_head {
    char magic[8];
    uint32_t version, kind_rules;
    char content[32];
    uint32_t count[PART_COUNT], entry_count, zero;
    uint64_t sum[PART_COUNT];
    uint64_t segment; /* sum of the one that it is of; 0 until it is there */
    uint64_t head_sum;
};

_Static_assert(PART_COUNT % 2 == 0, "the counts, that of entries and the zero fill whole words");

extern const char attribution_magic[8];
extern const size_t attribution_record_size[PART_COUNT];

static inline uint64_t attribution_head_sum(struct attribution_head head)
{
    head.head_sum = 0;
    return hash64((struct bytes){.at = (const uint8_t *)&head, .count = sizeof head});
}

static inline uint64_t attribution_part_bytes(const struct attribution_head *head, int part)
{
    return ((uint64_t)head->count[part] * attribution_record_size[part] + 7) / 8 * 8;
}

#endif
