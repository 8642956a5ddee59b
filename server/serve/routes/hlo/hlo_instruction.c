/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction and what stands around it: operands and users two hops away, the computations it
 * calls, who calls its own, its stack frames, its buffers. */
#include <inttypes.h>

#include "serve/routes/hlo/hlo_parts.h"

enum { LIST_MAX = 200, FRAMES_MAX = 100, TEXT_MAX = 65536 };

void json_put_hlo_cost(struct json *json, const struct hlo_question *question, struct str name)
{
    const struct hlo_cost *cost = hlo_cost_of(&question->measure, name);

    if (cost == NULL) {
        json_put_null(json, "execution_count");
        json_put_null(json, "self_ps");
        return;
    }
    json_put_unsigned(json, "execution_count", cost->execution_count);
    json_put_integer(json, "self_ps", cost->self_ps);
}

void json_put_hlo_brief(struct json *json, const struct hlo_question *question,
                        uint32_t instruction)
{
    const struct hlo_instruction *of = &question->module.instructions[instruction];
    struct text shape = {0};

    hlo_put_shape(&shape, &question->module, of->shape);
    json_put_text(json, "name", of->name);
    json_put_text(json, "opcode", of->opcode);
    json_put_text(json, "shape", text_str(&shape));
    json_put_unsigned(json, "line", (uint64_t)of->line + 1);
    text_free(&shape);
}

/* Whose results it takes, by name: the edges between neighbours. */
static void put_operands(struct json *json, const struct hlo_question *question,
                         uint32_t instruction)
{
    const struct hlo_module *module = &question->module;
    const struct hlo_instruction *of = &module->instructions[instruction];

    json_key(json, "operands");
    json_open(json, '[');
    for (uint32_t i = 0; i < of->operand_count && i < LIST_MAX; i++) {
        uint32_t operand = module->operands[of->first_operand + i];

        if (operand != HLO_NONE)
            json_add_text(json, module->instructions[operand].name);
    }
    json_close(json, ']');
}

static void put_neighbours(struct json *json, const struct hlo_question *question,
                           uint32_t instruction)
{
    struct hlo_neighbour *found;
    uint32_t left_out,
        count = hlo_around(&question->module, instruction, HLO_HOPS, HLO_NEIGHBOURS_MAX,
                           question->req->arena, &found, &left_out);

    json_key(json, "neighbours");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(json, '{');
        json_put_integer(json, "distance", found[i].distance);
        json_put_hlo_brief(json, question, found[i].instruction);
        json_put_hlo_cost(json, question, question->module.instructions[found[i].instruction].name);
        put_operands(json, question, found[i].instruction);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_unsigned(json, "neighbours_left_out", left_out);
}

static void put_computation(struct json *json, const struct hlo_computation *computation)
{
    json_open(json, '{');
    json_put_text(json, "name", computation->name);
    json_put_unsigned(json, "instruction_count", computation->count);
    json_put_unsigned(json, "line", (uint64_t)computation->line + 1);
    json_close(json, '}');
}

static void put_called(struct json *json, const struct hlo_question *question,
                       const struct hlo_instruction *of)
{
    const struct hlo_module *module = &question->module;

    json_key(json, "called");
    json_open(json, '[');
    for (uint32_t i = 0; i < of->called_count && i < LIST_MAX; i++) {
        uint32_t called = module->called[of->first_called + i];

        if (called != HLO_NONE)
            put_computation(json, &module->computations[called]);
    }
    json_close(json, ']');
}

/* The instructions that call the computation it stands in. */
static void put_callers(struct json *json, const struct hlo_question *question,
                        const struct hlo_instruction *of)
{
    const struct hlo_module *module = &question->module;
    uint32_t count = 0;

    json_key(json, "callers");
    json_open(json, '[');
    for (uint32_t i = 0; i < module->instruction_count && count < LIST_MAX; i++) {
        const struct hlo_instruction *caller = &module->instructions[i];
        bool calls = false;

        for (uint32_t k = 0; k < caller->called_count; k++)
            calls |= module->called[caller->first_called + k] == of->computation;
        if (!calls)
            continue;
        json_open(json, '{');
        json_put_hlo_brief(json, question, i);
        json_put_hlo_cost(json, question, caller->name);
        json_close(json, '}');
        count++;
    }
    json_close(json, ']');
}

