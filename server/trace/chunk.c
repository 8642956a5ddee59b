/* SPDX-License-Identifier: Apache-2.0 */
/* Reads packed columns, whole or one value; the layout stands in chunk.h. */
#include "trace/chunk.h"

#include "trace/readers.h"
#include "trace/writers.h"

enum { GROUP_SLICES = 32, NS_PS = 1000 };

/* Written out column by column: single slices ask for it by the million. */
void chunk_layout(const struct chunk_entry *entry, uint32_t ret_offset[PACKED_COUNT + 1])
{
    const uint32_t slices = entry->count;
    uint32_t at = 0;

#pragma GCC unroll 16
    for (int column = 0; column < PACKED_COUNT; column++) {
        uint32_t count = column == PACKED_GROUP        ? (slices + GROUP_SLICES - 1) / GROUP_SLICES
                         : column == PACKED_DICTIONARY ? entry->dictionary_count
                                                       : slices;

        ret_offset[column] = at;
        at += (count * entry->width[column] + 7) & ~UINT32_C(7);
    }
    ret_offset[PACKED_COUNT] = at;
}

static inline uint64_t stored_at(const uint8_t *at, uint8_t width, uint32_t i)
{
    switch (width) {
    case 1:
        return at[i];
    case 2:
        return ((const uint16_t *)at)[i];
    case 4:
        return ((const uint32_t *)at)[i];
    case 8:
        return ((const uint64_t *)at)[i];
    default:
        return 0;
    }
}

static bool widths_valid(const struct chunk_entry *entry)
{
    const uint8_t width_max[PACKED_COUNT] = {
        [PACKED_GROUP] = 8, [PACKED_START] = 8,      [PACKED_DUR] = 8,    [PACKED_SELF] = 8,
        [PACKED_NAME] = 2,  [PACKED_DICTIONARY] = 4, [PACKED_PARENT] = 4, [PACKED_EVENT] = 4,
        [PACKED_LIFT] = 2,  [PACKED_FLAGS] = 1};

    for (int column = 0; column < PACKED_COUNT; column++) {
        uint8_t width = entry->width[column];
        if (width > width_max[column] || (width & (width - 1)) != 0)
            return false;
    }
    bool grouped = entry->forms & CHUNK_START_GROUPED;
    return entry->width[PACKED_GROUP] == (grouped ? 8 : 0) &&
           entry->width[PACKED_DICTIONARY] == 4 &&
           (entry->width[PACKED_NAME] > 0 || entry->dictionary_count == 1) &&
           !(entry->forms & CHUNK_SELF_IS_DUR && entry->width[PACKED_SELF] != 0);
}

bool chunk_entry_valid(const struct chunk_entry *entry)
{
    uint32_t offset[PACKED_COUNT + 1];

    if (entry->count == 0 || entry->count > CHUNK_SLICES || entry->dictionary_count == 0 ||
        entry->dictionary_count > entry->count || !widths_valid(entry))
        return false;
    if (entry->start_ps > entry->end_ps || entry->start_ps < -TIME_PS_MAX ||
        entry->end_ps > TIME_PS_MAX || entry->dur_base < 0 || entry->dur_base > 2 * TIME_PS_MAX ||
        entry->event_base > entry->event_max)
        return false;
    chunk_layout(entry, offset);
    return offset[PACKED_COUNT] == entry->size;
}

/* base + stored * unit; unsigned, so that no bytes overflow. */
static void unpack_times(const uint8_t *at, uint8_t width, int64_t base_ps, bool ns, uint32_t count,
                         int64_t *ret)
{
    const uint64_t base = (uint64_t)base_ps, unit = ns ? NS_PS : 1;

    switch (width) {
    case 0:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = base_ps;
        break;
    case 1:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = (int64_t)(base + at[i] * unit);
        break;
    case 2:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = (int64_t)(base + ((const uint16_t *)at)[i] * unit);
        break;
    case 4:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = (int64_t)(base + ((const uint32_t *)at)[i] * unit);
        break;
    case 8:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = (int64_t)(base + ((const uint64_t *)at)[i] * unit);
        break;
    }
}

static void unpack_ordinals(const uint8_t *at, uint8_t width, uint32_t base, uint32_t count,
                            uint32_t *ret)
{
    switch (width) {
    case 0:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = base;
        break;
    case 1:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = base + at[i];
        break;
    case 2:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = base + ((const uint16_t *)at)[i];
        break;
    case 4:
        for (uint32_t i = 0; i < count; i++)
            ret[i] = base + ((const uint32_t *)at)[i];
        break;
    }
}

