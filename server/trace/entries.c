/* SPDX-License-Identifier: Apache-2.0 */
/* Packs entries of an attribution into columns, unpacks and checks them; the layout stands in
 * entries.h. */
#include "trace/entries.h"
#include "trace/width.h"

enum { NS_PS = 1000 };

const uint64_t entry_masks[9] = {
    [1] = UINT8_MAX, [2] = UINT16_MAX, [4] = UINT32_MAX, [8] = UINT64_MAX};

/* Of a block that is being packed. */
struct packing {
    struct entry_columns *block;
    uint8_t *data;
    uint32_t words, count;
};

/* Room for the next column, whose greatest value counted from the base is `max`. */
static uint8_t *column_begin(struct packing *packing, enum entry_column column, uint64_t base,
                             uint64_t max)
{
    const uint8_t width = width_of(max);
    const size_t words = ((size_t)packing->count * width + 7) / 8;
    uint8_t *at = packing->data + (size_t)8 * packing->words;

    if (words > 0)
        memset(at + 8 * (words - 1), 0, 8);
    packing->block->base[column] = base;
    packing->block->place[column] = (uint16_t)packing->words;
    packing->block->width[column] = width;
    packing->words += (uint32_t)words;
    return at;
}

#define STORE_EACH(type, packing, at, value)                                                       \
    for (uint32_t i = 0; i < (packing)->count; i++)                                                \
    ((type *)(void *)(at))[i] = (type)(value)

/* A column of which every value is known to fit; a column of equal values takes no room. */
#define STORE(packing, column, at, value)                                                          \
    do {                                                                                           \
        switch ((packing)->block->width[column]) {                                                 \
        case 0:                                                                                    \
            break;                                                                                 \
        case 1:                                                                                    \
            STORE_EACH(uint8_t, packing, at, value);                                               \
            break;                                                                                 \
        case 2:                                                                                    \
            STORE_EACH(uint16_t, packing, at, value);                                              \
            break;                                                                                 \
        case 4:                                                                                    \
            STORE_EACH(uint32_t, packing, at, value);                                              \
            break;                                                                                 \
        default:                                                                                   \
            STORE_EACH(uint64_t, packing, at, value);                                              \
        }                                                                                          \
    } while (0)

/* The least and the greatest of an expression of `i`. */
#define FIND_RANGE(packing, value, least, most)                                                    \
    for (uint32_t i = 0; i < (packing)->count; i++) {                                              \
        const int64_t found = (int64_t)(value);                                                    \
                                                                                                   \
        (least) = found < (least) ? found : (least);                                               \
        (most) = found > (most) ? found : (most);                                                  \
    }

/* Against the least of them, as signed numbers. */
#define PUT_FROM_LEAST(packing, column, value)                                                     \
    do {                                                                                           \
        int64_t least = INT64_MAX, most = INT64_MIN;                                               \
                                                                                                   \
        FIND_RANGE(packing, value, least, most)                                                    \
                                                                                                   \
        uint8_t *at =                                                                              \
            column_begin(packing, column, (uint64_t)least, (uint64_t)most - (uint64_t)least);      \
                                                                                                   \
        STORE(packing, column, at, (uint64_t)(value) - (uint64_t)least);                           \
    } while (0)

/* UINT32_MAX is none, and where there is any, 0 stands for it. */
#define PUT_PERHAPS(packing, column, lack_form, value)                                             \
    do {                                                                                           \
        uint32_t least = UINT32_MAX, next = 0;                                                     \
        bool lacks = false;                                                                        \
                                                                                                   \
        for (uint32_t i = 0; i < (packing)->count; i++) {                                          \
            const uint32_t found = (value);                                                        \
                                                                                                   \
            least = found < least ? found : least;                                                 \
            next = found + 1 > next ? found + 1 : next;                                            \
            lacks |= found == UINT32_MAX;                                                          \
        }                                                                                          \
                                                                                                   \
        const uint64_t base = lacks ? (uint64_t)least - 1 : least;                                 \
        uint8_t *at =                                                                              \
            column_begin(packing, column, base, next == 0 ? 0 : (uint64_t)next - 1 - base);        \
                                                                                                   \
        if (lacks)                                                                                 \
            (packing)->block->forms |= (uint8_t)(lack_form);                                       \
        STORE(packing, column, at, (value) == UINT32_MAX ? 0 : (value)-base);                      \
    } while (0)

/* The mean distance from start to start, whole nanoseconds where all distances are. Blocks of
 * several rows go back in time: they have none. */
