#include "decode/hlo.h"

#include <stdlib.h>

#include "base/hash.h"
#include "decode/foreign.h"
#include "decode/hlo_frames.h"
#include "decode/hlo_text.h"
#include "decode/protobuf.h"

struct module { /* one being read */
    struct hlo_index *index;
    struct sink *sink;
    struct hlo_frames frames;
    struct arena *arena; /* of the frames */
    struct hasher *fingerprint;
    program_id program;
    uint32_t ordinal, computation_count, fusion_count;
    bool is_whole;
};

/* A number of a small message; 0 where it is absent. */
static uint64_t number_in(struct bytes message, uint32_t number)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    uint64_t found = 0;

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == number && field.wire == PB_VARINT)
            found = field.varint;
    return found;
}

static void resolve_frame(const struct hlo_frames *frames, struct hlo_text *text)
{
    struct hlo_frame frame;

    if (text->file.count > 0 || !hlo_frame_get(frames, text->frame, &frame))
        return;
    text->file = frame.file;
    text->line = frame.line;
}

static void read_metadata(const struct pb *outer, struct bytes message, struct hlo_text *ret)
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
            ret->line = field.varint;
        else if (field.number == 15 && !is_text)
            ret->frame = field.varint;
    }
}

static bool read_instruction(const struct pb *outer, struct bytes message, struct hlo_text *ret)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    *ret = (struct hlo_text){0};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        switch (field.number) {
        case 1:
            ret->name = pb_text(&field);
            break;
        case 2:
            ret->opcode = pb_text(&field);
            break;
        case 3:
            ret->shape = field.bytes;
            break;
        case 7:
            read_metadata(&pb, field.bytes, ret);
            break;
        case 11:
            ret->fusion_kind = pb_text(&field);
            break;
        case 28:
            ret->target = pb_text(&field);
            break;
        }
    }
    return err.code == OK;
}

static name_id source_of(struct sink *sink, const struct hlo_text *text)
{
    if (text->file.count == 0 || text->file.count > 4096)
        return 0;
    struct text source = {0};
    text_put(&source, text->file.at, text->file.count);
    if (text->line > 0)
        text_putf(&source, ":%llu", (unsigned long long)text->line);
    name_id name = sink_name(sink, text_str(&source));
    text_free(&source);
    return name;
}

static void remember(struct module *module, const struct instruction *instruction)
{
    struct hlo_index *index = module->index;
    uint64_t key = (uint64_t)module->ordinal << 32 | instruction->name;
    bool is_new;

    id_map_add(&index->instructions, key, index->fact_count, &is_new);
    if (!is_new)
        return;
    if (index->fact_count == index->fact_capacity) {
        index->fact_capacity = index->fact_capacity == 0 ? 1024 : index->fact_capacity * 2;
        index->facts = memory_resize(index->facts, index->fact_capacity, sizeof *index->facts);
    }
    index->facts[index->fact_count++] = (struct hlo_facts){
        .opcode = instruction->opcode,
        .category = instruction->category,
    };
}

static void push_instruction(struct module *module, struct hlo_text *text, bool is_fused)
{
    struct sink *sink = module->sink;

    resolve_frame(&module->frames, text);
    struct instruction instruction = {
        .program = module->program,
        .name = sink_name(sink, text->name),
        .opcode = sink_name(sink, text->opcode),
        .scope = sink_name(sink, text->scope),
        .op_type = sink_name(sink, text->op_type),
        .source = source_of(sink, text),
        .category = hlo_category(sink, text, is_fused),
    };
    remember(module, &instruction);
    sink_instruction(sink, instruction);
}

static bool is_fused_computation(struct bytes message)
{
    return number_in(message, 7) != 0;
}

enum pass { PASS_FINGERPRINT, PASS_INSTRUCTIONS };

static void hash_field(struct hasher *hasher, const void *at, size_t count)
{
    uint64_t size = count;

    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&size, .count = sizeof size});
    hasher_put(hasher, (struct bytes){.at = at, .count = count});
}

