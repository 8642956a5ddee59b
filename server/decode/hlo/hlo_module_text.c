/* SPDX-License-Identifier: Apache-2.0 */
/* A module from the text that XLA prints of it.
 *
 *   HloModule jit_f, entry_computation_layout={...}
 *
 *   FileNames                                  tables of stack frames, in newer dumps
 *   1 "model.py"
 *
 *   %region (a: f32[], b: f32[]) -> f32[] {    a line that ends in {, without " = "
 *     ROOT %add = f32[] add(%a, %b), metadata={op_name="jit(f)/add" source_line=3}
 *   }
 *
 *   ENTRY %main (x: f32[8]) -> f32[] { ... }
 *
 * An instruction is  NAME = SHAPE OPCODE(OPERANDS), KEY=VALUE, ...  Brackets and quotes nest;
 * names may lack their %; an operand may have its shape in front; comments are of the C kind. A
 * line that is none of these goes on with the one before: a constant printed over several lines.
 */
#include "decode/hlo/hlo_module_parts.h"

static uint64_t number_of(struct str text)
{
    uint64_t number = 0;

    return str_to_u64(text, &number) ? number : 0;
}

static void read_metadata(struct str text, struct hlo_instruction *ret)
{
    for (text = hlo_trimmed(text); text.count > 0; text = hlo_trimmed(text)) {
        struct str value = hlo_take_to(&text, " ,"), key = hlo_take_to(&value, "=");
        if (str_equal(key, STR("op_name")))
            ret->scope = hlo_unquoted(value);
        else if (str_equal(key, STR("op_type")))
            ret->op_type = hlo_unquoted(value);
        else if (str_equal(key, STR("source_file")))
            ret->file = hlo_unquoted(value);
        else if (str_equal(key, STR("source_line")))
            ret->source_line = number_of(value);
        else if (str_equal(key, STR("stack_frame_id")))
            ret->frame = number_of(value);
    }
}

static uint32_t computation_named(const struct hlo_reader *reader, struct str name)
{
    uint32_t found;

    if (!id_map_find(&reader->computations, hlo_name_key(name), &found) ||
        !str_equal(reader->module->computations[found].name, name))
        return HLO_NONE;
    return found;
}

/* Computations stand before those that call them. */
static void add_called(struct hlo_reader *reader, struct str value)
{
    if (str_starts(value, STR("{")))
        value = hlo_inside(value);
    while (value.count > 0 && reader->err->code == OK)
        hlo_add_called(reader, computation_named(reader, hlo_bare_name(hlo_take_to(&value, ","))));
}

static bool is_call(struct str key)
{
    static const char *const keys[] = {"calls",
                                       "to_apply",
                                       "body",
                                       "condition",
                                       "branch_computations",
                                       "called_computations",
                                       "true_computation",
                                       "false_computation",
                                       "select",
                                       "scatter"};

    for (size_t i = 0; i < COUNT(keys); i++)
        if (str_equal(key, str_of(keys[i])))
            return true;
    return false;
}

static void read_attributes(struct hlo_reader *reader, struct str text, struct hlo_instruction *ret)
{
    while (text.count > 0) {
        struct str value = hlo_trimmed(hlo_take_to(&text, ",")), key = hlo_take_to(&value, "=");
        if (is_call(key))
            add_called(reader, value);
        else if (str_equal(key, STR("kind")))
            ret->fusion_kind = value;
        else if (str_equal(key, STR("custom_call_target")))
            ret->target = hlo_unquoted(value);
        else if (str_equal(key, STR("metadata")))
            read_metadata(hlo_inside(value), ret);
    }
}

/* The last word of each: "f32[8]{0} %p.1" is p.1. */
static void read_operands(struct hlo_reader *reader, struct str text)
{
    const struct hlo_module *module = reader->module;
    uint32_t first = module->computations[module->computation_count - 1].first;

    while (text.count > 0 && reader->err->code == OK) {
        struct str operand = hlo_trimmed(hlo_take_to(&text, ","));
        for (size_t at = operand.count; at > 0; at--)
            if (operand.at[at - 1] == ' ' || operand.at[at - 1] == '/') {
                operand = str_skip(operand, at);
                break;
            }
        uint32_t found = hlo_named(reader, hlo_bare_name(operand));
        hlo_add_operand(reader, found != HLO_NONE && found < first ? HLO_NONE : found);
    }
}

