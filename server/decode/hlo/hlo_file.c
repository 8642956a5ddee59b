/* SPDX-License-Identifier: Apache-2.0 */
/* Files that hold compiled modules and no timeline, as XLA dumps them or XProf copies them.
 *
 *   hlo-proto   a HloProto, or a HloModuleProto alone: a program with its instructions
 *   hlo-text    "HloModule jit_step, ...": the same, read from its text
 *   xla-dump    any other text of a dump, kept whole as a document of its module: buffer
 *               assignments, memory reports, thunk sequences, MLIR, LLVM IR, PTX, settings
 *
 * Number and stage of a module stand in the file's name (hlo_name.h) and not here: files of equal
 * content share a segment. A name is asked only whether a text without a mark is of a dump at all.
 */
#include <inttypes.h>

#include "decode/decode.h"
#include "decode/foreign.h"
#include "decode/hlo/hlo.h"
#include "decode/hlo/hlo_module.h"
#include "decode/hlo/hlo_name.h"
#include "decode/hlo/hlo_text.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 30)

static bool sniff_text(const struct input *input)
{
    struct bytes start = BYTES("HloModule ");

    return input->head.count >= start.count && memcmp(input->head.at, start.at, start.count) == 0;
}

static bool is_text(struct bytes head)
{
    for (size_t i = 0; i < head.count; i++)
        if (head.at[i] < 0x20 && memchr("\t\n\r\f", head.at[i], 4) == NULL)
            return false;
    return head.count > 0;
}

/* "\n{": a message of 123 bytes, or JSON; only the latter has no control characters. */
static bool sniff_proto(const struct input *input)
{
    return !is_text(input->head) &&
           (shape_fits(input->head, &shape_hlo) || shape_fits(input->head, &shape_hlo_module));
}

static bool sniff_document(const struct input *input)
{
    static const char *const starts[] = {
        "BufferAssignment:", "Total bytes used: ", "; ModuleID = ", "module @"};
    struct str head = {.at = (const char *)input->head.at, .count = input->head.count};

    for (size_t i = 0; i < COUNT(starts); i++)
        if (str_starts(head, str_of(starts[i])))
            return true;
    return is_text(input->head) && hlo_name_of(input->name, STR("")).is_dump;
}

static enum status open_whole(struct input *input, struct sink *sink, const char *format,
                              struct bytes *ret, struct error *err)
{
    bool packing_cut;

    TRY(input_whole(input, ret, &packing_cut, err));
    if (ret->count == 0)
        return fail(err, ERR_TRUNCATED, "the file is empty");
    if (ret->count > FILE_BYTES_MAX)
        return fail(err, ERR_LIMIT,
                    "the file has %zu bytes, more than the limit of %" PRIu64 " for a module",
                    ret->count, FILE_BYTES_MAX);
    sink_format(sink, format);
    sink_no_epoch(sink, STR("a compiled module has no time"));
    if (packing_cut)
        sink_note(sink, "truncated", NOTE_ERROR, 1,
                  "The compressed file is truncated or damaged; the part that could be unpacked is "
                  "shown. Copy it again.");
    return OK;
}

static enum status close_whole(struct sink *sink, struct bytes content, struct error *err)
{
    sink_progress(sink, content.count, content.count);
    if (sink_failed(sink))
        return fail(err, sink_error(sink)->code, "%s", sink_error(sink)->message);
    return OK;
}

static void say_damaged(struct sink *sink, uint64_t count)
{
    sink_note(sink, "corrupt", NOTE_ERROR, count,
              "Parts of the module could not be read and are left out; dump or copy it again if "
              "the original is whole.");
}

struct message_facts { /* of a module's message */
    struct str name;
    uint64_t id;
};

static struct message_facts facts_of(struct bytes module)
{
    struct message_facts facts = {.name = STR("")};
    struct error err = {0};
    struct pb pb = pb_open(module, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_BYTES)
            facts.name = pb_text(&field);
        else if (field.number == 5 && field.wire == PB_VARINT)
            facts.id = field.varint;
    }
    return facts;
}

