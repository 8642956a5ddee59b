/* SPDX-License-Identifier: Apache-2.0 */
/* How a segment lies on disk; writer and reader share it.
 *
 *   0        header, 128 bytes, with its own hash
 *   128      data and tables as they came, each at a multiple of 8, padded with zeros
 *   ...      directory: one record a table
 *
 * Numbers are little-endian.
 */
#ifndef JVIEWD_STORE_SEGMENT_FILE_H
#define JVIEWD_STORE_SEGMENT_FILE_H

#include <stdatomic.h>

#include "base/hash.h"
#include "base/lost.h"
#include "trace/block.h"

#define SEGMENT_MAGIC "jviewseg"

struct segment_header {
    char magic[8];
    uint32_t version, kind_rules_version;
    char content[32]; /* hex */
    uint64_t file_bytes;
    uint64_t directory_offset, directory_hash;
    uint32_t table_count, zero;
    char kept_as[32]; /* hex: its name in the cache where that is not `content`; else zeros */
    uint64_t zeros[1];
    uint64_t hash; /* of all before */
};
_Static_assert(sizeof(struct segment_header) == 128, "a record without hidden padding");

struct segment_table {
    uint32_t kind, zero;
    uint64_t offset, size, hash;
};

static inline uint64_t segment_header_hash(const struct segment_header *header)
{
    return hash64((struct bytes){.at = (const uint8_t *)header,
                                 .count = offsetof(struct segment_header, hash)});
}

/* Tables found in mapped bytes, each checked at its first touch. */
struct segment_map {
    struct bytes bytes;
    struct segment_table tables[TABLE_KIND_COUNT_]; /* by kind; size 0: none */
    _Atomic uint8_t checked[TABLE_KIND_COUNT_];     /* enum segment_check */
    _Atomic bool damaged;
    const struct lost_watch *watch; /* of the bytes; NULL: nobody looks */
    bool checked_elsewhere;         /* those that are touched now: see segment_open_checked */
};
enum segment_check { SEGMENT_UNTOUCHED, SEGMENT_WHOLE, SEGMENT_DAMAGED };

struct block_in segment_map_in(struct segment_map *map);

#endif