/* Opcodes whose brackets hold no operands. */
static bool holds_no_operands(struct str opcode)
{
    return str_equal(opcode, STR("constant")) || str_equal(opcode, STR("parameter")) ||
           str_equal(opcode, STR("iota"));
}

static void remember(struct hlo_reader *reader, uint32_t ordinal)
{
    uint64_t key = hlo_name_key(reader->module->instructions[ordinal].name);
    bool is_new;

    id_map_add(&reader->names, key, ordinal, &is_new);
}

/* `name` and what stands behind " = ". */
static void read_instruction(struct hlo_reader *reader, struct str line, struct str name,
                             struct str rest)
{
    struct hlo_instruction *added = hlo_add_instruction(reader);

    if (added == NULL)
        return;
    uint32_t ordinal = reader->module->instruction_count - 1;
    added->line = reader->module->line_count;
    added->source = (struct bytes){.at = (const uint8_t *)line.at, .count = line.count};
    added->is_root = str_starts(name, STR("ROOT "));
    added->name = hlo_bare_name(added->is_root ? str_skip(name, 5) : name);
    struct str shape = hlo_take_to(&rest, " ");
    added->shape = (struct bytes){.at = (const uint8_t *)shape.at, .count = shape.count};
    rest = hlo_trimmed(rest);
    size_t opcode = 0;
    while (opcode < rest.count && rest.at[opcode] != '(')
        opcode++;
    added->opcode = hlo_trimmed((struct str){.at = rest.at, .count = opcode});
    rest = str_skip(rest, opcode);
    struct str operands = hlo_take_to(&rest, ",");
    if (!holds_no_operands(added->opcode))
        read_operands(reader, hlo_inside(hlo_trimmed(operands)));
    added->operand_count = reader->module->operand_count - added->first_operand;
    read_attributes(reader, rest, added);
    added->called_count = reader->module->called_count - added->first_called;
    remember(reader, ordinal);
}

static void read_computation(struct hlo_reader *reader, struct str line)
{
    struct hlo_computation *added = hlo_add_computation(reader);
    struct str head = hlo_trimmed(line);
    bool is_new;

    if (added == NULL)
        return;
    added->line = reader->module->line_count;
    added->head = (struct bytes){.at = (const uint8_t *)line.at, .count = line.count};
    added->is_entry = str_starts(head, STR("ENTRY "));
    if (added->is_entry)
        head = str_skip(head, 6);
    size_t count = 0;
    while (count < head.count && head.at[count] != ' ' && head.at[count] != '(')
        count++;
    added->name = hlo_bare_name((struct str){.at = head.at, .count = count});
    if (added->is_entry)
        reader->module->entry = added->name;
    id_map_add(&reader->computations, hlo_name_key(added->name),
               reader->module->computation_count - 1, &is_new);
}

enum table { TABLE_NONE, TABLE_FILES, TABLE_FUNCTIONS, TABLE_LOCATIONS, TABLE_FRAMES };

static enum table table_of(struct str line)
{
    static const char *const heads[] = {"", "FileNames", "FunctionNames", "FileLocations",
                                        "StackFrames"};

    for (size_t i = 1; i < COUNT(heads); i++)
        if (str_equal(line, str_of(heads[i])))
            return (enum table)i;
    return TABLE_NONE;
}

/* What is printed is the parent's id plus one; 0 none. */
static uint64_t parent_of(struct str value)
{
    uint64_t printed = number_of(value);

    return printed > 0 ? printed - 1 : 0;
}

/* "{file_name_id=1 function_name_id=1 line=7 column=4}", "{file_location_id=1
 * parent_frame_id=2}" */
static struct hlo_numbers record_of(struct str text)
{
    struct hlo_numbers record = {0};

    for (text = hlo_trimmed(text); text.count > 0; text = hlo_trimmed(text)) {
        struct str value = hlo_take_to(&text, " ,"), key = hlo_take_to(&value, "=");
        if (str_equal(key, STR("file_name_id")) || str_equal(key, STR("file_location_id")))
            record.fields[0] = number_of(value);
        else if (str_equal(key, STR("function_name_id")))
            record.fields[1] = number_of(value);
        else if (str_equal(key, STR("parent_frame_id")))
            record.fields[1] = parent_of(value);
        else if (str_equal(key, STR("line")))
            record.fields[2] = number_of(value);
        else if (str_equal(key, STR("column")))
            record.fields[3] = number_of(value);
    }
    return record;
}