static enum status decode_proto(struct input *input, struct sink *sink, struct error *err)
{
    struct hlo_index index = {0};
    struct bytes proto;

    TRY(open_whole(input, sink, decode_hlo_proto.name, &proto, err));
    struct hlo_parts parts = hlo_parts_of(proto);
    struct message_facts facts = facts_of(parts.module);
    struct hlo_source source = {
        .id = facts.id,
        .name = facts.name,
        .stage = parts.buffers.count > 0 ? STAGE_AFTER : STAGE_UNKNOWN, /* they come last */
    };
    bool is_whole = hlo_decode(&index, sink, &source, proto);
    hlo_index_free(&index);
    if (parts.module.at == NULL)
        return fail(
            err, ERR_FORMAT,
            "the file holds no HLO module; it was probably truncated while copied: copy it again");
    if (!is_whole)
        say_damaged(sink, 1);
    return close_whole(sink, proto, err);
}

static name_id source_of(struct sink *sink, const struct hlo_instruction *instruction)
{
    if (instruction->file.count == 0 || instruction->file.count > 4096)
        return 0;

    struct text source = {0};
    text_put(&source, instruction->file.at, instruction->file.count);
    if (instruction->source_line > 0)
        text_putf(&source, ":%" PRIu64, instruction->source_line);
    name_id name = sink_name(sink, text_str(&source));
    text_free(&source);
    return name;
}

static void push_instruction(struct sink *sink, program_id program, const struct hlo_module *module,
                             const struct hlo_instruction *instruction)
{
    const struct hlo_text text = {
        .opcode = instruction->opcode,
        .fusion_kind = instruction->fusion_kind,
        .target = instruction->target,
    };

    sink_instruction(
        sink, (struct instruction){
                  .program = program,
                  .name = sink_name(sink, instruction->name),
                  .opcode = sink_name(sink, instruction->opcode),
                  .scope = sink_name(sink, instruction->scope),
                  .op_type = sink_name(sink, instruction->op_type),
                  .source = source_of(sink, instruction),
                  .category = hlo_category(sink, &text,
                                           module->computations[instruction->computation].is_fused),
              });
}

static void push_text(struct sink *sink, const struct hlo_module *module)
{
    struct program_about about = {
        .form = PROGRAM_TEXT,
        .computation_count = module->computation_count,
    };
    program_id program = sink_program(sink, 0, sink_name(sink, module->name),
                                      hlo_module_fingerprint(module), module->blob);

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        about.fusion_count += str_equal(module->instructions[i].opcode, STR("fusion"));
        push_instruction(sink, program, module, &module->instructions[i]);
    }
    sink_program_about(sink, program, about);
}

static enum status decode_text(struct input *input, struct sink *sink, struct error *err)
{
    struct hlo_module module;
    struct bytes content;

    TRY(open_whole(input, sink, decode_hlo_text.name, &content, err));
    struct arena *arena = arena_create();
    enum status status = hlo_module_read(content, PROGRAM_TEXT, arena, &module, err);
    if (status == OK) {
        push_text(sink, &module);
        if (module.damaged_count > 0)
            say_damaged(sink, module.damaged_count);
    }
    arena_destroy(arena);
    TRY(status);
    return close_whole(sink, content, err);
}

static enum status decode_document(struct input *input, struct sink *sink, struct error *err)
{
    struct bytes content;

    TRY(open_whole(input, sink, decode_xla_dump.name, &content, err));
    sink_document(sink, content);
    return close_whole(sink, content, err);
}

const struct decoder decode_hlo_proto = {
    .name = "hlo-proto", .part = PART_PROGRAMS, .sniff = sniff_proto, .decode = decode_proto};
const struct decoder decode_hlo_text = {
    .name = "hlo-text", .part = PART_PROGRAMS, .sniff = sniff_text, .decode = decode_text};
const struct decoder decode_xla_dump = {
    .name = "xla-dump", .part = PART_PROGRAMS, .sniff = sniff_document, .decode = decode_document};
