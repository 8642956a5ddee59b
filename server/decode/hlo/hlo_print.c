/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a proto as XLA prints them.
 *
 *   %fusion.3 = f32[8]{0} fusion(%p.1, %p.2), kind=kLoop, calls=%fused, metadata={op_name="..."}
 *
 * Attributes are printed for what a reader of a profile asks about; the proto keeps the rest.
 *
 *   Instruction  9 parameter  13 tuple index  14 dimensions*  15 window  17 slices*  26 channel
 *                30 dot's dimensions  37 runs after*  40 sharding  43 backend config  49 groups*
 *                52 pairs*  63 direction  71 global ids  87, 92, 93 device list
 */
#include "decode/hlo/hlo_module_parts.h"

#include <inttypes.h>

struct pen {
    struct text *out;
    const struct hlo_module *module;
    const struct hlo_instruction *instruction;
};

static void put_str(struct text *out, struct str text)
{
    text_put(out, text.at, text.count);
}

static void put_quoted(struct text *out, const char *key, struct str text)
{
    text_putf(out, "%s\"", key);
    for (size_t i = 0; i < text.count; i++) {
        if (text.at[i] == '"' || text.at[i] == '\\')
            text_puts(out, "\\");
        text_put(out, &text.at[i], 1);
    }
    text_puts(out, "\"");
}

static void put_name(struct text *out, struct str name)
{
    text_puts(out, "%");
    put_str(out, name);
}

/* The attributes of small numbers. */
static void put_number_attribute(const struct pen *pen, const struct pb_field *field)
{
    switch (field->number) {
    case 13:
        if (str_equal(pen->instruction->opcode, STR("get-tuple-element")))
            text_putf(pen->out, ", index=%" PRId64, (int64_t)field->varint);
        break;
    case 26:
        text_putf(pen->out, ", channel_id=%" PRId64, (int64_t)field->varint);
        break;
    case 71:
        if (field->varint != 0)
            text_puts(pen->out, ", use_global_device_ids=true");
        break;
    }
}

static void put_attribute(const struct pen *pen, const struct pb_field *field)
{
    struct text *out = pen->out;

    if (field->wire == PB_VARINT)
        put_number_attribute(pen, field);
    if (field->wire != PB_BYTES || field->bytes.count == 0)
        return;
    switch (field->number) {
    case 15:
        hlo_print_window(out, field->bytes);
        break;
    case 30:
        hlo_print_dot(out, field->bytes);
        break;
    case 63:
        text_puts(out, ", direction=");
        put_str(out, pb_text(field));
        break;
    case 87:
        hlo_print_device_list(out, field->bytes, 0);
        break;
    }
}

static const char *call_key(const struct hlo_instruction *instruction, uint32_t index)
{
    struct str opcode = instruction->opcode;

    if (str_equal(opcode, STR("while")))
        return index == 0 ? ", body=" : ", condition=";
    if (str_equal(opcode, STR("conditional")))
        return index == 0 ? ", branch_computations={" : ", ";
    if (str_equal(opcode, STR("fusion")) || str_starts(opcode, STR("async-")))
        return ", calls=";
    if (str_equal(opcode, STR("custom-call")))
        return index == 0 ? ", called_computations={" : ", ";
    if (str_equal(opcode, STR("select-and-scatter")))
        return index == 0 ? ", select=" : ", scatter=";
    return ", to_apply=";
}

static void put_calls(const struct pen *pen)
{
    const struct hlo_instruction *instruction = pen->instruction;
    bool is_list = false;

    for (uint32_t i = 0; i < instruction->called_count; i++) {
        uint32_t called = pen->module->called[instruction->first_called + i];
        const char *key = call_key(instruction, i);
        is_list |= strchr(key, '{') != NULL;
        text_puts(pen->out, key);
        put_name(pen->out, called == HLO_NONE ? STR("?") : pen->module->computations[called].name);
    }
    if (is_list)
        text_puts(pen->out, "}");
}

static void put_metadata(const struct pen *pen)
{
    const struct hlo_instruction *instruction = pen->instruction;
    struct text *out = pen->out;
    const char *between = "";

    if (instruction->op_type.count + instruction->scope.count + instruction->file.count == 0)
        return;
    text_puts(out, ", metadata={");
    if (instruction->op_type.count > 0) {
        put_quoted(out, "op_type=", instruction->op_type);
        between = " ";
    }
    if (instruction->scope.count > 0) {
        text_puts(out, between);
        put_quoted(out, "op_name=", instruction->scope);
        between = " ";
    }
    if (instruction->file.count > 0) {
        text_puts(out, between);
        put_quoted(out, "source_file=", instruction->file);
    }
    if (instruction->source_line > 0)
        text_putf(out, " source_line=%" PRIu64, instruction->source_line);
    text_puts(out, "}");
}

