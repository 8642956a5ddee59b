/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of instructions that are messages of their own, as XLA prints them.
 *
 *   Slice        1 start  2 limit  3 stride
 *   Window       1 { 1 size  2 stride  3 low  4 high  5 dilation  6 base dilation }*
 *   DotNumbers   1 lhs contracting*  2 rhs contracting*  3 lhs batch*  4 rhs batch*
 *   Group        1 ids*
 *   DeviceList   1 groups*  2 { 1 groups  2 a group's devices  3 of sizes*  4 permuted* }
 *   Pair         1 source  2 target
 *   Mesh         1 { 1 axis' name  2 size }*  2 devices*  3 { 1 of sizes*  2 permuted* }
 *   AlongMesh    1 mesh  2 { 1 axis  2 { 1 before it  2 its size } }*
 *   Sharding     1 type  3 tile sizes*  4 devices*  5 of a tuple*  6 last is replicated
 *                9 of sizes*  10 permuted*
 */
#include "decode/hlo/hlo_module_parts.h"

#include <inttypes.h>

/* The numbers of all fields `number` of a message: "1,0". */
void hlo_print_list(struct text *out, struct bytes message, uint32_t number)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    const char *comma = "";
    uint64_t value;

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct pb packed = pb_open(field.bytes, &err);
        if (field.number != number)
            continue;
        if (field.wire == PB_VARINT) {
            text_putf(out, "%s%" PRId64, comma, (int64_t)field.varint);
            comma = ",";
        }
        while (field.wire == PB_BYTES && hlo_next_number(&packed, &value)) {
            text_putf(out, "%s%" PRId64, comma, (int64_t)value);
            comma = ",";
        }
    }
}

bool hlo_has_field(struct bytes message, uint32_t number)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == number)
            return true;
    return false;
}

uint64_t hlo_number_in(struct bytes message, uint32_t number, uint64_t otherwise)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == number && field.wire == PB_VARINT)
            otherwise = field.varint;
    return otherwise;
}

typedef void put_part(struct text *out, struct bytes message, unsigned depth);

/* ", key={part,part}" of the messages in field `number`. */
static void put_parts(struct text *out, struct bytes message, uint32_t number, const char *open,
                      put_part *put, unsigned depth)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    bool any = false;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != number || field.wire != PB_BYTES)
            continue;
        text_puts(out, any ? "," : open);
        put(out, field.bytes, depth);
        any = true;
    }
    if (any)
        text_puts(out, "}");
}

static void put_slice(struct text *out, struct bytes message, unsigned depth)
{
    uint64_t stride = hlo_number_in(message, 3, 1);

    (void)depth;
    text_putf(out, "[%" PRId64 ":%" PRId64, (int64_t)hlo_number_in(message, 1, 0),
              (int64_t)hlo_number_in(message, 2, 0));
    if (stride != 1)
        text_putf(out, ":%" PRId64, (int64_t)stride);
    text_puts(out, "]");
}

static void put_group(struct text *out, struct bytes message, unsigned depth)
{
    (void)depth;
    text_puts(out, "{");
    hlo_print_list(out, message, 1);
    text_puts(out, "}");
}

void hlo_print_slices(struct text *out, struct bytes instruction)
{
    put_parts(out, instruction, 17, ", slice={", put_slice, 0);
}

void hlo_print_groups(struct text *out, struct bytes instruction)
{
    put_parts(out, instruction, 49, ", replica_groups={", put_group, 0);
}

