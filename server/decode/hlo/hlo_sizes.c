/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a shape's type, sizes and layout from a proto or a text. Facts: xla/xla_data.proto. */
#include "decode/hlo/hlo_sizes.h"

#include "decode/hlo/hlo_module_parts.h"

/* Shape 2 type  3 sizes*  4 parts*  5 layout { 7 element's bits  8 memory space } */
enum { SPACE_HOST = 5 };
enum {
    SHAPE_TYPE = 2,
    SHAPE_SIZES = 3,
    SHAPE_PARTS = 4,
    SHAPE_LAYOUT = 5,
    LAYOUT_BITS = 7,
    LAYOUT_SPACE = 8
};

static const struct {
    const char *word;
    uint8_t bits;
} types[HLO_TYPE_COUNT] = {
    [HLO_PRED] = {"pred", 8},
    [HLO_S8] = {"s8", 8},
    [HLO_S16] = {"s16", 16},
    [HLO_S32] = {"s32", 32},
    [HLO_S64] = {"s64", 64},
    [HLO_U8] = {"u8", 8},
    [HLO_U16] = {"u16", 16},
    [HLO_U32] = {"u32", 32},
    [HLO_U64] = {"u64", 64},
    [HLO_F16] = {"f16", 16},
    [HLO_F32] = {"f32", 32},
    [HLO_F64] = {"f64", 64},
    [HLO_OPAQUE] = {"opaque", 0},
    [HLO_C64] = {"c64", 64},
    [HLO_BF16] = {"bf16", 16},
    [HLO_TOKEN] = {"token", 0},
    [HLO_C128] = {"c128", 128},
    [HLO_F8E5M2] = {"f8e5m2", 8},
    [HLO_F8E4M3FN] = {"f8e4m3fn", 8},
    [HLO_S4] = {"s4", 8},
    [HLO_U4] = {"u4", 8},
    [HLO_F8E4M3B11FNUZ] = {"f8e4m3b11fnuz", 8},
    [HLO_F8E5M2FNUZ] = {"f8e5m2fnuz", 8},
    [HLO_F8E4M3FNUZ] = {"f8e4m3fnuz", 8},
    [HLO_S2] = {"s2", 8},
    [HLO_U2] = {"u2", 8},
    [HLO_F8E4M3] = {"f8e4m3", 8},
    [HLO_F8E3M4] = {"f8e3m4", 8},
    [HLO_S1] = {"s1", 8},
    [HLO_U1] = {"u1", 8},
    [HLO_F4E2M1FN] = {"f4e2m1fn", 8},
    [HLO_F8E8M0FNU] = {"f8e8m0fnu", 8},
    [HLO_BUFFER] = {"buffer", 0},
};

const char *hlo_type_word(enum hlo_type type)
{
    return (unsigned)type < HLO_TYPE_COUNT && types[type].word != NULL ? types[type].word : "";
}

enum hlo_type hlo_type_of(struct str word)
{
    for (int i = 1; i < HLO_TYPE_COUNT; i++)
        if (types[i].word != NULL && str_equal(word, str_of(types[i].word)))
            return (enum hlo_type)i;
    return HLO_TYPE_NONE;
}

static void add_size(struct hlo_sizes *ret, uint64_t size)
{
    /* A size below zero says that it is not known. */
    if ((int64_t)size < 0)
        size = 0;
    if (ret->rank < HLO_RANK_MAX)
        ret->sizes[ret->rank++] = size;
    ret->elements *= (double)size;
}

static void end_array(struct hlo_sizes *ret, uint64_t layout_bits)
{
    unsigned bits = (unsigned)ret->type < HLO_TYPE_COUNT ? types[ret->type].bits : 0;

    if (layout_bits > 0 && layout_bits < bits)
        bits = (unsigned)layout_bits;
    if (bits == 0)
        ret->elements = 0;
    ret->leaf_count = bits > 0;
    ret->bytes = ret->elements * bits / 8;
    ret->host_bytes = ret->space == SPACE_HOST ? ret->bytes : 0;
}

static void add_part(struct hlo_sizes *ret, const struct hlo_sizes *part)
{
    ret->part_count++;
    ret->leaf_count += part->leaf_count;
    ret->elements += part->elements;
    ret->bytes += part->bytes;
    ret->host_bytes += part->host_bytes;
}