/* What stands behind everything else. */
static void put_last(const struct pen *pen)
{
    struct error err = {0};
    struct pb_field field;

    for (struct pb pb = pb_open(pen->instruction->source, &err); pb_next(&pb, &field);)
        if (field.number == 40 && field.wire == PB_BYTES) {
            text_puts(pen->out, ", sharding=");
            hlo_print_sharding(pen->out, field.bytes, 0);
        }
    put_metadata(pen);
    for (struct pb pb = pb_open(pen->instruction->source, &err); pb_next(&pb, &field);)
        if (field.number == 43 && field.wire == PB_BYTES && field.bytes.count > 0) {
            text_puts(pen->out, ", backend_config=");
            put_str(pen->out, pb_text(&field));
        }
}

static void put_operands(const struct pen *pen)
{
    const struct hlo_instruction *instruction = pen->instruction;
    struct error err = {0};
    struct pb pb = pb_open(instruction->source, &err);
    bool is_parameter = str_equal(instruction->opcode, STR("parameter"));

    if (is_parameter)
        text_putf(pen->out, "%" PRIu64, hlo_number_in(instruction->source, 9, 0));
    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == 8 && field.wire == PB_BYTES)
            hlo_print_literal(pen->out, field.bytes);
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        uint32_t operand = pen->module->operands[instruction->first_operand + i];
        text_puts(pen->out, i > 0 ? ", " : "");
        put_name(pen->out,
                 operand == HLO_NONE ? STR("?") : pen->module->instructions[operand].name);
    }
}

void hlo_print_instruction(struct text *out, const struct hlo_module *module, uint32_t instruction)
{
    const struct pen pen = {
        .out = out, .module = module, .instruction = &module->instructions[instruction]};
    struct error err = {0};
    struct pb pb = pb_open(pen.instruction->source, &err);

    put_name(out, pen.instruction->name);
    text_puts(out, " = ");
    hlo_print_shape(out, pen.instruction->shape, true, 0);
    text_puts(out, " ");
    put_str(out, pen.instruction->opcode);
    text_puts(out, "(");
    put_operands(&pen);
    text_puts(out, ")");
    if (hlo_has_field(pen.instruction->source, 14)) {
        text_puts(out, ", dimensions={");
        hlo_print_list(out, pen.instruction->source, 14);
        text_puts(out, "}");
    }
    hlo_print_slices(out, pen.instruction->source);
    for (struct pb_field field; pb_next(&pb, &field);)
        put_attribute(&pen, &field);
    hlo_print_groups(out, pen.instruction->source);
    hlo_print_partners(out, pen.instruction->source);
    if (pen.instruction->fusion_kind.count > 0) {
        text_puts(out, ", kind=");
        put_str(out, pen.instruction->fusion_kind);
    }
    if (pen.instruction->target.count > 0)
        put_quoted(out, ", custom_call_target=", pen.instruction->target);
    put_calls(&pen);
    put_last(&pen);
}

/* ProgramShape: 1 parameters*  2 result  3 parameters' names* */
void hlo_print_computation(struct text *out, const struct hlo_module *module, uint32_t computation)
{
    const struct hlo_computation *shown = &module->computations[computation];
    struct error err = {0};
    struct pb shapes = pb_open(shown->head, &err), names = shapes;
    struct pb_field field, name;
    struct bytes result = {0};
    bool any = false, more = true;

    text_puts(out, shown->is_entry ? "ENTRY " : "");
    put_name(out, shown->name);
    text_puts(out, " (");
    while (pb_next(&shapes, &field)) {
        if (field.number == 2 && field.wire == PB_BYTES)
            result = field.bytes;
        if (field.number != 1 || field.wire != PB_BYTES)
            continue;
        text_puts(out, any ? ", " : "");
        any = true;
        while (more && (more = pb_next(&names, &name)) &&
               (name.number != 3 || name.wire != PB_BYTES))
            ;
        if (more) {
            put_str(out, pb_text(&name));
            text_puts(out, ": ");
        }
        hlo_print_shape(out, field.bytes, false, 0);
    }
    text_puts(out, ") -> ");
    hlo_print_shape(out, result, false, 0);
    text_puts(out, " {");
}