static uint64_t pace_of(const struct attributed *entries, uint32_t count)
{
    const uint64_t first_ps = (uint64_t)entries[0].start_ps;
    uint64_t pace_ps;

    if (count < 2 || entries[count - 1].start_ps < entries[0].start_ps)
        return 0;
    pace_ps = ((uint64_t)entries[count - 1].start_ps - first_ps) / (count - 1);
    for (uint32_t i = 1; i < count; i++)
        if ((int64_t)((uint64_t)entries[i].start_ps - first_ps) % NS_PS != 0)
            return pace_ps;
    return pace_ps / NS_PS * NS_PS;
}

/* Times against the least of them; in nanoseconds where they are whole ones. */
static void put_times(struct packing *packing, enum entry_column column, unsigned ns_form,
                      uint64_t *times_ps)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    uint64_t max;
    uint32_t whole = 0;

    FIND_RANGE(packing, times_ps[i], least, most)
    max = (uint64_t)most - (uint64_t)least;
    while (max > UINT8_MAX && whole < packing->count &&
           (times_ps[whole] - (uint64_t)least) % NS_PS == 0)
        whole++;

    const bool is_ns = whole == packing->count;
    uint8_t *at = column_begin(packing, column, (uint64_t)least, is_ns ? max / NS_PS : max);

    if (is_ns) {
        packing->block->forms |= (uint8_t)ns_form;
        STORE(packing, column, at, (times_ps[i] - (uint64_t)least) / NS_PS);
    } else {
        STORE(packing, column, at, times_ps[i] - (uint64_t)least);
    }
}

void entries_pack(const struct attributed *entries, const uint32_t *kernel_of,
                  const uint32_t *by_device_time, uint32_t first, uint32_t count, uint8_t *data,
                  struct entry_columns *ret)
{
    struct packing packing = {.block = ret, .data = data, .count = count};
    uint64_t times_ps[ENTRY_BLOCK];

    *ret = (struct entry_columns){0};
    entries += first;
    by_device_time += first;
    PUT_FROM_LEAST(&packing, ENTRY_SLICE, (int64_t)entries[i].slice - i);
    PUT_FROM_LEAST(&packing, ENTRY_OP, entries[i].op);
    PUT_PERHAPS(&packing, ENTRY_EXECUTION, ENTRY_EXECUTION_LACKS, entries[i].execution);
    PUT_FROM_LEAST(&packing, ENTRY_DEVICE, entries[i].device);
    PUT_FROM_LEAST(&packing, ENTRY_FLAGS, 2u * entries[i].graph + (entries[i].first ? 1u : 0u));
    PUT_PERHAPS(&packing, ENTRY_LAUNCH, ENTRY_LAUNCH_LACKS, entries[i].launch);
    ret->pace_ps = pace_of(entries, count);
    for (uint32_t i = 0; i < count; i++)
        times_ps[i] = (uint64_t)entries[i].start_ps - i * ret->pace_ps;
    put_times(&packing, ENTRY_START, ENTRY_START_NS, times_ps);
    for (uint32_t i = 0; i < count; i++)
        times_ps[i] = (uint64_t)entries[i].dur_ps;
    put_times(&packing, ENTRY_DUR, ENTRY_DUR_NS, times_ps);
    for (uint32_t i = 0; i < count; i++)
        times_ps[i] = (uint64_t)entries[i].dur_ps - (uint64_t)entries[i].self_ps;
    put_times(&packing, ENTRY_COVERED, ENTRY_COVERED_NS, times_ps);
    if (kernel_of == NULL) {
        ret->forms |= ENTRY_KERNEL_LACKS;
        column_begin(&packing, ENTRY_KERNEL, UINT32_MAX - 1, 0);
    } else {
        kernel_of += first;
        PUT_PERHAPS(&packing, ENTRY_KERNEL, ENTRY_KERNEL_LACKS, kernel_of[i]);
    }
    PUT_FROM_LEAST(&packing, ENTRY_ORDER, (int64_t)by_device_time[i] - i);
    ret->words = packing.words;
}

/* What a column stores of `count` entries from place `from` on. */
static void read_stored(const struct entry_columns *block, const uint8_t *data,
                        enum entry_column column, uint32_t from, uint32_t count, uint64_t *ret)
{
    const uint8_t *at = data + block->offset + 8u * block->place[column];
    const uint8_t width = block->width[column];

    at += (size_t)width * from;
    for (uint32_t i = 0; width == 0 && i < count; i++)
        ret[i] = 0;
    for (uint32_t i = 0; width == 1 && i < count; i++)
        ret[i] = at[i];
    for (uint32_t i = 0; width == 2 && i < count; i++)
        ret[i] = ((const uint16_t *)(const void *)at)[i];
    for (uint32_t i = 0; width == 4 && i < count; i++)
        ret[i] = ((const uint32_t *)(const void *)at)[i];
    if (width == 8)
        memcpy(ret, at, (size_t)count * 8);
}

