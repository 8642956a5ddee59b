/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an instruction's dimension numbers, window and precision. Facts: hlo.proto and XLA's
 * printer of HLO text. */
#include "decode/hlo/hlo_detail.h"

#include "decode/hlo/hlo_module_parts.h"

enum { PRECISION_HIGHEST = 2 };

static void add_number(struct hlo_list *list, uint64_t number)
{
    if (list->count < HLO_RANK_MAX)
        list->items[list->count++] = number;
}

static void add_numbers(struct hlo_list *list, const struct pb_field *field)
{
    struct error err = {0};
    struct pb packed = pb_open(field->bytes, &err);
    uint64_t number;

    if (field->wire == PB_VARINT)
        add_number(list, field->varint);
    while (field->wire == PB_BYTES && hlo_next_number(&packed, &number))
        add_number(list, number);
}

static void read_dot(struct bytes message, struct hlo_detail *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    ret->has_dot = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            add_numbers(&ret->lhs_contracting, &field);
        else if (field.number == 3)
            add_numbers(&ret->lhs_batch, &field);
    }
}

static void read_dimensions(struct bytes message, struct hlo_detail *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    ret->has_convolution = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        switch (field.number) {
        case 3:
            ret->kernel.feature = field.varint;
            break;
        case 4:
            ret->kernel.batch = field.varint;
            break;
        case 6:
            add_numbers(&ret->kernel.spatial, &field);
            break;
        case 7:
            ret->input.batch = field.varint;
            break;
        case 8:
            ret->input.feature = field.varint;
            break;
        case 9:
            ret->output.batch = field.varint;
            break;
        case 10:
            ret->output.feature = field.varint;
            break;
        case 11:
            add_numbers(&ret->input.spatial, &field);
            break;
        case 12:
            add_numbers(&ret->output.spatial, &field);
            break;
        }
    }
}

static const struct hlo_window_side usual_side = {
    .size = 1, .stride = 1, .dilation = 1, .base_dilation = 1};

static void read_window(struct bytes message, struct hlo_detail *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    ret->has_window = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != 1 || field.wire != PB_BYTES || ret->side_count == HLO_RANK_MAX)
            continue;
        ret->sides[ret->side_count++] = (struct hlo_window_side){
            .size = (int64_t)hlo_number_in(field.bytes, 1, 1),
            .stride = (int64_t)hlo_number_in(field.bytes, 2, 1),
            .pad_low = (int64_t)hlo_number_in(field.bytes, 3, 0),
            .pad_high = (int64_t)hlo_number_in(field.bytes, 4, 0),
            .dilation = (int64_t)hlo_number_in(field.bytes, 5, 1),
            .base_dilation = (int64_t)hlo_number_in(field.bytes, 6, 1),
        };
    }
}

static void read_precision(struct bytes message, struct hlo_detail *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct hlo_list of_operands = {0};

        if (field.number == 1)
            add_numbers(&of_operands, &field);
        for (uint32_t i = 0; i < of_operands.count; i++)
            ret->is_highest_precision |= of_operands.items[i] == PRECISION_HIGHEST;
    }
}

static void read_number(const struct pb_field *field, struct hlo_detail *ret)
{
    switch (field->number) {
    case 9:
        ret->parameter = field->varint;
        break;
    case 13:
        ret->tuple_part = field->varint;
        break;
    case 32:
        add_numbers(&ret->transform_lengths, field);
        break;
    case 50:
        ret->feature_groups = field->varint;
        break;
    case 61:
        ret->batch_groups = field->varint;
        break;
    }
}

static void read_proto(struct bytes message, struct hlo_detail *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire == PB_VARINT)
            read_number(&field, ret);
        if (field.wire != PB_BYTES)
            continue;
        switch (field.number) {
        case 15:
            read_window(field.bytes, ret);
            break;
        case 16:
            read_dimensions(field.bytes, ret);
            break;
        case 30:
            read_dot(field.bytes, ret);
            break;
        case 32:
            add_numbers(&ret->transform_lengths, &field);
            break;
        case 43:
            ret->backend_config = pb_text(&field);
            break;
        case 51:
            read_precision(field.bytes, ret);
            break;
        case 63:
            ret->direction = pb_text(&field);
            break;
        }
    }
}

static int64_t integer_of(struct str text, int64_t otherwise)
{
    int64_t number;

    return str_to_i64(hlo_trimmed(text), &number) ? number : otherwise;
}

static struct hlo_list list_of(struct str braced)
{
    struct hlo_list list = {0};

    for (struct str rest = hlo_inside(hlo_trimmed(braced)); rest.count > 0;)
        add_number(&list, (uint64_t)integer_of(hlo_take_to(&rest, ","), 0));
    return list;
}

