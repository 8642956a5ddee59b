/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as XLA spells them.
 *
 *   f32[8,128]{1,0:T(8,128)S(1)}    type [sizes] {minor to major : tiles, memory space}
 *   (f32[], s32[<=4])               a tuple; a size that may be less
 *
 *   Shape   2 element type  3 sizes*  4 parts of a tuple*  5 layout  6 may be less*
 *   Layout  1 minor to major*  6 tiles { 1 sizes* }*  7 element's bits  8 memory space
 */
#include "decode/hlo/hlo_module_parts.h"

#include <inttypes.h>

static const char *const element_types[] = {
    "",           "pred",       "s8",     "s16",    "s32",      "s64",    "u8",     "u16",
    "u32",        "u64",        "f16",    "f32",    "f64",      "",       "opaque", "c64",
    "bf16",       "token",      "c128",   "f8e5m2", "f8e4m3fn", "s4",     "u4",     "f8e4m3b11fnuz",
    "f8e5m2fnuz", "f8e4m3fnuz", "s2",     "u2",     "f8e4m3",   "f8e3m4", "s1",     "u1",
    "f4e2m1fn",   "f8e8m0fnu",  "buffer",
};
enum { TYPE_TUPLE = 13, NUMBERS_MAX = 64 };

struct numbers { /* of one repeated field */
    uint64_t items[NUMBERS_MAX];
    uint32_t count;
};

static void add_numbers(struct numbers *numbers, const struct pb_field *field)
{
    struct error err = {0};
    struct pb packed = pb_open(field->bytes, &err);
    uint64_t number = field->varint;

    if (field->wire == PB_VARINT && numbers->count < NUMBERS_MAX)
        numbers->items[numbers->count++] = number;
    while (field->wire == PB_BYTES && numbers->count < NUMBERS_MAX &&
           hlo_next_number(&packed, &number))
        numbers->items[numbers->count++] = number;
}

static void put_numbers(struct text *out, const struct numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        text_putf(out, "%s%" PRId64, i > 0 ? "," : "", (int64_t)numbers->items[i]);
}

static void put_tile(struct text *out, struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct numbers sizes = {0};

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == 1)
            add_numbers(&sizes, &field);
    text_puts(out, "(");
    put_numbers(out, &sizes);
    text_puts(out, ")");
}

/* The part behind the colon. */
static void put_placement(struct text *out, struct bytes layout)
{
    struct error err = {0};
    struct pb pb = pb_open(layout, &err);
    uint64_t bits = 0, space = 0;
    bool any = false;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 6 && field.wire == PB_BYTES) {
            text_puts(out, any ? "" : ":T");
            put_tile(out, field.bytes);
            any = true;
        } else if (field.number == 7 && field.wire == PB_VARINT) {
            bits = field.varint;
        } else if (field.number == 8 && field.wire == PB_VARINT) {
            space = field.varint;
        }
    }
    if (bits != 0)
        text_putf(out, "%sE(%" PRIu64 ")", any ? "" : ":", bits);
    if (space != 0)
        text_putf(out, "%sS(%" PRIu64 ")", any || bits != 0 ? "" : ":", space);
}

static void put_layout(struct text *out, struct bytes layout)
{
    struct error err = {0};
    struct pb pb = pb_open(layout, &err);
    struct numbers order = {0};

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == 1)
            add_numbers(&order, &field);
    if (order.count == 0)
        return;
    text_puts(out, "{");
    put_numbers(out, &order);
    put_placement(out, layout);
    text_puts(out, "}");
}

static void put_tuple(struct text *out, struct bytes message, bool with_layout, unsigned depth)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    uint32_t count = 0;

    text_puts(out, "(");
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != 4 || field.wire != PB_BYTES)
            continue;
        if (count > 0)
            text_puts(out, ", ");
        if (count > 0 && count % 5 == 0)
            text_putf(out, "/*index=%u*/", count);
        count++;
        if (depth < HLO_DEPTH_MAX)
            hlo_print_shape(out, field.bytes, with_layout, depth + 1);
        else
            text_puts(out, "...");
    }
    text_puts(out, ")");
}

static void put_array(struct text *out, uint64_t type, const struct numbers *sizes,
                      const struct numbers *less)
{
    if (type < COUNT(element_types) && element_types[type][0] != '\0')
        text_puts(out, element_types[type]);
    else
        text_putf(out, "type%" PRIu64, type);
    text_puts(out, "[");
    for (uint32_t i = 0; i < sizes->count; i++)
        text_putf(out, "%s%s%" PRId64, i > 0 ? "," : "",
                  i < less->count && less->items[i] != 0 ? "<=" : "", (int64_t)sizes->items[i]);
    text_puts(out, "]");
}

void hlo_print_shape(struct text *out, struct bytes message, bool with_layout, unsigned depth)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct numbers sizes = {0}, less = {0};
    struct bytes layout = {0};
    uint64_t type = 0;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 2 && field.wire == PB_VARINT)
            type = field.varint;
        else if (field.number == 3)
            add_numbers(&sizes, &field);
        else if (field.number == 5 && field.wire == PB_BYTES)
            layout = field.bytes;
        else if (field.number == 6)
            add_numbers(&less, &field);
    }
    if (type == TYPE_TUPLE) {
        put_tuple(out, message, with_layout, depth);
        return;
    }
    put_array(out, type, &sizes, &less);
    if (with_layout)
        put_layout(out, layout);
}
