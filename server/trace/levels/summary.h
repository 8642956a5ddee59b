/* SPDX-License-Identifier: Apache-2.0 */
/* Self time by kind, over time: what the picture of a closed group is made of.
 *
 *   TABLE_KIND_PYRAMIDS  a record a work track of at least SUMMARY_SLICES_MIN slices, by track
 *   TABLE_KIND_CELLS     its buckets, without gaps, level by level: base, base + 2, base + 4, ...;
 *                        a bucket has a u16 for each kind the track has: its share of the quantum
 *                        << shift, 65535 = all
 *
 *   a slice adds its interval to its own kind and takes it from its parent's:
 *
 *     [ host ................................ ]        + host    0 ... 40
 *            [ compute ........ ]                      + compute 7 ... 26   - host 7 ... 26
 *
 * so that a bucket holds self time to the picosecond before it is rounded. Work tracks are those
 * with slices that are neither derived nor containers of other tracks' work.
 */
#ifndef JVIEWD_TRACE_LEVELS_SUMMARY_H
#define JVIEWD_TRACE_LEVELS_SUMMARY_H

#include "trace/levels/tile.h"
#include "trace/readers.h"

enum {
    SUMMARY_KINDS = KIND_COUNT + 1,
    SUMMARY_NOWHERE = KIND_COUNT, /* whom time is taken from where there is no parent */
    SUMMARY_SLICES_MIN = 256,
    SUMMARY_SLICES = 2,            /* a base bucket, on the average, and one more for each kind */
    SUMMARY_BUCKETS_MAX = 1 << 19, /* of a track */
    SUMMARY_STEP = 2,              /* levels: a factor of 4 */
    SUMMARY_BUCKETS_FEW = 64,      /* no coarser level above this */
};

struct summary_record {
    uint32_t track;
    uint8_t base, level_count;
    uint8_t shift; /* lanes of an async track overlap: more than one quantum of time in a quantum */
    uint8_t kinds; /* bits by enum kind */
    int64_t first_bucket; /* absolute, of the base level; level i begins at first_bucket >> 2 i */
    uint32_t bucket_count;
    uint32_t zeros;
    uint64_t first_share;
};

bool summary_is_work(const struct track *track);
/* Buckets of a record's level. */
static inline uint32_t summary_bucket_count(const struct summary_record *record, uint32_t index)
{
    int64_t last = record->first_bucket + (int64_t)record->bucket_count - 1;

    return (uint32_t)((last >> (index * SUMMARY_STEP)) -
                      (record->first_bucket >> (index * SUMMARY_STEP)) + 1);
}

/* Buckets to add self time to: [first, first + count) of a level. */
struct summary_buckets {
    int level;
    int64_t first;
    uint32_t count;
    bool one_kind; /* of the track: what has a parent changes nothing */
    int64_t (*self_ps)[SUMMARY_KINDS];
};
/* Sums of a hostile file's tracks may go round; they are wrong then, and nothing worse. */
static inline void summary_add(int64_t *to, int64_t self_ps)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)self_ps);
}

/* Adds the self time of all slices of a track. */
void summary_sweep(const struct trace *trace, track_id track, const struct summary_buckets *to);
/* Bits of the kinds that a track's slices may have. */
uint8_t summary_kinds(const struct trace *trace, track_id track);

/* Picoseconds of a quantum of 2^level as 1/65535 of it, with 16 more bits. */
static inline uint64_t summary_fine_share(int64_t self_ps, int level)
{
    if (self_ps <= 0)
        return 0;

    uint64_t fine = level >= 31 ? (uint64_t)self_ps >> (level - 31)
                                : (uint64_t)self_ps << (31 - level); /* of 2^31 */

    return fine * UINT16_MAX >> 15;
}

MUST_CHECK enum status summaries_open(struct trace *trace, struct arena *arena, struct error *err);

#endif
