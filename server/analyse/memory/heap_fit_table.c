/* SPDX-License-Identifier: Apache-2.0 */
/* What a module needs, who holds it, and what would fit, as rows. */
#include "analyse/memory/heap_fit.h"

#include "analyse/memory/oom_columns.h"
#include "analyse/table.h"
#include "base/sort.h"

const struct column oom_columns[OOM_COLUMN_COUNT] = {
    [OOM_KIND] = {"row_kind", "kind", UNIT_TEXT, true},
    [OOM_WHAT] = {"what", "what", UNIT_TEXT, true},
    [OOM_BYTES] = {"bytes", "size", UNIT_BYTES, true},
    [OOM_SHARE] = {"share", "share", UNIT_SHARE, true},
    [OOM_LESS] = {"less_bytes", "less", UNIT_BYTES, true},
    [OOM_SCOPE] = {"scope", "scope", UNIT_TEXT, true},
    [OOM_SOURCE] = {"source", "source", UNIT_TEXT, true},
    [OOM_TEXT] = {"text", "what to do, or why not", UNIT_TEXT, true},
};

enum { NOW_ROWS = 5, HOLDERS_MAX = 1000 };

struct fit_rows {
    const struct hlo_module *module;
    const struct heap *heap;
    const struct fit *fit;
    uint32_t *holders; /* buffers of the heap, the largest first */
    uint32_t holder_count;
    struct arena *arena;
};

struct holder {
    int64_t bytes;
    uint32_t buffer;
};

static bool holds_more(const struct holder *a, const struct holder *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->buffer < b->buffer;
}
SORT_DEFINE(sort_holders, struct holder, holds_more)

static void find_holders(struct fit_rows *rows)
{
    struct holder *all = arena_array(rows->arena, struct holder, rows->heap->buffer_count + 1u);
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows->heap->buffer_count; i++)
        if (heap_is_alive(&rows->heap->buffers[i], rows->heap->peak_change))
            all[count++] = (struct holder){.bytes = rows->heap->buffers[i].bytes, .buffer = i};
    sort_holders(all, count);
    rows->holder_count = count < HOLDERS_MAX ? count : HOLDERS_MAX;
    rows->holders = arena_array(rows->arena, uint32_t, rows->holder_count + 1u);
    for (uint32_t i = 0; i < rows->holder_count; i++)
        rows->holders[i] = all[i].buffer;
}

static struct cell share_cell(const struct fit_rows *rows, int64_t bytes)
{
    return rows->fit->total > 0 ? cell_real((double)bytes / (double)rows->fit->total)
                                : cell_null(STR("the module needs no memory"));
}

static struct cell now_cell(const struct fit_rows *rows, uint32_t row, enum oom_column column)
{
    const struct {
        const char *what, *text;
        int64_t bytes;
    } now[NOW_ROWS] = {
        {"all", "The sum of the module's allocations, without constants.", rows->fit->total},
        {"arguments", "The inputs.", rows->fit->arguments},
        {"outputs", "The outputs that do not reuse the memory of an argument.", rows->fit->outputs},
        {"temporaries", "Temporary values.", rows->fit->temporaries},
        {"donated", "The arguments whose memory an output reuses.", rows->fit->donated},
    };

    switch (column) {
    case OOM_KIND:
        return cell_text(STR("now"));
    case OOM_WHAT:
        return cell_text(str_of(now[row].what));
    case OOM_BYTES:
        return cell_integer(now[row].bytes);
    case OOM_SHARE:
        return share_cell(rows, now[row].bytes);
    case OOM_TEXT:
        return cell_text(str_of(now[row].text));
    default:
        return cell_null(STR("it is a sum"));
    }
}

static struct str holder_name(const struct fit_rows *rows, const struct heap_buffer *buffer)
{
    struct text text = {0};

    text_putf(&text, "%s ", heap_class_word(buffer->class));
    if (buffer->instruction != HLO_NONE)
        text_putf(&text, "%.*s ", STR_ARG(rows->module->instructions[buffer->instruction].name));
    if (buffer->shape.count > 0)
        hlo_put_shape(&text, rows->module, buffer->shape);
    struct str ret = str_copy(rows->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static struct cell holder_cell(const struct fit_rows *rows, uint32_t row, enum oom_column column)
{
    static const struct hlo_instruction nothing = {0};
    const struct heap_buffer *buffer = &rows->heap->buffers[rows->holders[row]];
    const struct hlo_instruction *instruction =
        buffer->instruction == HLO_NONE ? &nothing
                                        : &rows->module->instructions[buffer->instruction];

    switch (column) {
    case OOM_KIND:
        return cell_text(STR("holder"));
    case OOM_WHAT:
        return cell_text(holder_name(rows, buffer));
    case OOM_BYTES:
        return cell_integer(buffer->bytes);
    case OOM_SHARE:
        return share_cell(rows, buffer->bytes);
    case OOM_SCOPE:
        return instruction->scope.count > 0 ? cell_text(instruction->scope)
                                            : cell_null(STR("the instruction has no scope"));
    case OOM_SOURCE:
        return instruction->file.count > 0
                   ? cell_text(str_format(rows->arena, "%.*s:%llu", STR_ARG(instruction->file),
                                          (unsigned long long)instruction->source_line))
                   : cell_null(STR("the instruction has no source"));
    default:
        return cell_null(STR("it is a buffer"));
    }
}

static struct cell option_cell(const struct fit_rows *rows, uint32_t row, enum oom_column column)
{
    const struct fit_option *option = &rows->fit->options[row];

    switch (column) {
    case OOM_KIND:
        return cell_text(STR("option"));
    case OOM_WHAT:
        return cell_text(str_of(option->what));
    case OOM_BYTES:
        return option->bytes >= 0 ? cell_integer(option->bytes) : cell_null(option->reason);
    case OOM_SHARE:
        return option->bytes >= 0 ? share_cell(rows, option->bytes) : cell_null(option->reason);
    case OOM_LESS:
        return option->bytes >= 0 ? cell_integer(rows->fit->total - option->bytes)
                                  : cell_null(option->reason);
    case OOM_TEXT:
        return cell_text(option->bytes >= 0
                             ? option->text
                             : str_format(rows->arena, "%.*s Cannot be said: %.*s.",
                                          STR_ARG(option->text), STR_ARG(option->reason)));
    default:
        return cell_null(STR("it is a change"));
    }
}

static struct cell fit_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct fit_rows *rows = data;

    if (row < NOW_ROWS)
        return now_cell(rows, row, (enum oom_column)column);
    row -= NOW_ROWS;
    return row < rows->fit->option_count
               ? option_cell(rows, row, (enum oom_column)column)
               : holder_cell(rows, row - rows->fit->option_count, (enum oom_column)column);
}

void fit_table(const struct hlo_module *module, const struct heap *heap, const struct fit *fit,
               const struct page *page, struct arena *arena, struct table *ret)
{
    struct fit_rows rows = {.module = module, .heap = heap, .fit = fit, .arena = arena};
    uint32_t *order;

    find_holders(&rows);

    struct table_source source = {.columns = oom_columns,
                                  .column_count = OOM_COLUMN_COUNT,
                                  .row_count = NOW_ROWS + fit->option_count + rows.holder_count,
                                  .cell = fit_cell,
                                  .data = &rows};

    *ret = (struct table){0};
    order = arena_array(arena, uint32_t, source.row_count + 1u);
    for (uint32_t i = 0; i < source.row_count; i++)
        order[i] = i;
    table_fill(&source, order, page, arena, ret);
}
