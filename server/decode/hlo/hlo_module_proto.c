/* SPDX-License-Identifier: Apache-2.0 */
/* A module from protobuf: what stands in it first, then who uses and calls whom, since an operand
 * may stand behind its user. */
#include "decode/hlo/hlo.h"
#include "decode/hlo/hlo_module_parts.h"

enum {
    INSTRUCTION_OPERANDS = 36,
    INSTRUCTION_CALLED = 38,
};

static void read_metadata(const struct pb *outer, struct bytes message, struct hlo_instruction *ret)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        bool is_text = field.wire == PB_BYTES;
        if (field.number == 1 && is_text)
            ret->op_type = pb_text(&field);
        else if (field.number == 2 && is_text)
            ret->scope = pb_text(&field);
        else if (field.number == 3 && is_text)
            ret->file = pb_text(&field);
        else if (field.number == 4 && !is_text)
            ret->source_line = field.varint;
        else if (field.number == 15 && !is_text)
            ret->frame = field.varint;
    }
}

static void read_instruction(struct hlo_reader *reader, const struct pb *outer,
                             struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    struct hlo_instruction *added = hlo_add_instruction(reader);

    if (added == NULL)
        return;
    added->source = message;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 35 && field.wire == PB_VARINT)
            added->id = field.varint;
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            added->name = pb_text(&field);
        else if (field.number == 2)
            added->opcode = pb_text(&field);
        else if (field.number == 3)
            added->shape = field.bytes;
        else if (field.number == 7)
            read_metadata(&pb, field.bytes, added);
        else if (field.number == 11)
            added->fusion_kind = pb_text(&field);
        else if (field.number == 28)
            added->target = pb_text(&field);
    }
    reader->module->damaged_count += err.code != OK;
}

static void read_computation(struct hlo_reader *reader, const struct pb *outer,
                             struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    struct hlo_computation *added = hlo_add_computation(reader);
    uint32_t ordinal = module->computation_count - 1;
    uint64_t root = 0;

    for (struct pb_field field; added != NULL && pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_BYTES)
            added->name = pb_text(&field);
        else if (field.number == 2 && field.wire == PB_BYTES)
            read_instruction(reader, &pb, field.bytes);
        else if (field.number == 4 && field.wire == PB_BYTES)
            added->head = field.bytes;
        else if (field.number == 5 && field.wire == PB_VARINT)
            added->id = field.varint;
        else if (field.number == 6 && field.wire == PB_VARINT)
            root = field.varint;
        else if (field.number == 7 && field.wire == PB_VARINT)
            added->is_fused = field.varint != 0;
    }
    module->damaged_count += err.code != OK;
    if (added == NULL)
        return;
    added = &module->computations[ordinal];
    added->count = module->instruction_count - added->first;
    for (uint32_t i = added->first; i < module->instruction_count; i++)
        module->instructions[i].is_root = module->instructions[i].id == root && root != 0;
}

/* Returns the schedule, which names instructions by their ids. */
static struct bytes read_module(struct hlo_reader *reader, struct bytes message)
{
    struct bytes schedule = {0};
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    pb.lenient = true;
    for (struct pb_field field; reader->err->code == OK && pb_next(&pb, &field);) {
        if (field.number == 5 && field.wire == PB_VARINT) {
            module->id = field.varint;
            module->has_id = true;
        }
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            module->name = pb_text(&field);
        else if (field.number == 2)
            module->entry = pb_text(&field);
        else if (field.number == 3)
            read_computation(reader, &pb, field.bytes);
        else if (field.number == 7)
            schedule = field.bytes;
        else if (field.number == 17)
            module->damaged_count +=
                !hlo_frames_read(&module->frames, reader->arena, &pb, field.bytes);
    }
    module->damaged_count += err.code != OK;
    return schedule;
}

static void join(struct hlo_reader *reader, const struct pb_field *field)
{
    struct error err = {0};
    struct pb numbers = pb_open(field->bytes, &err);
    bool is_operand = field->number == INSTRUCTION_OPERANDS, packed = field->wire == PB_BYTES;
    uint64_t id = field->varint;
    uint32_t found;

    for (bool more = !packed || hlo_next_number(&numbers, &id); more && reader->err->code == OK;
         more = packed && hlo_next_number(&numbers, &id)) {
        if (!id_map_find(is_operand ? &reader->ids : &reader->computations, id, &found))
            found = HLO_NONE;
        if (is_operand)
            hlo_add_operand(reader, found);
        else
            hlo_add_called(reader, found);
    }
}

static void join_instruction(struct hlo_reader *reader, uint32_t ordinal)
{
    struct hlo_module *module = reader->module;
    struct hlo_instruction *instruction = &module->instructions[ordinal];
    struct error err = {0};
    struct pb pb = pb_open(instruction->source, &err);
    struct hlo_frame frame;

    instruction->first_operand = module->operand_count;
    instruction->first_called = module->called_count;
    for (struct pb_field field; pb_next(&pb, &field);)
        if ((field.number == INSTRUCTION_OPERANDS || field.number == INSTRUCTION_CALLED) &&
            (field.wire == PB_BYTES || field.wire == PB_VARINT))
            join(reader, &field);
    instruction->operand_count = module->operand_count - instruction->first_operand;
    instruction->called_count = module->called_count - instruction->first_called;
    if (instruction->file.count == 0 &&
        hlo_frame_get(&module->frames, instruction->frame, &frame)) {
        instruction->file = frame.file;
        instruction->source_line = frame.line;
    }
}

/* Where each part stands in the text that is printed of it. */
static void number_lines(struct hlo_module *module)
{
    uint32_t line = 2;

    for (uint32_t i = 0; i < module->computation_count; i++) {
        struct hlo_computation *computation = &module->computations[i];

        computation->is_entry =
            module->entry.count > 0 && str_equal(computation->name, module->entry);
        computation->line = line++;
        for (uint32_t k = 0; k < computation->count; k++)
            module->instructions[computation->first + k].line = line++;
        line += 2; /* "}" and an empty one */
    }
    module->line_count = module->computation_count == 0 ? 1 : line - 1;
}

static void number_parts(struct hlo_reader *reader)
{
    const struct hlo_module *module = reader->module;
    bool is_new;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        id_map_add(&reader->ids, module->instructions[i].id, i, &is_new);
        id_map_add(&reader->names, hlo_name_key(module->instructions[i].name), i, &is_new);
    }
    for (uint32_t i = 0; i < module->computation_count; i++)
        id_map_add(&reader->computations, module->computations[i].id, i, &is_new);
}

void hlo_read_proto(struct hlo_reader *reader)
{
    struct hlo_module *module = reader->module;
    struct hlo_parts parts = hlo_parts_of(module->blob);

    if (parts.module.at == NULL) {
        fail(reader->err, ERR_FORMAT, "the program holds no module");
        return;
    }
    module->damaged_count += parts.is_cut;
    struct bytes schedule = read_module(reader, parts.module);
    number_parts(reader);
    if (schedule.count > 0)
        hlo_read_schedule(reader, schedule);
    for (uint32_t i = 0; i < module->instruction_count && reader->err->code == OK; i++)
        join_instruction(reader, i);
    number_lines(module);
    module->has_buffers = parts.buffers.count > 0;
    if (module->has_buffers)
        hlo_read_buffers(reader, parts.buffers);
}