/* "size=3x3 stride=2x2 pad=1_1x1_1": parts that are all as usual are left out. */
void hlo_print_window(struct text *out, struct bytes message)
{
    static const struct {
        const char *key;
        uint32_t number;
        uint64_t usual;
    } parts[] = {{" stride=", 2, 1}, {" lhs_dilate=", 6, 1}, {" rhs_dilate=", 5, 1}};
    struct error err = {0};
    struct pb_field field;

    text_puts(out, ", window={size=");
    const char *between = "";
    for (struct pb pb = pb_open(message, &err); pb_next(&pb, &field);)
        if (field.number == 1 && field.wire == PB_BYTES) {
            text_putf(out, "%s%" PRId64, between, (int64_t)hlo_number_in(field.bytes, 1, 0));
            between = "x";
        }
    for (size_t i = 0; i < COUNT(parts); i++) {
        bool is_usual = true;
        for (struct pb pb = pb_open(message, &err); pb_next(&pb, &field);)
            if (field.number == 1 && field.wire == PB_BYTES)
                is_usual &=
                    hlo_number_in(field.bytes, parts[i].number, parts[i].usual) == parts[i].usual;
        between = parts[i].key;
        for (struct pb pb = pb_open(message, &err); !is_usual && pb_next(&pb, &field);)
            if (field.number == 1 && field.wire == PB_BYTES) {
                text_putf(out, "%s%" PRId64, between,
                          (int64_t)hlo_number_in(field.bytes, parts[i].number, parts[i].usual));
                between = "x";
            }
    }
    between = " pad=";
    for (struct pb pb = pb_open(message, &err); pb_next(&pb, &field);)
        if (field.number == 1 && field.wire == PB_BYTES &&
            (hlo_has_field(field.bytes, 3) || hlo_has_field(field.bytes, 4) || between[0] == 'x')) {
            text_putf(out, "%s%" PRId64 "_%" PRId64, between,
                      (int64_t)hlo_number_in(field.bytes, 3, 0),
                      (int64_t)hlo_number_in(field.bytes, 4, 0));
            between = "x";
        }
    text_puts(out, "}");
}

void hlo_print_dot(struct text *out, struct bytes message)
{
    static const struct {
        const char *key;
        uint32_t number;
    } parts[] = {{", lhs_batch_dims={", 3},
                 {", lhs_contracting_dims={", 1},
                 {", rhs_batch_dims={", 4},
                 {", rhs_contracting_dims={", 2}};

    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!hlo_has_field(message, parts[i].number))
            continue;
        text_puts(out, parts[i].key);
        hlo_print_list(out, message, parts[i].number);
        text_puts(out, "}");
    }
}

/* Does the list say 0, 1, 2, ...? */
static bool is_in_order(struct bytes message, uint32_t number)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    uint64_t expected = 0, value;

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct pb packed = pb_open(field.bytes, &err);
        if (field.number != number)
            continue;
        if (field.wire == PB_VARINT && field.varint != expected++)
            return false;
        while (field.wire == PB_BYTES && hlo_next_number(&packed, &value))
            if (value != expected++)
                return false;
    }
    return true;
}

/* "[2,4]<=[8]": groups that follow from sizes and a permutation. */
static void put_iota(struct text *out, struct bytes message, uint32_t sizes, uint32_t permutation)
{
    text_puts(out, "<=[");
    hlo_print_list(out, message, sizes);
    text_puts(out, "]");
    if (!is_in_order(message, permutation)) {
        text_puts(out, "T(");
        hlo_print_list(out, message, permutation);
        text_puts(out, ")");
    }
}

void hlo_print_device_list(struct text *out, struct bytes message, unsigned depth)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    put_parts(out, message, 1, ", replica_groups={", put_group, depth);
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != 2 || field.wire != PB_BYTES)
            continue;
        text_putf(out, ", replica_groups=[%" PRId64 ",%" PRId64 "]",
                  (int64_t)hlo_number_in(field.bytes, 1, 0),
                  (int64_t)hlo_number_in(field.bytes, 2, 0));
        put_iota(out, field.bytes, 3, 4);
    }
}

static void put_pair(struct text *out, struct bytes message, unsigned depth)
{
    (void)depth;
    text_putf(out, "{%" PRId64 ",%" PRId64 "}", (int64_t)hlo_number_in(message, 1, 0),
              (int64_t)hlo_number_in(message, 2, 0));
}

static void put_axis(struct text *out, struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    text_puts(out, "'");
    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == 1 && field.wire == PB_BYTES)
            text_put(out, (const char *)field.bytes.at, field.bytes.count);
    text_putf(out, "'=%" PRId64, (int64_t)hlo_number_in(message, 2, 0));
}

/* The name of a mesh's axis of that number. */
static void put_axis_name(struct text *out, struct bytes mesh, uint64_t number)
{
    struct error err = {0}, inner_err = {0};
    struct pb pb = pb_open(mesh, &err);

    for (struct pb_field field, inner; pb_next(&pb, &field);) {
        if (field.number != 1 || field.wire != PB_BYTES || number-- != 0)
            continue;
        for (struct pb axis = pb_open(field.bytes, &inner_err); pb_next(&axis, &inner);)
            if (inner.number == 1 && inner.wire == PB_BYTES)
                text_put(out, (const char *)inner.bytes.at, inner.bytes.count);
        return;
    }
}

