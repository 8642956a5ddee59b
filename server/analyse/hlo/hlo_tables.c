/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, computations, instructions and allocations of one module, as pages of a table. Only the
 * rows of the page are printed: a module may have 100,000 lines. */
#include <stdlib.h>

#include "analyse/hlo/hlo.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum { LINE_BYTES_MAX = 16384, NAMED_MAX = 200 };

static struct table empty_table(const struct column *columns, uint32_t column_count)
{
    return (struct table){.columns = columns, .column_count = column_count};
}

/* The cells of the page; table->row_count_all is set. */
static struct cell *open_page(const struct page *page, uint32_t all, struct arena *arena,
                              struct table *table, uint32_t *ret_first, uint32_t *ret_end)
{
    table_range(page, all, ret_first, ret_end);
    struct cell *cells =
        arena_array(arena, struct cell, (size_t)(*ret_end - *ret_first) * table->column_count + 1);

    table->cells = cells;
    table->row_count = *ret_end - *ret_first;
    table->row_count_all = all;
    table->next = *ret_end < all ? *ret_end : 0;
    return cells;
}

static struct cell name_cell(struct str name)
{
    return name.count > 0 ? cell_text(name) : cell_null(STR(""));
}

static struct cell count_cell(uint64_t count)
{
    return (struct cell){.kind = CELL_UNSIGNED, .of.uint = count};
}

/* Two cells: executions and self time. */
static void put_cost(const struct hlo_shown *shown, struct str instruction, struct cell *ret)
{
    const struct hlo_cost *cost = hlo_cost_of(shown->measure, instruction);

    if (cost != NULL) {
        ret[0] = count_cell(cost->execution_count);
        ret[1] = cell_integer(cost->self_ps);
        return;
    }
    ret[0] = ret[1] =
        cell_null(shown->listed->is_measured ? STR("the profile holds no event of this instruction")
                                             : shown->listed->reason);
}

static struct str taken(struct text *text, struct arena *arena)
{
    struct str whole = text_str(text);

    if (whole.count > LINE_BYTES_MAX)
        whole = str_format(arena, "%.*s ... (%zu bytes more)", LINE_BYTES_MAX, whole.at,
                           whole.count - LINE_BYTES_MAX);
    else
        whole = str_copy(arena, whole);
    text->count = 0;
    return whole;
}

static const struct column line_columns[] = {
    {"line", "line", UNIT_COUNT, true},
    {"execution_count", "runs", UNIT_COUNT, true},
    {"self_ps", "self", UNIT_PS, true},
    {"text", "text", UNIT_TEXT, true},
    {"computation", "computation", UNIT_TEXT, false},
    {"instruction", "instruction", UNIT_TEXT, false},
};

void hlo_lines(const struct hlo_shown *shown, const struct page *page, struct table *ret)
{
    const struct hlo_module *module = shown->module;
    struct text text = {0};
    uint32_t first, end;

    *ret = empty_table(line_columns, COUNT(line_columns));
    struct cell *cells = open_page(page, module->line_count, shown->arena, ret, &first, &end);
    for (uint32_t line = first; line < end; line++, cells += COUNT(line_columns)) {
        uint32_t computation, instruction;

        hlo_put_line(&text, module, line, &computation, &instruction);
        cells[0] = cell_integer((int64_t)line + 1);
        cells[1] = cells[2] = cell_null(STR("")); /* why stands once, beside the module */
        cells[3] = cell_text(taken(&text, shown->arena));
        cells[4] = computation == HLO_NONE ? cell_null(STR(""))
                                           : name_cell(module->computations[computation].name);
        cells[5] = cell_null(STR(""));
        if (instruction == HLO_NONE)
            continue;
        cells[5] = name_cell(module->instructions[instruction].name);
        if (hlo_cost_of(shown->measure, module->instructions[instruction].name) != NULL)
            put_cost(shown, module->instructions[instruction].name, &cells[1]);
    }
    text_free(&text);
}