static void read_proto(struct bytes shape, unsigned depth, struct hlo_sizes *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(shape, &err);
    uint64_t bits = 0;

    *ret = (struct hlo_sizes){.elements = 1};
    ret->type = (enum hlo_type)hlo_number_in(shape, SHAPE_TYPE, 0);
    if (ret->type == HLO_TUPLE)
        ret->elements = 0;
    for (struct pb_field field; pb_next(&pb, &field);) {
        struct pb packed = pb_open(field.bytes, &err);
        uint64_t size;

        if (field.number == SHAPE_SIZES && field.wire == PB_VARINT)
            add_size(ret, field.varint);
        while (field.number == SHAPE_SIZES && field.wire == PB_BYTES &&
               hlo_next_number(&packed, &size))
            add_size(ret, size);
        if (field.number == SHAPE_LAYOUT && field.wire == PB_BYTES) {
            bits = hlo_number_in(field.bytes, LAYOUT_BITS, 0);
            ret->space = (uint32_t)hlo_number_in(field.bytes, LAYOUT_SPACE, 0);
        }
        if (field.number == SHAPE_PARTS && field.wire == PB_BYTES && depth < HLO_DEPTH_MAX &&
            ret->type == HLO_TUPLE) {
            struct hlo_sizes part;

            read_proto(field.bytes, depth + 1, &part);
            add_part(ret, &part);
        }
    }
    if (ret->type != HLO_TUPLE)
        end_array(ret, bits);
}

/* The number behind `mark`, as in "E(4)" and "S(1)". */
static uint64_t marked(struct str layout, char mark)
{
    uint64_t number = 0;

    for (size_t i = 0; i + 2 < layout.count; i++) {
        if (layout.at[i] != mark || layout.at[i + 1] != '(')
            continue;
        for (size_t k = i + 2; k < layout.count && layout.at[k] >= '0' && layout.at[k] <= '9'; k++)
            number = number < UINT32_MAX ? number * 10 + (uint64_t)(layout.at[k] - '0') : number;
        break;
    }
    return number;
}

static struct str part_of(struct str *inside)
{
    struct str part = hlo_take_to(inside, ",");

    /* XLA counts parts of long tuples in comments. */
    part = hlo_trimmed(part);
    if (str_starts(part, STR("/*")))
        for (size_t i = 2; i < part.count; i++)
            if (part.at[i] == '/' && part.at[i - 1] == '*')
                return hlo_trimmed(str_skip(part, i + 1));
    return part;
}

static struct str inside_of(struct str tuple)
{
    size_t end = tuple.count;

    while (end > 0 && tuple.at[end - 1] != ')')
        end--;
    return (struct str){.at = tuple.at + 1, .count = end > 1 ? end - 2 : 0};
}

static void read_text(struct str shape, unsigned depth, struct hlo_sizes *ret)
{
    *ret = (struct hlo_sizes){.elements = 1};
    shape = hlo_trimmed(shape);
    if (shape.count > 0 && shape.at[0] == '(') {
        struct str inside = inside_of(shape);

        ret->type = HLO_TUPLE;
        ret->elements = 0;
        while (inside.count > 0 && depth < HLO_DEPTH_MAX) {
            struct hlo_sizes part;

            read_text(part_of(&inside), depth + 1, &part);
            add_part(ret, &part);
        }
        return;
    }

    struct str rest = shape;
    struct str word = hlo_take_to(&rest, "[");

    ret->type = hlo_type_of(word);
    for (struct str sizes = hlo_take_to(&rest, "]"); sizes.count > 0;) {
        struct str size = hlo_trimmed(hlo_take_to(&sizes, ","));
        uint64_t number;

        if (str_starts(size, STR("<=")))
            size = str_skip(size, 2);
        add_size(ret, str_to_u64(size, &number) ? number : 0);
    }
    ret->space = (uint32_t)marked(rest, 'S');
    end_array(ret, marked(rest, 'E'));
}

static struct str text_of(struct bytes shape)
{
    return (struct str){.at = (const char *)shape.at, .count = shape.count};
}

void hlo_sizes_read(enum program_form form, struct bytes shape, struct hlo_sizes *ret)
{
    if (form == PROGRAM_TEXT)
        read_text(text_of(shape), 0, ret);
    else
        read_proto(shape, 0, ret);
}

static struct bytes text_part(struct str shape, uint32_t part)
{
    shape = hlo_trimmed(shape);
    if (shape.count == 0 || shape.at[0] != '(')
        return (struct bytes){0};
    for (struct str inside = inside_of(shape); inside.count > 0; part--) {
        struct str found = part_of(&inside);

        if (part == 0)
            return (struct bytes){.at = (const uint8_t *)found.at, .count = found.count};
    }
    return (struct bytes){0};
}

struct bytes hlo_shape_part(enum program_form form, struct bytes shape, uint32_t part)
{
    struct error err = {0};
    struct pb pb = pb_open(shape, &err);

    if (form == PROGRAM_TEXT)
        return text_part(text_of(shape), part);
    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == SHAPE_PARTS && field.wire == PB_BYTES && part-- == 0)
            return field.bytes;
    return (struct bytes){0};
}