/* A row of a table: its number, counting from 1, then what it says. */
static void read_row(struct hlo_reader *reader, enum table table, struct str line)
{
    struct hlo_frames *frames = &reader->module->frames;
    bool is_kept;

    (void)hlo_take_to(&line, " ");
    line = hlo_trimmed(line);
    if (table == TABLE_FILES)
        is_kept = hlo_frames_add_text(&frames->files, reader->arena, hlo_unquoted(line));
    else if (table == TABLE_FUNCTIONS)
        is_kept = hlo_frames_add_text(&frames->functions, reader->arena, hlo_unquoted(line));
    else if (table == TABLE_LOCATIONS)
        is_kept =
            hlo_frames_add_record(&frames->locations, reader->arena, record_of(hlo_inside(line)));
    else
        is_kept =
            hlo_frames_add_record(&frames->frames, reader->arena, record_of(hlo_inside(line)));
    reader->module->damaged_count += !is_kept;
}

static void end_computation(struct hlo_module *module)
{
    if (module->computation_count == 0)
        return;
    struct hlo_computation *last = &module->computations[module->computation_count - 1];
    last->count = module->instruction_count - last->first;
}

/* Where " = " stands outside of brackets. */
static bool split_definition(struct str text, struct str *ret_name, struct str *ret_rest)
{
    size_t count = hlo_span_to(text, "=");

    if (count == 0 || count + 2 > text.count || text.at[count - 1] != ' ' ||
        text.at[count + 1] != ' ')
        return false;
    *ret_name = (struct str){.at = text.at, .count = count - 1};
    *ret_rest = str_skip(text, count + 2);
    return true;
}

struct lines { /* what the line before left */
    enum table table;
    bool in_computation;
};

static void read_line(struct hlo_reader *reader, struct lines *lines, struct str line)
{
    struct hlo_module *module = reader->module;
    struct str text = hlo_trimmed(line), name, rest;

    if (text.count == 0) {
        lines->table = TABLE_NONE;
    } else if (str_starts(text, STR("HloModule "))) {
        rest = str_skip(text, 10);
        module->name = hlo_trimmed(hlo_take_to(&rest, ", "));
        module->head = (struct bytes){.at = (const uint8_t *)line.at, .count = line.count};
    } else if (lines->table != TABLE_NONE) {
        read_row(reader, lines->table, text);
    } else if (lines->in_computation && str_starts(text, STR("}"))) {
        end_computation(module);
        lines->in_computation = false;
    } else if (lines->in_computation && split_definition(text, &name, &rest)) {
        read_instruction(reader, line, name, rest);
    } else if (!lines->in_computation && str_ends(text, STR("{"))) {
        read_computation(reader, line);
        lines->in_computation = module->computation_count > 0;
    } else if (!lines->in_computation) {
        lines->table = table_of(text);
    }
}

static void resolve_frames(struct hlo_module *module)
{
    struct hlo_frame frame;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        struct hlo_instruction *instruction = &module->instructions[i];
        if (instruction->file.count > 0 ||
            !hlo_frame_get(&module->frames, instruction->frame, &frame))
            continue;
        instruction->file = frame.file;
        instruction->source_line = frame.line;
    }
}

/* Computations inside of fusions: those that a fusion calls. */
static void mark_fused(struct hlo_module *module)
{
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *instruction = &module->instructions[i];
        for (uint32_t k = 0;
             k < instruction->called_count && str_equal(instruction->opcode, STR("fusion")); k++) {
            uint32_t called = module->called[instruction->first_called + k];
            if (called != HLO_NONE)
                module->computations[called].is_fused = true;
        }
    }
}

void hlo_read_text(struct hlo_reader *reader)
{
    struct hlo_module *module = reader->module;
    struct str rest = {.at = (const char *)module->blob.at, .count = module->blob.count};
    struct lines lines = {0};

    while (rest.count > 0 && reader->err->code == OK && module->line_count < UINT32_MAX) {
        const char *feed = memchr(rest.at, '\n', rest.count);
        struct str line = {.at = rest.at,
                           .count = feed == NULL ? rest.count : (size_t)(feed - rest.at)};
        read_line(reader, &lines, line);
        module->line_count++;
        rest = str_skip(rest, feed == NULL ? rest.count : line.count + 1);
    }
    if (lines.in_computation) {
        end_computation(module);
        module->damaged_count++;
    }
    if (reader->err->code == OK && module->name.count == 0 && module->computation_count == 0)
        fail(reader->err, ERR_FORMAT, "the text holds no module");
    resolve_frames(module);
    mark_fused(module);
}
