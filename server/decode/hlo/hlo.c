/* SPDX-License-Identifier: Apache-2.0 */
/* Reads HloProto and HloModuleProto into modules, instructions and their names. Facts:
 * xla/service/hlo.proto. */
#include "decode/hlo/hlo.h"

#include <stdlib.h>

#include "base/hash.h"
#include "decode/foreign.h"
#include "decode/hlo/hlo_frames.h"
#include "decode/hlo/hlo_text.h"
#include "decode/hlo/python_owner.h"
#include "decode/protobuf.h"

enum { REMEMBERED = 256 }; /* a power of two */
enum { CALLS_MAX = 512 };  /* of one stack */

struct remembered { /* the last name of its slot: instructions repeat scopes, opcodes, sources */
    struct str text;
    uint64_t line;
    name_id id;
};

struct owned { /* whose the file is whose name stands at that address */
    const char *file;
    enum python_owner owner;
};

struct module { /* one being read */
    struct hlo_index *index;
    struct sink *sink;
    struct hlo_frames frames;
    struct arena *arena; /* of the frames */
    struct hasher *fingerprint;
    struct remembered scopes[REMEMBERED], sources[REMEMBERED], opcodes[REMEMBERED],
        op_types[REMEMBERED];
    struct remembered categories[2][REMEMBERED]; /* outside of fusions, inside */
    struct owned owned[64];
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

/* Stacks hold few files, and each as one text: told by its address. */
static enum python_owner owner_of(struct module *module, struct str file)
{
    struct owned *slot = &module->owned[((uintptr_t)file.at >> 3) % COUNT(module->owned)];

    if (slot->file != file.at || slot->owner == PYTHON_UNKNOWN)
        *slot = (struct owned){.file = file.at, .owner = python_owner_of(file)};
    return slot->owner;
}

/* The innermost call that is the user's own; the innermost of all where none is. What a package
 * calls is told by the stack, and by the instruction's own page. */
static void resolve_frame(struct module *module, struct hlo_text *text)
{
    struct hlo_frame frame, outer;

    if (!hlo_frame_get(&module->frames, text->frame, &frame)) /* without one: as told */
        return;
    outer = frame;
    for (int i = 0; i < CALLS_MAX; i++) {
        if (owner_of(module, outer.file) == PYTHON_USER) {
            frame = outer;
            break;
        }
        if (!hlo_frame_get(&module->frames, outer.parent, &outer))
            break;
    }
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

/* What differs from host to host, or where the program is not another: where an instruction comes
 * from, how it and its operands are numbered, how it was tuned. */
static bool is_part_of_program(uint32_t number)
{
    enum {
        METADATA = 7,
        CHANNEL_ID = 26,
        ID = 35,
        CALLED_COMPUTATION_IDS = 38, /* 36 operands, 37 control predecessors */
        SHARDING = 40,               /* with sources; what was partitioned has groups */
        BACKEND_CONFIG = 43,
        ALL_REDUCE_ID = 45,
        FRONTEND_ATTRIBUTES = 68,
        STATISTICS = 82,
        ORIGINAL_VALUE = 88,
    };

    return number != METADATA && number != CHANNEL_ID &&
           !(number >= ID && number <= CALLED_COMPUTATION_IDS) && number != SHARDING &&
           number != BACKEND_CONFIG && number != ALL_REDUCE_ID && number != FRONTEND_ATTRIBUTES &&
           number != STATISTICS && number != ORIGINAL_VALUE;
}

/* The fields [from, end) stand one behind the other: mostly a few such runs are an instruction. */
static void hash_fields(struct module *module, const uint8_t *from, const uint8_t *end)
{
    if (end > from)
        hasher_put(module->fingerprint, (struct bytes){.at = from, .count = (size_t)(end - from)});
}

static bool read_instruction(struct module *module, const struct pb *outer, struct bytes message,
                             struct hlo_text *ret)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    const uint8_t *from = pb.at, *end = pb.at; /* of what is to be hashed */

    *ret = (struct hlo_text){0};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (is_part_of_program(field.number)) {
            end = pb.at;
        } else {
            hash_fields(module, from, end);
            from = end = pb.at;
        }
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
    hash_fields(module, from, end);
    return err.code == OK;
}

/* Texts of a module differ in length and at their end. */
static struct remembered *slot_of(struct remembered *slots, struct str text, uint64_t line)
{
    uint64_t end = 0;
    size_t count = text.count < sizeof end ? text.count : sizeof end;

