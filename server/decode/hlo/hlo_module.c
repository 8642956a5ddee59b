/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole module from its blob, finds instructions in it, and prints one as a line. */
#include "base/bisect.h"
#include "decode/hlo/hlo_module_parts.h"

void *hlo_room(struct hlo_reader *reader, void *array, uint32_t count, uint32_t *capacity,
               size_t size)
{
    if (count < *capacity)
        return array;
    if (count >= HLO_PARTS_MAX) {
        fail(reader->err, ERR_LIMIT, "the module has more than %d parts of one sort",
             HLO_PARTS_MAX);
        return array;
    }
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    void *grown = arena_alloc(reader->arena, *capacity, size);
    if (count > 0)
        memcpy(grown, array, count * size);
    return grown;
}

struct hlo_computation *hlo_add_computation(struct hlo_reader *reader)
{
    struct hlo_module *module = reader->module;

    HLO_ROOM(reader, module->computations, module->computation_count, reader->computation_capacity);
    if (module->computation_count == reader->computation_capacity)
        return NULL;
    struct hlo_computation *added = &module->computations[module->computation_count++];
    *added = (struct hlo_computation){.first = module->instruction_count};
    return added;
}

struct hlo_instruction *hlo_add_instruction(struct hlo_reader *reader)
{
    struct hlo_module *module = reader->module;

    HLO_ROOM(reader, module->instructions, module->instruction_count, reader->instruction_capacity);
    if (module->instruction_count == reader->instruction_capacity)
        return NULL;
    struct hlo_instruction *added = &module->instructions[module->instruction_count++];
    *added = (struct hlo_instruction){
        .computation = module->computation_count - 1,
        .first_operand = module->operand_count,
        .first_called = module->called_count,
    };
    return added;
}

bool hlo_add_operand(struct hlo_reader *reader, uint32_t instruction)
{
    struct hlo_module *module = reader->module;

    HLO_ROOM(reader, module->operands, module->operand_count, reader->operand_capacity);
    if (module->operand_count == reader->operand_capacity)
        return false;
    module->operands[module->operand_count++] = instruction;
    return true;
}

bool hlo_add_called(struct hlo_reader *reader, uint32_t computation)
{
    struct hlo_module *module = reader->module;

    HLO_ROOM(reader, module->called, module->called_count, reader->called_capacity);
    if (module->called_count == reader->called_capacity)
        return false;
    module->called[module->called_count++] = computation;
    return true;
}

uint32_t hlo_named(const struct hlo_reader *reader, struct str name)
{
    uint32_t found;

    if (!id_map_find(&reader->names, hlo_name_key(name), &found) ||
        !str_equal(reader->module->instructions[found].name, name))
        return HLO_NONE;
    return found;
}

enum status hlo_module_read(struct bytes blob, enum program_form form, struct arena *arena,
                            struct hlo_module *ret, struct error *err)
{
    struct error own = {0};
    struct hlo_reader reader = {.module = ret, .arena = arena, .err = &own};

    *ret = (struct hlo_module){.form = form, .blob = blob};
    if (form == PROGRAM_TEXT)
        hlo_read_text(&reader);
    else
        hlo_read_proto(&reader);
    id_map_free(&reader.ids);
    id_map_free(&reader.names);
    id_map_free(&reader.computations);
    return own.code == OK ? OK : fail(err, own.code, "%s", own.message);
}

enum status hlo_module_of(const struct trace *trace, const struct program *program,
                          struct arena *arena, struct hlo_module *ret, struct error *err)
{
    struct bytes blob;

    TRY(trace_program_blob(trace, program, arena, &blob, err));
    return hlo_module_read(blob, (enum program_form)program->form, arena, ret, err);
}

static void hash_part(struct hasher *hasher, const void *at, size_t count)
{
    uint64_t size = count;

    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&size, .count = sizeof size});
    hasher_put(hasher, (struct bytes){.at = at, .count = count});
}

uint64_t hlo_module_fingerprint(const struct hlo_module *module)
{
    struct hasher *hasher = hasher_create();

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *instruction = &module->instructions[i];
        hash_part(hasher, instruction->name.at, instruction->name.count);
        hash_part(hasher, instruction->opcode.at, instruction->opcode.count);
        hash_part(hasher, instruction->shape.at, instruction->shape.count);
    }
    return hasher_end(hasher).low;
}

