/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of one row as packed columns.
 *
 *   directory   chunk_entry: where, how many, bases and widths of the columns, hash
 *   data        [group starts] start dur [self] dictionary name parent event lift flags
 *
 * A value is base + stored * unit; it is stored in 0, 1, 2, 4 or 8 bytes, 0 where all are equal.
 * The unit of a time column is 1000 ps where all its values are multiples, else 1 ps. Starts are
 * counted from the chunk's first one, or, where that is narrower, from the first of their 32
 * (group starts). Self is absent where it equals dur throughout. Names go through the chunk's
 * dictionary of (name, kind). `lift` is how many rows up the parent lies, 0 for none; `parent` its
 * ordinal there. Every column begins at a multiple of 8; padding is zero.
 */
#ifndef JVIEWD_TRACE_CHUNK_H
#define JVIEWD_TRACE_CHUNK_H

#include "trace/block.h"
#include "trace/trace.h"

enum packed_column { /* in the order of the data */
                     PACKED_GROUP,
                     PACKED_START,
                     PACKED_DUR,
                     PACKED_SELF,
                     PACKED_DICTIONARY,
                     PACKED_NAME,
                     PACKED_PARENT,
                     PACKED_EVENT,
                     PACKED_LIFT,
                     PACKED_FLAGS,
                     PACKED_COUNT,
};

enum chunk_forms {
    CHUNK_START_NS = 1, /* unit 1000 ps: nanoseconds */
    CHUNK_DUR_NS = 2,
    CHUNK_SELF_NS = 4,
    CHUNK_SELF_IS_DUR = 8,
    CHUNK_START_GROUPED = 16,
};

struct chunk_entry { /* a record of TABLE_CHUNKS; in the order of (track, depth, time) */
    uint64_t offset, hash;
    int64_t start_ps, end_ps; /* of the first begin, of the last end */
    int64_t dur_base, self_base;
    uint32_t size, event_base, event_max, parent_base;
    uint16_t count, dictionary_count;
    uint16_t lift_base;
    uint8_t flags_base, forms; /* enum chunk_forms */
    uint8_t width[PACKED_COUNT];
    uint8_t zeros[6];
};
_Static_assert(sizeof(struct chunk_entry) == 88, "a record without hidden padding");

struct open_columns { /* what stands in an open row; see struct row_chunk */
    int64_t *start_ps, *dur_ps, *self_ps;
    uint32_t *named, *parent, *event;
    uint16_t *lift;
    uint8_t *flags;
};

struct chunk_encoder; /* scratch, one per sink */
struct chunk_encoder *chunk_encoder_create(void);
void chunk_encoder_destroy(struct chunk_encoder *encoder); /* takes NULL */
/* Packs 1 ... CHUNK_SLICES slices; all but entry->offset is set. The bytes live until the next
 * call. */
struct bytes chunk_encode(struct chunk_encoder *encoder, const struct open_columns *columns,
                          uint32_t count, struct chunk_entry *ret);

/* Where a column's bytes begin in the data; [PACKED_COUNT] is the whole size. */
void chunk_layout(const struct chunk_entry *entry, uint32_t ret_offset[PACKED_COUNT + 1]);
/* Counts, widths and sizes fit together and the times do not overflow. */
bool chunk_entry_valid(const struct chunk_entry *entry);
/* What an entry cannot say: that every local name is in the dictionary, and its names in the
 * trace. */
bool chunk_data_valid(const struct chunk_entry *entry, const uint8_t *data, uint32_t name_count);
/* Single columns of the data of a valid entry; entry->count values each. */
void chunk_starts(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps);
void chunk_durs(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps);
void chunk_selfs(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps);
void chunk_named(const struct chunk_entry *entry, const uint8_t *data, uint32_t *ret);
void chunk_parents(const struct chunk_entry *entry, const uint8_t *data, uint32_t *ret_parent,
                   uint16_t *ret_lift);
void chunk_events(const struct chunk_entry *entry, const uint8_t *data, event_id *ret);
void chunk_flags(const struct chunk_entry *entry, const uint8_t *data, uint8_t *ret);
/* All of them, into the columns of an open row. */
void chunk_decode(const struct chunk_entry *entry, const uint8_t *data,
                  const struct open_columns *ret);

/* Starts and durs of the slices 32 * group ... of the chunk, at most 32; offsets as chunk_layout
 * tells them. */
void chunk_group(const struct chunk_entry *entry, const uint8_t *data,
                 const uint32_t offset[PACKED_COUNT + 1], uint32_t group, int64_t *ret_start_ps,
                 int64_t *ret_dur_ps);
/* Where the names and flags of a chunk stand, for many looks at single ones. */
struct chunk_names {
    const uint32_t *dictionary;
    const uint8_t *names, *flags; /* flags NULL: all are flags_base */
    uint8_t width, flags_base;    /* of a name: 0, 1 or 2 bytes */
};
struct chunk_names chunk_names_at(const struct chunk_entry *entry, const uint8_t *data,
                                  const uint32_t offset[PACKED_COUNT + 1]);
/* Its place in the dictionary. */
static inline uint32_t chunk_local_name(const struct chunk_names *names, uint32_t i)
{
    if (names->width == 1)
        return names->names[i];
    return names->width == 2 ? ((const uint16_t *)(const void *)names->names)[i] : 0;
}
static inline void chunk_look(const struct chunk_names *names, uint32_t i, uint32_t *ret_named,
                              uint8_t *ret_flags)
{
    *ret_named = names->dictionary[chunk_local_name(names, i)];
    *ret_flags = (uint8_t)(names->flags_base + (names->flags == NULL ? 0 : names->flags[i]));
}

/* The same for parents: the ordinal in the row so many rows above; lift 0: none. */
struct chunk_parents {
    const uint8_t *ordinals, *lifts; /* lifts NULL: all are lift_base */
    uint32_t base;
    uint16_t lift_base;
    uint8_t width, lift_width;
};
struct chunk_parents chunk_parents_at(const struct chunk_entry *entry, const uint8_t *data,
                                      const uint32_t offset[PACKED_COUNT + 1]);
static inline uint32_t chunk_lift(const struct chunk_parents *parents, uint32_t i)
{
    if (parents->lifts == NULL)
        return parents->lift_base;
    return (uint32_t)parents->lift_base +
           (parents->lift_width == 1 ? parents->lifts[i]
                                     : ((const uint16_t *)(const void *)parents->lifts)[i]);
}
static inline uint32_t chunk_parent(const struct chunk_parents *parents, uint32_t i)
{
    switch (parents->width) {
    case 1:
        return parents->base + parents->ordinals[i];
    case 2:
        return parents->base + ((const uint16_t *)(const void *)parents->ordinals)[i];
    case 4:
        return parents->base + ((const uint32_t *)(const void *)parents->ordinals)[i];
    default:
        return parents->base;
    }
}

struct packed_slice {
    int64_t start_ps, dur_ps, self_ps;
    uint32_t named, parent, event;
    uint16_t lift;
    uint8_t flags;
};
/* One slice: its start and dur only, or everything. */
void chunk_times(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                 struct packed_slice *ret);
/* Of start, dur and self those that are among the columns; the rest of *ret stays as it is. */
void chunk_slice_times(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                       unsigned columns, struct packed_slice *ret);
void chunk_slice(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                 struct packed_slice *ret);

#endif