    if (count > 0)
        memcpy(&end, text.at + text.count - count, count);
    return &slots[((end ^ line << 17 ^ text.count << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static bool is_remembered(const struct remembered *slot, struct str text, uint64_t line)
{
    return slot->line == line && slot->text.at != NULL && str_equal(slot->text, text);
}

static name_id name_of(struct module *module, struct remembered *slots, struct str text)
{
    struct remembered *slot = slot_of(slots, text, 0);

    if (text.count > 0 && !is_remembered(slot, text, 0))
        *slot = (struct remembered){.text = text, .id = sink_name(module->sink, text)};
    return text.count > 0 ? slot->id : 0;
}

static name_id source_of(struct module *module, const struct hlo_text *text)
{
    struct remembered *slot = slot_of(module->sources, text->file, text->line);

    if (text->file.count == 0 || text->file.count > 4096)
        return 0;
    if (is_remembered(slot, text->file, text->line))
        return slot->id;
    struct text source = {0};
    text_put(&source, text->file.at, text->file.count);
    if (text->line > 0)
        text_putf(&source, ":%llu", (unsigned long long)text->line);
    *slot = (struct remembered){
        .text = text->file, .line = text->line, .id = sink_name(module->sink, text_str(&source))};
    text_free(&source);
    return slot->id;
}

/* That of most opcodes depends on nothing else. */
static name_id category_of(struct module *module, const struct hlo_text *text, bool is_fused)
{
    struct remembered *slot = slot_of(module->categories[is_fused], text->opcode, 0);

    if (text->fusion_kind.count > 0 || text->target.count > 0)
        return hlo_category(module->sink, text, is_fused);
    if (!is_remembered(slot, text->opcode, 0))
        *slot = (struct remembered){.text = text->opcode,
                                    .id = hlo_category(module->sink, text, is_fused)};
    return slot->id;
}

static void add_facts(struct hlo_facts **facts, uint32_t *count, uint32_t *capacity,
                      struct hlo_facts added)
{
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 1024 : *capacity * 2;
        *facts = memory_resize(*facts, *capacity, sizeof **facts);
    }
    (*facts)[(*count)++] = added;
}

/* Opens the range of a program: names from the next new one on. */
static void open_range(struct hlo_index *index, uint32_t ordinal, name_id next_name)
{
    if (ordinal >= index->range_capacity) {
        index->range_capacity = ordinal < 16 ? 16 : ordinal * 2;
        index->ranges = memory_resize(index->ranges, index->range_capacity, sizeof *index->ranges);
    }
    index->ranges[ordinal] =
        (struct hlo_range){.first_name = next_name, .first_fact = index->fact_count};
}

static void remember(struct module *module, const struct instruction *instruction)
{
    struct hlo_index *index = module->index;
    struct hlo_range *range = &index->ranges[module->ordinal];
    const struct hlo_facts facts = {.opcode = instruction->opcode,
                                    .category = instruction->category};
    bool is_new;

    if (instruction->name < range->first_name) {
        id_map_add(&index->old_names, (uint64_t)module->ordinal << 32 | instruction->name,
                   index->old_count, &is_new);
        if (is_new)
            add_facts(&index->old, &index->old_count, &index->old_capacity, facts);
        return;
    }
    uint32_t place = instruction->name - range->first_name;
    while (range->count <= place) { /* names between are scopes and the like */
        add_facts(&index->facts, &index->fact_count, &index->fact_capacity, (struct hlo_facts){0});
        range->count++;
    }
    if (index->facts[range->first_fact + place].opcode == 0)
        index->facts[range->first_fact + place] = facts;
}

static void push_instruction(struct module *module, struct hlo_text *text, bool is_fused)
{
    struct sink *sink = module->sink;

    resolve_frame(module, text);
    struct instruction instruction = {
        .program = module->program,
        .name = sink_name(sink, text->name),
        .opcode = name_of(module, module->opcodes, text->opcode),
        .scope = name_of(module, module->scopes, text->scope),
        .op_type = name_of(module, module->op_types, text->op_type),
        .source = source_of(module, text),
        .category = category_of(module, text, is_fused),
    };
    remember(module, &instruction);
    sink_instruction(sink, instruction);
}

static bool is_fused_computation(struct bytes message)
{
    return number_in(message, 7) != 0;
}

static void take_instruction(struct module *module, struct hlo_text *text, bool is_fused)
{
    module->fusion_count += str_equal(text->opcode, STR("fusion"));
    push_instruction(module, text, is_fused);
}

static void read_computation(const struct pb *outer, struct bytes message, struct module *module)
{
    bool is_fused = is_fused_computation(message);
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    module->computation_count++;
    for (struct pb_field field; pb_next(&pb, &field);) {
        struct hlo_text text;
        if (field.number != 2 || field.wire != PB_BYTES)
            continue;
        if (read_instruction(module, &pb, field.bytes, &text))
            take_instruction(module, &text, is_fused);
        else
            module->is_whole = false;
    }
    module->is_whole &= err.code == OK;
}

static void read_computations(const struct pb *outer, struct bytes message, struct module *module)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == 3 && field.wire == PB_BYTES)
            read_computation(&pb, field.bytes, module);
    module->is_whole &= err.code == OK;
}

/* The stack frames stand behind the instructions that refer to them. */
static void read_head(const struct pb *outer, struct bytes message, struct module *module,
                      struct str *ret_name)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            *ret_name = pb_text(&field);
        else if (field.number == 17)
            module->is_whole &= hlo_frames_read(&module->frames, module->arena, &pb, field.bytes);
    }
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
    read_head(&pb, parts->module, module, &own_name);
    module->program =
        sink_program(module->sink, source->id, sink_name(module->sink, own_name), 0, proto);
    open_range(module->index, module->ordinal, sink_name_count(module->sink));
    module->fingerprint = hasher_create();
    hasher_put(module->fingerprint,
               (struct bytes){.at = (const uint8_t *)own_name.at, .count = own_name.count});
    read_computations(&pb, parts->module, module);
    sink_program_fingerprint(module->sink, module->program, hasher_end(module->fingerprint).low);
    sink_program_about(module->sink, module->program,
                       (struct program_about){
                           .stage = source->stage,
                           .computation_count = module->computation_count,
                           .fusion_count = module->fusion_count,
                           .has_buffers = parts->buffers.count > 0,
                       });
}