/* From the innermost call outwards; a chain that never ends is cut. */
static void put_stack(struct json *json, const struct hlo_question *question,
                      const struct hlo_instruction *of)
{
    struct hlo_frame frame;
    uint64_t id = of->frame;

    json_key(json, "stack");
    json_open(json, '[');
    for (int i = 0; i < FRAMES_MAX && hlo_frame_get(&question->module.frames, id, &frame); i++) {
        json_open(json, '{');
        json_put_text_or_null(json, "function", frame.function);
        json_put_text_or_null(json, "file", frame.file);
        json_put_unsigned(json, "line", frame.line);
        json_close(json, '}');
        id = frame.parent;
    }
    json_close(json, ']');
}

static bool defines(const struct hlo_module *module, uint32_t instruction, uint64_t buffer)
{
    const struct hlo_buffer *found = hlo_module_buffer(module, buffer);

    return found != NULL && found->instruction == instruction;
}

/* Where the values that it defines lie. */
static void put_buffers(struct json *json, const struct hlo_question *question,
                        uint32_t instruction)
{
    const struct hlo_module *module = &question->module;
    uint32_t count = 0;

    json_key(json, "buffers");
    json_open(json, '[');
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &module->allocations[i];
        for (uint32_t k = 0; k < allocation->assigned_count && count < LIST_MAX; k++) {
            const struct hlo_assigned *assigned = &module->assigned[allocation->first_assigned + k];
            if (!defines(module, instruction, assigned->buffer))
                continue;
            json_open(json, '{');
            json_put_unsigned(json, "allocation", allocation->index);
            json_put_unsigned(json, "offset", assigned->offset);
            json_put_unsigned(json, "size_bytes", assigned->size_bytes);
            json_put_unsigned(json, "allocation_bytes", allocation->size_bytes);
            json_close(json, '}');
            count++;
        }
    }
    json_close(json, ']');
}

struct str hlo_source_text(const struct hlo_instruction *of, struct arena *arena)
{
    return of->file.count == 0 ? STR("")
           : of->source_line == 0
               ? of->file
               : str_format(arena, "%.*s:%" PRIu64, STR_ARG(of->file), of->source_line);
}

static void put_texts(struct json *json, const struct hlo_question *question, uint32_t instruction)
{
    const struct hlo_instruction *of = &question->module.instructions[instruction];
    struct arena *arena = question->req->arena;
    struct text text = {0};

    hlo_put_instruction(&text, &question->module, instruction);
    json_put_text(
        json, "text",
        (struct str){.at = text.at, .count = text.count < TEXT_MAX ? text.count : TEXT_MAX});
    json_put_bool(json, "text_cut", text.count > TEXT_MAX);
    text_free(&text);
    json_put_meaning(json, question->req->arena, of->opcode);
    json_put_text_or_null(json, "fusion_kind", of->fusion_kind);
    json_put_text_or_null(json, "custom_call_target", of->target);
    json_put_text_or_null(json, "scope", of->scope);
    json_put_text_or_null(json, "op_type", of->op_type);
    json_put_text_or_null(json, "source", hlo_source_text(of, arena));
}

static void put_reasons(struct json *json, const struct hlo_question *question,
                        const struct hlo_instruction *of)
{
    struct str reason = question->listed->is_measured
                            ? STR("the profile holds no event of this instruction")
                            : question->listed->reason;

    json_key(json, "reasons");
    json_open(json, '{');
    if (hlo_cost_of(&question->measure, of->name) == NULL) {
        json_put_text(json, "execution_count", reason);
        json_put_text(json, "self_ps", reason);
    }
    if (of->file.count == 0)
        json_put_text(json, "source", STR("the compiler recorded none for it"));
    if (!question->module.has_buffers)
        json_put_text(json, "buffers", STR("the module has no buffer assignment"));
    json_close(json, '}');
}

void json_put_instruction(struct json *json, const struct hlo_question *question,
                          uint32_t instruction)
{
    const struct hlo_instruction *of = &question->module.instructions[instruction];

    json_key(json, "instruction");
    json_open(json, '{');
    json_put_hlo_brief(json, question, instruction);
    json_put_text(json, "computation", question->module.computations[of->computation].name);
    json_put_bool(json, "root", of->is_root);
    put_texts(json, question, instruction);
    json_put_hlo_cost(json, question, of->name);
    put_called(json, question, of);
    put_callers(json, question, of);
    put_stack(json, question, of);
    put_buffers(json, question, instruction);
    put_neighbours(json, question, instruction);
    put_reasons(json, question, of);
    json_close(json, '}');
}