static const struct column computation_columns[] = {
    {"name", "computation", UNIT_TEXT, true},
    {"line", "line", UNIT_COUNT, true},
    {"instruction_count", "instructions", UNIT_COUNT, true},
    {"entry", "entry", UNIT_NONE, true},
    {"fused", "fused", UNIT_NONE, true},
    {"self_ps", "self", UNIT_PS, true},
};

void hlo_computations(const struct hlo_shown *shown, const struct page *page, struct table *ret)
{
    const struct hlo_module *module = shown->module;
    uint32_t first, end;

    *ret = empty_table(computation_columns, COUNT(computation_columns));
    struct cell *cells =
        open_page(page, module->computation_count, shown->arena, ret, &first, &end);
    for (uint32_t i = first; i < end; i++, cells += COUNT(computation_columns)) {
        const struct hlo_computation *computation = &module->computations[i];
        int64_t self_ps = 0;
        bool any = false;

        for (uint32_t k = 0; k < computation->count; k++) {
            const struct hlo_cost *cost =
                hlo_cost_of(shown->measure, module->instructions[computation->first + k].name);
            ps_add(&self_ps, cost != NULL ? cost->self_ps : 0);
            any |= cost != NULL;
        }
        cells[0] = name_cell(computation->name);
        cells[1] = cell_integer((int64_t)computation->line + 1);
        cells[2] = count_cell(computation->count);
        cells[3] = cell_bool(computation->is_entry);
        cells[4] = cell_bool(computation->is_fused);
        cells[5] = any ? cell_integer(self_ps)
                       : cell_null(shown->listed->is_measured
                                       ? STR("the profile holds no event of its instructions")
                                       : shown->listed->reason);
    }
}

static const struct column instruction_columns[] = {
    {"name", "instruction", UNIT_TEXT, true}, {"opcode", "opcode", UNIT_TEXT, true},
    {"shape", "shape", UNIT_TEXT, true},      {"execution_count", "runs", UNIT_COUNT, true},
    {"self_ps", "self", UNIT_PS, true},       {"scope", "scope", UNIT_TEXT, true},
    {"source", "source", UNIT_TEXT, true},    {"computation", "computation", UNIT_TEXT, false},
    {"line", "line", UNIT_COUNT, false},
};

static struct str source_text(const struct hlo_instruction *instruction, struct arena *arena)
{
    if (instruction->file.count == 0)
        return STR("");
    return instruction->source_line == 0
               ? instruction->file
               : str_format(arena, "%.*s:%llu", STR_ARG(instruction->file),
                            (unsigned long long)instruction->source_line);
}

static bool is_wanted(const struct hlo_instruction *instruction, struct str q, uint32_t computation)
{
    if (computation != HLO_NONE && instruction->computation != computation)
        return false;
    return q.count == 0 || str_contains_fold(instruction->name, q) ||
           str_contains_fold(instruction->opcode, q) || str_contains_fold(instruction->scope, q) ||
           str_contains_fold(instruction->file, q) || str_contains_fold(instruction->target, q);
}

static void put_instruction(const struct hlo_shown *shown, const struct hlo_instruction *of,
                            struct text *text, struct cell *cells)
{
    hlo_put_shape(text, shown->module, of->shape);
    cells[0] = name_cell(of->name);
    cells[1] = name_cell(of->opcode);
    cells[2] = name_cell(taken(text, shown->arena));
    put_cost(shown, of->name, &cells[3]);
    cells[5] = name_cell(of->scope);
    cells[6] = name_cell(source_text(of, shown->arena));
    cells[7] = name_cell(shown->module->computations[of->computation].name);
    cells[8] = cell_integer((int64_t)of->line + 1);
}

void hlo_instructions(const struct hlo_shown *shown, struct str q, uint32_t computation,
                      const struct page *page, struct table *ret)
{
    const struct hlo_module *module = shown->module;
    uint32_t *wanted = arena_array(shown->arena, uint32_t, module->instruction_count + 1);
    uint32_t count = 0, first, end;
    struct text text = {0};

    for (uint32_t i = 0; i < module->instruction_count; i++)
        if (is_wanted(&module->instructions[i], q, computation))
            wanted[count++] = i;
    *ret = empty_table(instruction_columns, COUNT(instruction_columns));
    struct cell *cells = open_page(page, count, shown->arena, ret, &first, &end);
    for (uint32_t i = first; i < end; i++, cells += COUNT(instruction_columns))
        put_instruction(shown, &module->instructions[wanted[i]], &text, cells);
    text_free(&text);
}

