/* SPDX-License-Identifier: Apache-2.0 */
/* Constants: one number, or a few in braces. What is long, or of a type that is rarely written
 * down, stands as {...}, as XLA prints it.
 *
 *   Literal  1 shape  2 pred*  4 s32*  5 s64*  6 u32*  7 u64*  8 f32*  9 f64*  12 c64*  18 c128*
 *            11 f16  13 bf16, two bytes each
 */
#include "decode/hlo/hlo_module_parts.h"

#include <inttypes.h>
#include <math.h>

enum { VALUES_MAX = 10 };

static void put_real(struct text *out, double value)
{
    if (isnan(value))
        text_puts(out, "nan");
    else if (isinf(value))
        text_puts(out, value < 0 ? "-inf" : "inf");
    else
        text_putf(out, "%.9g", value);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);

    return bits >> 15 ? -value : value;
}

static double brain_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Bytes of one value of fixed size; 0: varints. */
static size_t value_size(uint32_t number)
{
    switch (number) {
    case 8:
        return 4;
    case 9:
    case 12:
        return 8;
    case 18:
        return 16;
    case 11:
    case 13:
        return 2;
    }
    return 0;
}

static void put_fixed(struct text *out, uint32_t number, const uint8_t *at)
{
    float single[2];
    double twice[2];
    uint16_t half;

    switch (number) {
    case 8:
        memcpy(single, at, 4);
        put_real(out, (double)single[0]);
        break;
    case 9:
        memcpy(twice, at, 8);
        put_real(out, twice[0]);
        break;
    case 11:
    case 13:
        memcpy(&half, at, 2);
        put_real(out, number == 11 ? half_value(half) : brain_value(half));
        break;
    case 12:
    case 18:
        if (number == 12) {
            memcpy(single, at, 8);
            twice[0] = (double)single[0];
            twice[1] = (double)single[1];
        } else {
            memcpy(twice, at, 16);
        }
        text_puts(out, "(");
        put_real(out, twice[0]);
        text_puts(out, ", ");
        put_real(out, twice[1]);
        text_puts(out, ")");
        break;
    }
}

static void put_varint(struct text *out, uint32_t number, uint64_t value)
{
    if (number == 2)
        text_puts(out, value != 0 ? "true" : "false");
    else if (number == 4)
        text_putf(out, "%" PRId32, (int32_t)value);
    else if (number == 5)
        text_putf(out, "%" PRId64, (int64_t)value);
    else
        text_putf(out, "%" PRIu64, value);
}

/* The values of a packed field; false, and nothing is put, when there are too many. */
static bool put_values(struct text *out, uint32_t number, struct bytes values, bool is_scalar)
{
    struct error err = {0};
    struct pb varints = pb_open(values, &err);
    size_t size = value_size(number), count = size > 0 ? values.count / size : 0;
    uint64_t value;

    for (struct pb all = varints;
         size == 0 && count <= VALUES_MAX && hlo_next_number(&all, &value);)
        count++;
    if (err.code != OK || count == 0 || count > VALUES_MAX || (is_scalar && count > 1))
        return false;
    text_puts(out, is_scalar ? "" : "{");
    for (size_t i = 0; i < count; i++) {
        text_puts(out, i > 0 ? ", " : "");
        if (size > 0)
            put_fixed(out, number, values.at + i * size);
        else if (hlo_next_number(&varints, &value))
            put_varint(out, number, value);
    }
    text_puts(out, is_scalar ? "" : "}");
    return true;
}

/* The number of a shape's sizes: 0 a scalar, 1 a list, 2 any more. */
static unsigned rank_of(struct bytes shape)
{
    struct error err = {0};
    struct pb pb = pb_open(shape, &err);
    unsigned rank = 0;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 3 && field.wire == PB_VARINT)
            rank++;
        for (size_t i = 0; field.number == 3 && field.wire == PB_BYTES && i < field.bytes.count;
             i++)
            rank += field.bytes.at[i] < 0x80;
    }
    return rank < 2 ? rank : 2;
}

static bool is_number_field(uint32_t number)
{
    return number == 2 || (number >= 4 && number <= 9) || number == 11 || number == 12 ||
           number == 13 || number == 18;
}

void hlo_print_literal(struct text *out, struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    unsigned rank = 2;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            rank = rank_of(field.bytes);
        else if (is_number_field(field.number) && rank < 2 &&
                 put_values(out, field.number, field.bytes, rank == 0))
            return;
    }
    text_puts(out, "{...}");
}