/* A function over the values of a column, whose loops are known to be of whole blocks: then the
 * compiler reads several values at once, of whatever width. */
#define EACH_STORED(type, count, statement)                                                        \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        const uint64_t stored = ((const type *)(const void *)at)[i];                               \
                                                                                                   \
        statement;                                                                                 \
    }

#define EACH_WIDTH(count, statement)                                                               \
    switch (width) {                                                                               \
    case 0:                                                                                        \
        for (uint32_t i = 0; i < (count); i++) {                                                   \
            const uint64_t stored = 0;                                                             \
                                                                                                   \
            statement;                                                                             \
        }                                                                                          \
        break;                                                                                     \
    case 1:                                                                                        \
        EACH_STORED(uint8_t, count, statement)                                                     \
        break;                                                                                     \
    case 2:                                                                                        \
        EACH_STORED(uint16_t, count, statement)                                                    \
        break;                                                                                     \
    case 4:                                                                                        \
        EACH_STORED(uint32_t, count, statement)                                                    \
        break;                                                                                     \
    default:                                                                                       \
        EACH_STORED(uint64_t, count, statement)                                                    \
    }

#define EACH(statement)                                                                            \
    do {                                                                                           \
        if (count == ENTRY_BLOCK)                                                                  \
            EACH_WIDTH(ENTRY_BLOCK, statement)                                                     \
        else                                                                                       \
            EACH_WIDTH(count, statement)                                                           \
    } while (0)

static void unpack_bytes(const uint8_t *restrict at, uint8_t width, uint64_t base, uint32_t count,
                         uint8_t *restrict ret)
{
    EACH(ret[i] = (uint8_t)(base + stored));
}

/* Each counted from `step` times its place. */
static void unpack_numbers(const uint8_t *restrict at, uint8_t width, uint32_t base, uint32_t step,
                           uint32_t count, uint32_t *restrict ret)
{
    EACH(ret[i] = base + (uint32_t)stored + step * i);
}

/* 0 stands for `none`. */
static void unpack_perhaps(const uint8_t *restrict at, uint8_t width, uint32_t base, uint32_t none,
                           uint32_t count, uint32_t *restrict ret)
{
    EACH(ret[i] = (uint32_t)stored == 0 ? none : base + (uint32_t)stored);
}

static void unpack_times(const uint8_t *restrict at, uint8_t width, uint64_t base, uint32_t unit,
                         uint64_t pace, uint32_t count, int64_t *restrict ret)
{
    if (unit == 1)
        EACH(ret[i] = (int64_t)(base + stored + i * pace));
    else
        EACH(ret[i] = (int64_t)(base + stored * NS_PS + i * pace));
}

/* A block that is being unpacked. */
struct unpacking {
    const struct entry_columns *block;
    const uint8_t *data;
    unsigned columns;
    uint32_t count;
};

static const uint8_t *at_of(const struct unpacking *of, enum entry_column column)
{
    return of->data + of->block->offset + 8u * of->block->place[column];
}

static void numbers(const struct unpacking *of, enum entry_column column, uint32_t step,
                    uint32_t *ret)
{
    if ((of->columns & ENTRY_BIT(column)) != 0)
        unpack_numbers(at_of(of, column), of->block->width[column],
                       (uint32_t)of->block->base[column], step, of->count, ret);
}

static void perhaps(const struct unpacking *of, enum entry_column column, unsigned lack_form,
                    uint32_t *ret)
{
    const uint32_t base = (uint32_t)of->block->base[column];

    if ((of->columns & ENTRY_BIT(column)) != 0)
        unpack_perhaps(at_of(of, column), of->block->width[column], base,
                       (of->block->forms & lack_form) != 0 ? UINT32_MAX : base, of->count, ret);
}

static void times(const struct unpacking *of, enum entry_column column, unsigned ns_form,
                  uint64_t pace, int64_t *ret)
{
    unpack_times(at_of(of, column), of->block->width[column], of->block->base[column],
                 (of->block->forms & ns_form) != 0 ? NS_PS : 1, pace, of->count, ret);
}