static void read_computation(const struct pb *outer, struct bytes message, struct module *module,
                             enum pass pass)
{
    bool is_fused = is_fused_computation(message);
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    module->computation_count += pass == PASS_FINGERPRINT;
    for (struct pb_field field; pb_next(&pb, &field);) {
        struct hlo_text text;
        if (field.number != 2 || field.wire != PB_BYTES)
            continue;
        if (!read_instruction(&pb, field.bytes, &text)) {
            module->is_whole = false;
            continue;
        }
        if (pass == PASS_INSTRUCTIONS) {
            push_instruction(module, &text, is_fused);
            continue;
        }
        module->fusion_count += str_equal(text.opcode, STR("fusion"));
        hash_field(module->fingerprint, text.name.at, text.name.count);
        hash_field(module->fingerprint, text.opcode.at, text.opcode.count);
        hash_field(module->fingerprint, text.shape.at, text.shape.count);
    }
    module->is_whole &= err.code == OK;
}

/* The fingerprint is wanted before the first instruction, and the stack frames stand last: a
 * module is read twice. */
static void read_module(const struct pb *outer, struct bytes message, struct module *module,
                        enum pass pass, struct str *ret_name)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            *ret_name = pb_text(&field);
        else if (field.number == 3)
            read_computation(&pb, field.bytes, module, pass);
        else if (field.number == 17 && pass == PASS_FINGERPRINT)
            module->is_whole &= hlo_frames_read(&module->frames, module->arena, &pb, field.bytes);
    }
    module->is_whole &= err.code == OK;
}

struct hlo_parts hlo_parts_of(struct bytes proto)
{
    struct hlo_parts parts = {0};
    struct error err = {0};
    struct pb pb = pb_open(proto, &err);

    if (!shape_fits(proto, &shape_hlo) && shape_fits(proto, &shape_hlo_module)) {
        parts.module = proto;
        return parts;
    }
    pb.lenient = true; /* of a module that is cut off, its whole instructions are kept */
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1 && parts.module.at == NULL)
            parts.module = field.bytes;
        else if (field.number == 3 && field.bytes.count > 0)
            parts.buffers = field.bytes;
    }
    parts.is_cut = err.code != OK;
    return parts;
}

static void push_module(struct module *module, const struct hlo_source *source, struct bytes proto,
                        const struct hlo_parts *parts)
{
    struct error err = {0};
    struct pb pb = pb_open(proto, &err);
    struct str own_name = source->name;

    pb.lenient = true;
    module->fingerprint = hasher_create();
    read_module(&pb, parts->module, module, PASS_FINGERPRINT, &own_name);
    uint64_t fingerprint = hasher_end(module->fingerprint).low;
    module->program = sink_program(module->sink, source->id, sink_name(module->sink, own_name),
                                   fingerprint, proto);
    sink_program_about(module->sink, module->program,
                       (struct program_about){
                           .stage = source->stage,
                           .stage_name = sink_name(module->sink, source->stage_name),
                           .computation_count = module->computation_count,
                           .fusion_count = module->fusion_count,
                           .has_buffers = parts->buffers.count > 0,
                       });
    read_module(&pb, parts->module, module, PASS_INSTRUCTIONS, &own_name);
}

bool hlo_decode(struct hlo_index *index, struct sink *sink, const struct hlo_source *source,
                struct bytes proto)
{
    struct module module = {.index = index, .sink = sink};
    struct hlo_parts parts = hlo_parts_of(proto);
    bool is_new;

    if (parts.module.at == NULL)
        return false;
    module.ordinal = id_map_add(&index->programs, source->id, index->programs.count, &is_new);
    if (!is_new)
        return true; /* the same program again, from another part of the file */
    module.is_whole = !parts.is_cut;
    module.arena = arena_create();
    push_module(&module, source, proto, &parts);
    arena_destroy(module.arena);
    return module.is_whole;
}

const struct hlo_facts *hlo_find(const struct hlo_index *index, uint64_t id, name_id instruction)
{
    uint32_t ordinal, fact;

    if (!id_map_find(&index->programs, id, &ordinal) ||
        !id_map_find(&index->instructions, (uint64_t)ordinal << 32 | instruction, &fact))
        return NULL;
    return &index->facts[fact];
}

void hlo_index_free(struct hlo_index *index)
{
    id_map_free(&index->programs);
    id_map_free(&index->instructions);
    free(index->facts);
    *index = (struct hlo_index){0};
}