/* "mesh['data'=4,'model'=2], device_ids=([2,4]T(1,0))" */
static void put_mesh(struct text *out, struct bytes mesh)
{
    struct error err = {0};
    struct pb pb = pb_open(mesh, &err);
    struct pb_field field;
    const char *between = "";

    text_puts(out, "mesh[");
    for (struct pb axes = pb; pb_next(&axes, &field);)
        if (field.number == 1 && field.wire == PB_BYTES) {
            text_puts(out, between);
            put_axis(out, field.bytes);
            between = ",";
        }
    text_puts(out, "]");
    if (hlo_has_field(mesh, 2)) {
        text_puts(out, ", device_ids=(");
        hlo_print_list(out, mesh, 2);
        text_puts(out, ")");
    }
    while (pb_next(&pb, &field)) {
        if (field.number != 3 || field.wire != PB_BYTES)
            continue;
        text_puts(out, ", device_ids=([");
        hlo_print_list(out, field.bytes, 1);
        text_puts(out, "]");
        if (!is_in_order(field.bytes, 2)) {
            text_puts(out, "T(");
            hlo_print_list(out, field.bytes, 2);
            text_puts(out, ")");
        }
        text_puts(out, ")");
    }
}

static void put_along_mesh(struct text *out, struct bytes message)
{
    struct error err = {0}, inner_err = {0};
    struct pb pb = pb_open(message, &err);
    struct bytes mesh = {0};
    const char *between = " {";

    text_puts(out, ", replica_groups=");
    for (struct pb_field field, part; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1) {
            mesh = field.bytes;
            put_mesh(out, mesh);
        } else if (field.number == 2) {
            text_putf(out, "%s'", between);
            put_axis_name(out, mesh, hlo_number_in(field.bytes, 1, 0));
            text_puts(out, "'");
            between = ",";
            for (struct pb axis = pb_open(field.bytes, &inner_err); pb_next(&axis, &part);)
                if (part.number == 2 && part.wire == PB_BYTES)
                    text_putf(out, ":(%" PRId64 ")%" PRId64,
                              (int64_t)hlo_number_in(part.bytes, 1, 0),
                              (int64_t)hlo_number_in(part.bytes, 2, 0));
        }
    }
    text_puts(out, between[0] == ',' ? "}" : " {}");
}

void hlo_print_partners(struct text *out, struct bytes instruction)
{
    struct error err = {0};
    struct pb pb = pb_open(instruction, &err);

    put_parts(out, instruction, 52, ", source_target_pairs={", put_pair, 0);
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES || field.bytes.count == 0)
            continue;
        if (field.number == 92) {
            text_putf(out, ", replica_groups=[%" PRId64 ",%" PRId64 "]",
                      (int64_t)hlo_number_in(field.bytes, 1, 0),
                      (int64_t)hlo_number_in(field.bytes, 2, 0));
            put_iota(out, field.bytes, 3, 4);
        } else if (field.number == 93) {
            put_along_mesh(out, field.bytes);
        }
    }
}

void hlo_print_sharding(struct text *out, struct bytes message, unsigned depth)
{
    static const char *const words[] = {"replicated", "maximal", "", "", "manual", "unknown"};
    uint64_t type = hlo_number_in(message, 1, 0);

    if (type == 2 && depth < HLO_DEPTH_MAX) {
        put_parts(out, message, 5, "{", hlo_print_sharding, depth + 1);
        return;
    }
    text_puts(out, "{");
    if (type == 3) {
        text_puts(out, "devices=[");
        hlo_print_list(out, message, 3);
        text_puts(out, "]");
        if (hlo_has_field(message, 9))
            put_iota(out, message, 9, 10);
        else
            hlo_print_list(out, message, 4);
        if (hlo_number_in(message, 6, 0) != 0)
            text_puts(out, " last_tile_dim_replicate");
    } else if (type < COUNT(words)) {
        text_puts(out, words[type]);
        if (type == 1) {
            text_puts(out, " device=");
            hlo_print_list(out, message, 4);
        }
    }
    text_puts(out, "}");
}