void entries_unpack(const struct entry_columns *block, const uint8_t *data, unsigned columns,
                    uint32_t count, struct entry_arrays *ret)
{
    const struct unpacking of = {block, data, columns, count};

    numbers(&of, ENTRY_SLICE, 1, ret->slice);
    numbers(&of, ENTRY_OP, 0, ret->op);
    perhaps(&of, ENTRY_EXECUTION, ENTRY_EXECUTION_LACKS, ret->execution);
    numbers(&of, ENTRY_DEVICE, 0, (uint32_t *)ret->device);
    if ((columns & ENTRY_BIT(ENTRY_FLAGS)) != 0)
        unpack_bytes(at_of(&of, ENTRY_FLAGS), block->width[ENTRY_FLAGS], block->base[ENTRY_FLAGS],
                     count, ret->flags);
    perhaps(&of, ENTRY_LAUNCH, ENTRY_LAUNCH_LACKS, ret->launch);
    if ((columns & ENTRY_BIT(ENTRY_START)) != 0)
        times(&of, ENTRY_START, ENTRY_START_NS, block->pace_ps, ret->start_ps);
    if ((columns & (ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED))) != 0)
        times(&of, ENTRY_DUR, ENTRY_DUR_NS, 0, ret->dur_ps);
    if ((columns & ENTRY_BIT(ENTRY_COVERED)) == 0)
        return;
    times(&of, ENTRY_COVERED, ENTRY_COVERED_NS, 0, ret->self_ps);
    for (uint32_t i = 0; i < ENTRY_BLOCK; i++)
        ret->self_ps[i] = (int64_t)((uint64_t)ret->dur_ps[i] - (uint64_t)ret->self_ps[i]);
}

#define LAY_EACH(column, to, value)                                                                \
    do {                                                                                           \
        for (uint32_t i = 0; (columns & ENTRY_BIT(column)) != 0 && i < count; i++)                 \
            (to)[i] = (value);                                                                     \
    } while (0)

void entries_lay(const struct attributed *entries, unsigned columns, uint32_t count, uint32_t place,
                 struct entry_arrays *ret)
{
    if ((columns & ENTRY_BIT(ENTRY_COVERED)) != 0)
        columns |= ENTRY_BIT(ENTRY_DUR);
    LAY_EACH(ENTRY_SLICE, ret->slice + place, entries[i].slice);
    LAY_EACH(ENTRY_OP, ret->op + place, entries[i].op);
    LAY_EACH(ENTRY_EXECUTION, ret->execution + place, entries[i].execution);
    LAY_EACH(ENTRY_DEVICE, ret->device + place, entries[i].device);
    LAY_EACH(ENTRY_FLAGS, ret->flags + place,
             (uint8_t)(2u * entries[i].graph + (entries[i].first ? 1u : 0u)));
    LAY_EACH(ENTRY_LAUNCH, ret->launch + place, entries[i].launch);
    LAY_EACH(ENTRY_START, ret->start_ps + place, entries[i].start_ps);
    LAY_EACH(ENTRY_DUR, ret->dur_ps + place, entries[i].dur_ps);
    LAY_EACH(ENTRY_COVERED, ret->self_ps + place, entries[i].self_ps);
}

bool entry_columns_sound(const struct entry_columns *block, uint32_t count)
{
    uint64_t words = 0;

    for (int column = 0; column < ENTRY_COLUMN_COUNT; column++) {
        uint8_t width = block->width[column];

        if ((width != 0 && width != 1 && width != 2 && width != 4 && width != 8) ||
            block->place[column] != words)
            return false;
        words += ((uint64_t)count * width + 7) / 8;
    }
    return block->words == words;
}

static bool all_below(const struct entry_columns *block, const uint8_t *data, uint32_t count,
                      enum entry_column column, unsigned lack_form, uint32_t limit)
{
    const bool lacks = (block->forms & lack_form) != 0;
    uint64_t stored[ENTRY_BLOCK];
    bool sound = true;

    read_stored(block, data, column, 0, count, stored);
    for (uint32_t i = 0; i < count; i++)
        sound &= (uint32_t)(block->base[column] + stored[i]) < limit || (lacks && stored[i] == 0);
    return sound;
}

bool entry_values_sound(const struct entry_columns *block, const uint8_t *data, uint32_t count,
                        const struct entry_limits *limits, int64_t *last)
{
    bool sound =
        all_below(block, data, count, ENTRY_OP, 0, limits->op_count) &&
        all_below(block, data, count, ENTRY_EXECUTION, ENTRY_EXECUTION_LACKS,
                  limits->execution_count) &&
        all_below(block, data, count, ENTRY_KERNEL, ENTRY_KERNEL_LACKS, limits->kernel_count);

    uint64_t stored[ENTRY_BLOCK];

    read_stored(block, data, ENTRY_SLICE, 0, count, stored);
    for (uint32_t i = 0; i < count; i++) {
        int64_t slice = (int64_t)(uint32_t)(block->base[ENTRY_SLICE] + stored[i] + i);

        sound &= slice > *last;
        *last = slice;
    }
    read_stored(block, data, ENTRY_ORDER, 0, count, stored);
    for (uint32_t i = 0; i < count; i++)
        sound &= (uint32_t)(block->base[ENTRY_ORDER] + stored[i] + i) < limits->entry_count;
    return sound;
}