void chunk_starts(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps)
{
    const bool ns = entry->forms & CHUNK_START_NS;
    const uint8_t width = entry->width[PACKED_START];
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    const uint8_t *at = data + offset[PACKED_START];
    if (!(entry->forms & CHUNK_START_GROUPED)) {
        unpack_times(at, width, entry->start_ps, ns, entry->count, ret_ps);
        return;
    }
    const uint64_t *groups = (const uint64_t *)(data + offset[PACKED_GROUP]);
    for (uint32_t first = 0; first < entry->count; first += GROUP_SLICES) {
        uint32_t count = entry->count - first < GROUP_SLICES ? entry->count - first : GROUP_SLICES;
        uint64_t base = groups[first / GROUP_SLICES] * (ns ? NS_PS : 1);
        unpack_times(at + (size_t)first * width, width, (int64_t)((uint64_t)entry->start_ps + base),
                     ns, count, ret_ps + first);
    }
}

void chunk_group(const struct chunk_entry *entry, const uint8_t *data,
                 const uint32_t offset[PACKED_COUNT + 1], uint32_t group, int64_t *ret_start_ps,
                 int64_t *ret_dur_ps)
{
    const uint32_t first = group * GROUP_SLICES;
    const uint32_t count =
        entry->count - first < GROUP_SLICES ? entry->count - first : GROUP_SLICES;
    const bool ns = entry->forms & CHUNK_START_NS;
    const uint8_t start_width = entry->width[PACKED_START], dur_width = entry->width[PACKED_DUR];
    uint64_t base_ps = (uint64_t)entry->start_ps;

    if (entry->forms & CHUNK_START_GROUPED)
        base_ps += ((const uint64_t *)(data + offset[PACKED_GROUP]))[group] * (ns ? NS_PS : 1);
    unpack_times(data + offset[PACKED_START] + (size_t)first * start_width, start_width,
                 (int64_t)base_ps, ns, count, ret_start_ps);
    unpack_times(data + offset[PACKED_DUR] + (size_t)first * dur_width, dur_width, entry->dur_base,
                 entry->forms & CHUNK_DUR_NS, count, ret_dur_ps);
}

struct chunk_names chunk_names_at(const struct chunk_entry *entry, const uint8_t *data,
                                  const uint32_t offset[PACKED_COUNT + 1])
{
    return (struct chunk_names){
        .dictionary = (const uint32_t *)(data + offset[PACKED_DICTIONARY]),
        .names = data + offset[PACKED_NAME],
        .flags = entry->width[PACKED_FLAGS] == 0 ? NULL : data + offset[PACKED_FLAGS],
        .width = entry->width[PACKED_NAME],
        .flags_base = entry->flags_base};
}

struct chunk_parents chunk_parents_at(const struct chunk_entry *entry, const uint8_t *data,
                                      const uint32_t offset[PACKED_COUNT + 1])
{
    return (struct chunk_parents){
        .ordinals = data + offset[PACKED_PARENT],
        .lifts = entry->width[PACKED_LIFT] == 0 ? NULL : data + offset[PACKED_LIFT],
        .base = entry->parent_base,
        .lift_base = entry->lift_base,
        .width = entry->width[PACKED_PARENT],
        .lift_width = entry->width[PACKED_LIFT]};
}

void chunk_durs(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    unpack_times(data + offset[PACKED_DUR], entry->width[PACKED_DUR], entry->dur_base,
                 entry->forms & CHUNK_DUR_NS, entry->count, ret_ps);
}

void chunk_selfs(const struct chunk_entry *entry, const uint8_t *data, int64_t *ret_ps)
{
    uint32_t offset[PACKED_COUNT + 1];

    if (entry->forms & CHUNK_SELF_IS_DUR) {
        chunk_durs(entry, data, ret_ps);
        return;
    }
    chunk_layout(entry, offset);
    unpack_times(data + offset[PACKED_SELF], entry->width[PACKED_SELF], entry->self_base,
                 entry->forms & CHUNK_SELF_NS, entry->count, ret_ps);
}

void chunk_named(const struct chunk_entry *entry, const uint8_t *data, uint32_t *ret)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    const uint32_t *dictionary = (const uint32_t *)(data + offset[PACKED_DICTIONARY]);
    const uint8_t *at = data + offset[PACKED_NAME];
    switch (entry->width[PACKED_NAME]) {
    case 0:
        for (uint32_t i = 0; i < entry->count; i++)
            ret[i] = dictionary[0];
        break;
    case 1:
        for (uint32_t i = 0; i < entry->count; i++)
            ret[i] = dictionary[at[i]];
        break;
    case 2:
        for (uint32_t i = 0; i < entry->count; i++)
            ret[i] = dictionary[((const uint16_t *)at)[i]];
        break;
    }
}

void chunk_events(const struct chunk_entry *entry, const uint8_t *data, event_id *ret)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    unpack_ordinals(data + offset[PACKED_EVENT], entry->width[PACKED_EVENT], entry->event_base,
                    entry->count, ret);
}

void chunk_parents(const struct chunk_entry *entry, const uint8_t *data, uint32_t *ret_parent,
                   uint16_t *ret_lift)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    unpack_ordinals(data + offset[PACKED_PARENT], entry->width[PACKED_PARENT], entry->parent_base,
                    entry->count, ret_parent);
    for (uint32_t i = 0; i < entry->count; i++)
        ret_lift[i] = (uint16_t)(entry->lift_base + stored_at(data + offset[PACKED_LIFT],
                                                              entry->width[PACKED_LIFT], i));
}

