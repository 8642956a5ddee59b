/* SPDX-License-Identifier: Apache-2.0 */
/* One column of args: constant, offsets from the least, or steps from value to value. */
#include "base/pack/pack.h"
#include "trace/args/args_block.h"
#include "trace/width.h"

/* Chooses the packing: deltas only where they are narrower. */
static void measure_column(const uint64_t *values, struct args_column_head *head)
{
    uint64_t min = values[0], max = values[0];
    int64_t step_min = INT64_MAX, step_max = INT64_MIN;
    uint32_t i = 1;

    while (i < head->count && values[i] == values[0])
        i++;
    if (i < head->count)
        i = 1;
    for (; i < head->count; i++) {
        int64_t step = (int64_t)(values[i] - values[i - 1]);

        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
        step_min = step < step_min ? step : step_min;
        step_max = step > step_max ? step : step_max;
    }
    head->min = min;
    head->max = max;
    if (min == max)
        return;

    uint32_t delta_width = width_of((uint64_t)step_max - (uint64_t)step_min);

    head->packing = ARGS_OFFSETS;
    head->width = width_of(max - min);
    if (delta_width < head->width) {
        head->packing = ARGS_DELTAS;
        head->width = delta_width;
        head->first = values[0];
        head->step = (uint64_t)step_min;
    }
}

#define NARROW(type, expression)                                                                   \
    do {                                                                                           \
        type *to = narrow;                                                                         \
        for (uint32_t i = 0; i < count; i++)                                                       \
            to[i] = (type)(expression);                                                            \
    } while (0)
#define NARROW_TO_WIDTH(expression)                                                                \
    do {                                                                                           \
        if (head->width == 1)                                                                      \
            NARROW(uint8_t, expression);                                                           \
        else if (head->width == 2)                                                                 \
            NARROW(uint16_t, expression);                                                          \
        else if (head->width == 4)                                                                 \
            NARROW(uint32_t, expression);                                                          \
        else                                                                                       \
            NARROW(uint64_t, expression);                                                          \
    } while (0)

static size_t narrow_column(const struct args_column_head *head, const uint64_t *values,
                            void *narrow)
{
    uint32_t count = args_packed_count(head);

    if (head->packing == ARGS_DELTAS)
        NARROW_TO_WIDTH(values[i + 1] - values[i] - head->step);
    else
        NARROW_TO_WIDTH(values[i] - head->min);
    return (size_t)count * head->width;
}

size_t args_column_bound(uint32_t count)
{
    return zstd_bound(count * sizeof(uint64_t));
}

void args_column_pack(struct args_column_head *head, uint64_t *values, uint64_t *narrow,
                      uint8_t *to)
{
    if (head->type == ARG_INT64)
        for (uint32_t i = 0; i < head->count; i++)
            values[i] = args_ordered(ARG_INT64, values[i]);
    measure_column(values, head);

    size_t raw = narrow_column(head, values, narrow);
    struct bytes from = {.at = (const uint8_t *)narrow, .count = raw};
    size_t stored = raw;

    if (raw >= ARGS_PACK_MIN)
        stored = zstd_pack(to, args_column_bound(head->count), from, 1);
    if (stored >= raw) {
        memcpy(to, narrow, raw);
        stored = raw;
    }
    head->stored_bytes = (uint32_t)stored;
}

#define WIDEN(type)                                                                                \
    do {                                                                                           \
        const uint8_t *in = packed;                                                                \
        for (uint32_t i = 0; i < count; i++, in += sizeof(type)) {                                 \
            type narrow;                                                                           \
            memcpy(&narrow, in, sizeof(narrow));                                                   \
            to[i] = narrow;                                                                        \
        }                                                                                          \
    } while (0)

static void widen(const uint8_t *packed, uint32_t count, uint32_t width, uint64_t *to)
{
    switch (width) {
    case 0:
        memset(to, 0, count * sizeof(*to));
        break;
    case 1:
        WIDEN(uint8_t);
        break;
    case 2:
        WIDEN(uint16_t);
        break;
    case 4:
        WIDEN(uint32_t);
        break;
    default:
        WIDEN(uint64_t);
        break;
    }
}

/* Packed values to bits; false when one lies outside what the head promises. */
static bool rebuild(const struct args_column_head *head, uint64_t *values)
{
    uint64_t sign = args_ordered(head->type, 0);
    bool broken = false;

    if (head->packing == ARGS_DELTAS) {
        uint64_t value = head->first;

        for (uint32_t i = 0; i < head->count; i++) {
            uint64_t delta = values[i + 1]; /* one further: the first value has no delta */

            values[i] = value;
            value += head->step + delta;
        }
    } else if (head->packing == ARGS_OFFSETS) {
        for (uint32_t i = 0; i < head->count; i++)
            values[i] += head->min;
    } else {
        for (uint32_t i = 0; i < head->count; i++)
            values[i] = head->min;
    }
    for (uint32_t i = 0; i < head->count; i++) {
        broken |= (values[i] < head->min) | (values[i] > head->max);
        values[i] ^= sign;
    }
    return !broken;
}

bool args_column_unpack(const struct args_column_head *head, const uint8_t *stored,
                        uint64_t *values, uint8_t *room)
{
    bool is_deltas = head->packing == ARGS_DELTAS;
    size_t raw = (size_t)args_packed_count(head) * head->width;

    if (head->stored_bytes < raw) {
        if (zstd_unpack(room, raw, (struct bytes){stored, head->stored_bytes}, NULL) != OK)
            return false;
        stored = room;
    }
    values[head->count] = 0;
    if (head->packing != ARGS_CONSTANT)
        widen(stored, head->count - is_deltas, head->width, values + is_deltas);
    return rebuild(head, values);
}