uint32_t hlo_module_find(const struct hlo_module *module, struct str instruction)
{
    for (uint32_t i = 0; i < module->instruction_count; i++)
        if (str_equal(module->instructions[i].name, instruction))
            return i;
    return HLO_NONE;
}

uint32_t hlo_module_find_computation(const struct hlo_module *module, struct str name)
{
    for (uint32_t i = 0; i < module->computation_count; i++)
        if (str_equal(module->computations[i].name, name))
            return i;
    return HLO_NONE;
}

void hlo_put_shape(struct text *out, const struct hlo_module *module, struct bytes shape)
{
    if (module->form == PROGRAM_TEXT)
        text_put(out, (const char *)shape.at, shape.count);
    else
        hlo_print_shape(out, shape, true, 0);
}

void hlo_put_instruction(struct text *out, const struct hlo_module *module, uint32_t instruction)
{
    const struct hlo_instruction *asked = &module->instructions[instruction];
    struct str line = {.at = (const char *)asked->source.at, .count = asked->source.count};

    if (module->form == PROGRAM_PROTO) {
        hlo_print_instruction(out, module, instruction);
        return;
    }
    while (line.count > 0 && line.at[0] == ' ')
        line = str_skip(line, 1);
    text_put(out, line.at, line.count);
}

/* The last computation whose head stands at or before the line; HLO_NONE before the first. */
static uint32_t computation_at(const struct hlo_module *module, uint32_t line)
{
    uint32_t from = BISECT(0, module->computation_count, i, module->computations[i].line <= line);

    return from == 0 ? HLO_NONE : from - 1;
}

static uint32_t instruction_at(const struct hlo_module *module,
                               const struct hlo_computation *computation, uint32_t line)
{
    uint32_t end = computation->first + computation->count;
    uint32_t from = BISECT(computation->first, end, i, module->instructions[i].line < line);

    return from < end && module->instructions[from].line == line ? from : HLO_NONE;
}

static void put_text_line(struct text *out, const struct hlo_module *module, uint32_t line,
                          uint32_t computation, uint32_t instruction)
{
    /* The nearest known line before, then on by line feeds. */
    struct bytes near = module->blob;
    uint32_t at = 0;

    if (computation != HLO_NONE) {
        near = module->computations[computation].head;
        at = module->computations[computation].line;
    }
    if (instruction != HLO_NONE) {
        near = module->instructions[instruction].source;
        at = line;
    }
    const uint8_t *start = near.at, *end = module->blob.at + module->blob.count, *feed;
    for (; at < line && (feed = memchr(start, '\n', (size_t)(end - start))) != NULL; at++)
        start = feed + 1;
    feed = memchr(start, '\n', (size_t)(end - start));
    text_put(out, (const char *)start, (size_t)((feed != NULL ? feed : end) - start));
}

static void put_proto_line(struct text *out, const struct hlo_module *module, uint32_t line,
                           uint32_t computation, uint32_t instruction)
{
    if (line == 0) {
        text_puts(out, "HloModule ");
        text_put(out, module->name.at, module->name.count);
    } else if (instruction != HLO_NONE) {
        text_puts(out, module->instructions[instruction].is_root ? "  ROOT " : "  ");
        hlo_print_instruction(out, module, instruction);
    } else if (computation != HLO_NONE) {
        const struct hlo_computation *inside = &module->computations[computation];
        if (line == inside->line)
            hlo_print_computation(out, module, computation);
        else if (line == inside->line + 1 + inside->count)
            text_puts(out, "}");
    }
}

void hlo_put_line(struct text *out, const struct hlo_module *module, uint32_t line,
                  uint32_t *ret_computation, uint32_t *ret_instruction)
{
    *ret_computation = computation_at(module, line);
    *ret_instruction = HLO_NONE;
    if (*ret_computation != HLO_NONE)
        *ret_instruction = instruction_at(module, &module->computations[*ret_computation], line);
    if (module->form == PROGRAM_TEXT)
        put_text_line(out, module, line, *ret_computation, *ret_instruction);
    else
        put_proto_line(out, module, line, *ret_computation, *ret_instruction);
}