/* "3x3" or "1_1x0_2": the side's number or pair. */
static void read_sides(struct str key, struct str value, struct hlo_detail *ret)
{
    for (uint32_t i = 0; value.count > 0 && i < HLO_RANK_MAX; i++) {
        struct str high = hlo_take_to(&value, "x");
        struct str low = hlo_take_to(&high, "_");
        struct hlo_window_side *side = &ret->sides[i];

        if (i == ret->side_count)
            ret->sides[ret->side_count++] = usual_side;
        if (str_equal(key, STR("size")))
            side->size = integer_of(low, 1);
        else if (str_equal(key, STR("stride")))
            side->stride = integer_of(low, 1);
        else if (str_equal(key, STR("lhs_dilate")))
            side->base_dilation = integer_of(low, 1);
        else if (str_equal(key, STR("rhs_dilate")))
            side->dilation = integer_of(low, 1);
        else if (str_equal(key, STR("pad"))) {
            side->pad_low = integer_of(low, 0);
            side->pad_high = integer_of(high, 0);
        }
    }
}

static void read_text_window(struct str inside, struct hlo_detail *ret)
{
    ret->has_window = true;
    while (inside.count > 0) {
        struct str value = hlo_take_to(&inside, " ");
        struct str key = hlo_take_to(&value, "=");

        read_sides(key, value, ret);
    }
}

/* "b01f": which dimension is batch, feature, spatial. A kernel's letters are o and i. */
static void read_label(struct str label, char batch, char feature, struct hlo_layout_of_array *ret)
{
    for (size_t i = 0; i < label.count; i++) {
        if (label.at[i] == batch)
            ret->batch = i;
        else if (label.at[i] == feature)
            ret->feature = i;
        else if (label.at[i] >= '0' && label.at[i] <= '9' && label.at[i] - '0' < HLO_RANK_MAX) {
            uint32_t side = (uint32_t)(label.at[i] - '0');

            ret->spatial.items[side] = i;
            if (side >= ret->spatial.count)
                ret->spatial.count = side + 1;
        }
    }
}

static void read_labels(struct str labels, struct hlo_detail *ret)
{
    struct str input = hlo_take_to(&labels, "_");
    struct str kernel = hlo_take_to(&labels, "-");

    ret->has_convolution = true;
    read_label(input, 'b', 'f', &ret->input);
    read_label(kernel, 'o', 'i', &ret->kernel);
    read_label(str_starts(labels, STR(">")) ? str_skip(labels, 1) : labels, 'b', 'f', &ret->output);
}

static void read_attribute(struct str key, struct str value, struct hlo_detail *ret)
{
    if (str_equal(key, STR("lhs_contracting_dims"))) {
        ret->has_dot = true;
        ret->lhs_contracting = list_of(value);
    } else if (str_equal(key, STR("lhs_batch_dims"))) {
        ret->lhs_batch = list_of(value);
    } else if (str_equal(key, STR("window"))) {
        read_text_window(hlo_inside(value), ret);
    } else if (str_equal(key, STR("dim_labels"))) {
        read_labels(value, ret);
    } else if (str_equal(key, STR("feature_group_count"))) {
        ret->feature_groups = (uint64_t)integer_of(value, 1);
    } else if (str_equal(key, STR("batch_group_count"))) {
        ret->batch_groups = (uint64_t)integer_of(value, 1);
    } else if (str_equal(key, STR("index"))) {
        ret->tuple_part = (uint64_t)integer_of(value, 0);
    } else if (str_equal(key, STR("fft_length"))) {
        ret->transform_lengths = list_of(value);
    } else if (str_equal(key, STR("operand_precision"))) {
        ret->is_highest_precision = str_contains(value, STR("highest"));
    } else if (str_equal(key, STR("backend_config"))) {
        ret->backend_config = hlo_unquoted(value);
    } else if (str_equal(key, STR("direction"))) {
        ret->direction = value;
    }
}

/* %name = shape opcode(operands), key=value, ... */
static void read_text(const struct hlo_instruction *instruction, struct hlo_detail *ret)
{
    struct str rest = {.at = (const char *)instruction->source.at,
                       .count = instruction->source.count};
    size_t shape_end = (size_t)(instruction->opcode.at - rest.at);

    if (instruction->opcode.at < rest.at || shape_end > rest.count)
        return;
    rest = str_skip(rest, shape_end);

    struct str head = hlo_take_to(&rest, ",");

    if (str_equal(instruction->opcode, STR("parameter")))
        ret->parameter = (uint64_t)integer_of(
            hlo_inside(hlo_trimmed(str_skip(head, instruction->opcode.count))), 0);
    while (rest.count > 0) {
        struct str value = hlo_trimmed(hlo_take_to(&rest, ","));
        struct str key = hlo_take_to(&value, "=");

        read_attribute(key, value, ret);
    }
}

void hlo_detail_read(const struct hlo_module *module, const struct hlo_instruction *instruction,
                     struct hlo_detail *ret)
{
    *ret = (struct hlo_detail){.feature_groups = 1, .batch_groups = 1};
    if (module->form == PROGRAM_TEXT)
        read_text(instruction, ret);
    else
        read_proto(instruction->source, ret);
    if (ret->feature_groups == 0 || ret->feature_groups > INT32_MAX)
        ret->feature_groups = 1;
    if (ret->batch_groups == 0 || ret->batch_groups > INT32_MAX)
        ret->batch_groups = 1;
}