static const struct column allocation_columns[] = {
    {"index", "allocation", UNIT_COUNT, true},     {"size_bytes", "size", UNIT_BYTES, true},
    {"class", "class", UNIT_TEXT, true},           {"color", "memory space", UNIT_COUNT, true},
    {"value_count", "values", UNIT_COUNT, true},   {"parameter", "parameter", UNIT_COUNT, false},
    {"values", "largest values", UNIT_TEXT, true},
};

static struct str class_of(const struct hlo_allocation *allocation)
{
    if (allocation->is_parameter)
        return STR("parameter");
    if (allocation->is_live_out)
        return STR("output");
    if (allocation->is_thread_local)
        return STR("thread-local");
    return allocation->is_constant ? STR("constant") : STR("temporary");
}

/* "dot.63 (4096), add.2 (128)": the first few by size. */
static struct str largest_values(const struct hlo_shown *shown,
                                 const struct hlo_allocation *allocation)
{
    enum { SHOWN_MAX = 3 };
    const struct hlo_module *module = shown->module;
    const struct hlo_assigned *best[SHOWN_MAX] = {NULL};
    struct text text = {0};

    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        const struct hlo_assigned *assigned = &module->assigned[allocation->first_assigned + i];
        for (int k = 0; k < SHOWN_MAX; k++) {
            if (best[k] != NULL && best[k]->size_bytes >= assigned->size_bytes)
                continue;
            const struct hlo_assigned *moved = best[k];
            best[k] = assigned;
            assigned = moved;
            if (assigned == NULL)
                break;
        }
    }
    for (int k = 0; k < SHOWN_MAX && best[k] != NULL; k++) {
        const struct hlo_buffer *buffer = hlo_module_buffer(module, best[k]->buffer);
        struct str name = buffer == NULL || buffer->instruction == HLO_NONE
                              ? STR("?")
                              : module->instructions[buffer->instruction].name;
        text_putf(&text, "%s%.*s (%llu)", k > 0 ? ", " : "",
                  name.count > NAMED_MAX ? NAMED_MAX : (int)name.count, name.at,
                  (unsigned long long)best[k]->size_bytes);
    }
    struct str ret = str_copy(shown->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static int by_size(const void *a, const void *b, void *data)
{
    const struct hlo_module *module = data;
    const uint32_t *one = a, *other = b;
    uint64_t x = module->allocations[*one].size_bytes, y = module->allocations[*other].size_bytes;

    return x != y ? (x < y ? 1 : -1) : (*one > *other) - (*one < *other);
}

void hlo_allocations(const struct hlo_shown *shown, const struct page *page, struct table *ret)
{
    struct hlo_module module = *shown->module;
    uint32_t *order = arena_array(shown->arena, uint32_t, module.allocation_count + 1);
    uint32_t first, end;

    for (uint32_t i = 0; i < module.allocation_count; i++)
        order[i] = i;
    qsort_r(order, module.allocation_count, sizeof *order, by_size, &module);
    *ret = empty_table(allocation_columns, COUNT(allocation_columns));
    struct cell *cells = open_page(page, module.allocation_count, shown->arena, ret, &first, &end);
    for (uint32_t i = first; i < end; i++, cells += COUNT(allocation_columns)) {
        const struct hlo_allocation *allocation = &module.allocations[order[i]];

        cells[0] = count_cell(allocation->index);
        cells[1] = count_cell(allocation->size_bytes);
        cells[2] = cell_text(class_of(allocation));
        cells[3] = count_cell(allocation->color);
        cells[4] = count_cell(allocation->assigned_count);
        cells[5] = allocation->is_parameter
                       ? count_cell(allocation->parameter)
                       : cell_null(STR("it is not a parameter of the entry computation"));
        cells[6] = name_cell(largest_values(shown, allocation));
    }
}