bool hlo_decode(struct hlo_index *index, struct sink *sink, const struct hlo_source *source,
                struct bytes proto)
{
    struct hlo_parts parts = hlo_parts_of(proto);
    bool is_new;

    if (parts.module.at == NULL)
        return false;
    uint32_t ordinal = id_map_add(&index->programs, source->id, index->programs.count, &is_new);
    if (!is_new)
        return true; /* the same program again, from another part of the file */
    struct arena *arena = arena_create();
    struct module *module = arena_new(arena, struct module);
    *module = (struct module){.index = index,
                              .sink = sink,
                              .arena = arena,
                              .ordinal = ordinal,
                              .is_whole = !parts.is_cut};
    push_module(module, source, proto, &parts);
    bool is_whole = module->is_whole;
    arena_destroy(arena);
    return is_whole;
}

const struct hlo_facts *hlo_find(const struct hlo_index *index, uint64_t id, name_id instruction)
{
    uint32_t ordinal, fact;

    if (!id_map_find(&index->programs, id, &ordinal))
        return NULL;
    const struct hlo_range *range = &index->ranges[ordinal];
    if (instruction >= range->first_name && instruction - range->first_name < range->count) {
        const struct hlo_facts *found =
            &index->facts[range->first_fact + (instruction - range->first_name)];
        return found->opcode != 0 ? found : NULL;
    }
    return id_map_find(&index->old_names, (uint64_t)ordinal << 32 | instruction, &fact)
               ? &index->old[fact]
               : NULL;
}

void hlo_index_free(struct hlo_index *index)
{
    id_map_free(&index->programs);
    id_map_free(&index->old_names);
    free(index->ranges);
    free(index->facts);
    free(index->old);
    *index = (struct hlo_index){0};
}