void chunk_flags(const struct chunk_entry *entry, const uint8_t *data, uint8_t *ret)
{
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    if (entry->width[PACKED_FLAGS] == 0)
        memset(ret, entry->flags_base, entry->count);
    else
        memcpy(ret, data + offset[PACKED_FLAGS], entry->count);
}

void chunk_decode(const struct chunk_entry *entry, const uint8_t *data,
                  const struct open_columns *ret)
{
    chunk_starts(entry, data, ret->start_ps);
    chunk_durs(entry, data, ret->dur_ps);
    chunk_selfs(entry, data, ret->self_ps);
    chunk_named(entry, data, ret->named);
    chunk_parents(entry, data, ret->parent, ret->lift);
    chunk_events(entry, data, ret->event);
    chunk_flags(entry, data, ret->flags);
}

static int64_t time_at(const uint8_t *at, uint8_t width, int64_t base_ps, bool ns, uint32_t i)
{
    return (int64_t)((uint64_t)base_ps + stored_at(at, width, i) * (ns ? NS_PS : 1));
}

static int64_t start_at(const struct chunk_entry *entry, const uint8_t *data,
                        const uint32_t *offset, uint32_t i)
{
    const bool ns = entry->forms & CHUNK_START_NS;
    int64_t base_ps = entry->start_ps;

    if (entry->forms & CHUNK_START_GROUPED)
        base_ps = time_at(data + offset[PACKED_GROUP], 8, base_ps, ns, i / GROUP_SLICES);
    return time_at(data + offset[PACKED_START], entry->width[PACKED_START], base_ps, ns, i);
}

/* Each column that is looked at is another line of the processor's cache. */
void chunk_slice_times(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                       unsigned columns, struct packed_slice *ret)
{
    const uint8_t *width = entry->width;
    const bool self_is_dur = (entry->forms & CHUNK_SELF_IS_DUR) != 0;
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    if (columns & COLUMN_START)
        ret->start_ps = start_at(entry, data, offset, i);
    if (columns & COLUMN_DUR || (columns & COLUMN_SELF && self_is_dur))
        ret->dur_ps = time_at(data + offset[PACKED_DUR], width[PACKED_DUR], entry->dur_base,
                              entry->forms & CHUNK_DUR_NS, i);
    if (columns & COLUMN_SELF)
        ret->self_ps = self_is_dur ? ret->dur_ps
                                   : time_at(data + offset[PACKED_SELF], width[PACKED_SELF],
                                             entry->self_base, entry->forms & CHUNK_SELF_NS, i);
}

void chunk_times(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                 struct packed_slice *ret)
{
    chunk_slice_times(entry, data, i, COLUMN_START | COLUMN_DUR, ret);
}

void chunk_slice(const struct chunk_entry *entry, const uint8_t *data, uint32_t i,
                 struct packed_slice *ret)
{
    const uint8_t *width = entry->width;
    uint32_t offset[PACKED_COUNT + 1];

    chunk_layout(entry, offset);
    chunk_slice_times(entry, data, i, COLUMN_START | COLUMN_DUR | COLUMN_SELF, ret);
    const uint32_t *dictionary = (const uint32_t *)(data + offset[PACKED_DICTIONARY]);
    ret->named = dictionary[stored_at(data + offset[PACKED_NAME], width[PACKED_NAME], i)];
    ret->parent = entry->parent_base +
                  (uint32_t)stored_at(data + offset[PACKED_PARENT], width[PACKED_PARENT], i);
    ret->event = entry->event_base +
                 (uint32_t)stored_at(data + offset[PACKED_EVENT], width[PACKED_EVENT], i);
    ret->lift =
        (uint16_t)(entry->lift_base + stored_at(data + offset[PACKED_LIFT], width[PACKED_LIFT], i));
    ret->flags = (uint8_t)(entry->flags_base +
                           stored_at(data + offset[PACKED_FLAGS], width[PACKED_FLAGS], i));
}

bool chunk_data_valid(const struct chunk_entry *entry, const uint8_t *data, uint32_t name_count)
{
    uint32_t offset[PACKED_COUNT + 1];
    uint64_t local_max = 0;

    chunk_layout(entry, offset);
    const uint32_t *dictionary = (const uint32_t *)(data + offset[PACKED_DICTIONARY]);
    const uint8_t *at = data + offset[PACKED_NAME];
    for (uint32_t i = 0; i < entry->dictionary_count; i++)
        if (named_name(dictionary[i]) >= name_count || named_kind(dictionary[i]) >= KIND_COUNT)
            return false;
    for (uint32_t i = 0; i < entry->count; i++) {
        uint64_t local = stored_at(at, entry->width[PACKED_NAME], i);
        local_max = local > local_max ? local : local_max;
    }
    return local_max < entry->dictionary_count;
}
