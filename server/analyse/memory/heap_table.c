/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a module's plan as rows: those alive at the peak, at a position, or all. */
#include "analyse/memory/heap_parts.h"
#include "analyse/table.h"
#include "base/bisect.h"

enum heap_column {
    HEAP_COLUMN_NAME,
    HEAP_COLUMN_PART,
    HEAP_COLUMN_OPCODE,
    HEAP_COLUMN_SHAPE,
    HEAP_COLUMN_BYTES,
    HEAP_COLUMN_UNPADDED,
    HEAP_COLUMN_PADDING,
    HEAP_COLUMN_SHARE,
    HEAP_COLUMN_CLASS,
    HEAP_COLUMN_ALLOCATION,
    HEAP_COLUMN_OFFSET,
    HEAP_COLUMN_FIRST,
    HEAP_COLUMN_LAST,
    HEAP_COLUMN_SCOPE,
    HEAP_COLUMN_SOURCE,
    HEAP_COLUMN_AGAIN,
    HEAP_COLUMN_REUSE,
    HEAP_COLUMN_FROM_POINT,
    HEAP_COLUMN_TO_POINT,
    HEAP_COLUMN_COUNT,
};

static const struct column columns[] = {
    [HEAP_COLUMN_NAME] = {"name", "instruction", UNIT_TEXT, true},
    [HEAP_COLUMN_PART] = {"part", "part", UNIT_TEXT, false},
    [HEAP_COLUMN_OPCODE] = {"opcode", "opcode", UNIT_TEXT, true},
    [HEAP_COLUMN_SHAPE] = {"shape", "shape", UNIT_TEXT, true},
    [HEAP_COLUMN_BYTES] = {"bytes", "size", UNIT_BYTES, true},
    [HEAP_COLUMN_UNPADDED] = {"unpadded_bytes", "unpadded", UNIT_BYTES, false},
    [HEAP_COLUMN_PADDING] = {"padding_bytes", "padding", UNIT_BYTES, true},
    [HEAP_COLUMN_SHARE] = {"share", "share", UNIT_SHARE, true},
    [HEAP_COLUMN_CLASS] = {"class", "class", UNIT_TEXT, true},
    [HEAP_COLUMN_ALLOCATION] = {"allocation", "allocation", UNIT_COUNT, false},
    [HEAP_COLUMN_OFFSET] = {"offset", "offset", UNIT_COUNT, false},
    [HEAP_COLUMN_FIRST] = {"first", "from", UNIT_COUNT, true},
    [HEAP_COLUMN_LAST] = {"last", "to", UNIT_COUNT, true},
    [HEAP_COLUMN_SCOPE] = {"scope", "scope", UNIT_TEXT, true},
    [HEAP_COLUMN_SOURCE] = {"source", "source", UNIT_TEXT, true},
    [HEAP_COLUMN_AGAIN] = {"rematerialise", "computed again", UNIT_TEXT, false},
    [HEAP_COLUMN_REUSE] = {"reuse", "could take", UNIT_TEXT, false},
    [HEAP_COLUMN_FROM_POINT] = {"from_point", "from point", UNIT_COUNT, false},
    [HEAP_COLUMN_TO_POINT] = {"to_point", "to point", UNIT_COUNT, false},
};

struct heap_rows {
    const struct hlo_module *module;
    const struct heap *heap;
    const uint32_t *wanted;
    uint32_t count;
    struct arena *arena;
};

static struct cell known_text(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct str shape_text(const struct heap_rows *rows, const struct heap_buffer *buffer)
{
    struct text text = {0};

    if (buffer->shape.count > 0)
        hlo_put_shape(&text, rows->module, buffer->shape);
    struct str ret = str_copy(rows->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static struct str name_of(const struct heap_rows *rows, const struct heap_buffer *buffer)
{
    return buffer->instruction == HLO_NONE ? STR("")
                                           : rows->module->instructions[buffer->instruction].name;
}

static struct cell instruction_cell(const struct heap_rows *rows, const struct heap_buffer *buffer,
                                    enum heap_column column)
{
    static const struct hlo_instruction nothing = {0};
    const struct hlo_instruction *instruction =
        buffer->instruction == HLO_NONE ? &nothing
                                        : &rows->module->instructions[buffer->instruction];

    if (column == HEAP_COLUMN_OPCODE)
        return known_text(instruction->opcode, "the file does not name the instruction");
    if (column == HEAP_COLUMN_SCOPE)
        return known_text(instruction->scope, "the instruction has no scope");
    if (instruction->file.count == 0)
        return cell_null(STR("the instruction has no source"));
    return cell_text(str_format(rows->arena, "%.*s:%llu", STR_ARG(instruction->file),
                                (unsigned long long)instruction->source_line));
}

static struct cell advice_cell(const struct heap_rows *rows, const struct heap_buffer *buffer,
                               enum heap_column column)
{
    if (column == HEAP_COLUMN_AGAIN)
        return buffer->could_rematerialise
                   ? cell_text(str_format(rows->arena,
                                          "cheap; made %u instructions before the peak, last used "
                                          "%u after",
                                          buffer->producer_distance, buffer->user_distance))
                   : cell_null(STR("it is not a candidate"));
    if (buffer->reuses == HLO_NONE)
        return cell_null(STR("it is not an output with the shape of an unused input"));
    return known_text(name_of(rows, &rows->heap->buffers[buffer->reuses]), "the input has no name");
}

/* The first or last of the chart's points at which it is alive: those stand where their box of the
 * program is fullest, so the buffers alive at one sum to its bytes. */
static struct cell point_cell(const struct heap *heap, const struct heap_buffer *buffer, bool first)
{
    uint32_t from =
        BISECT(0, heap->point_count, i, heap->change_at[heap->points[i].position] < buffer->begin);
    uint32_t end =
        BISECT(from, heap->point_count, i, heap->change_at[heap->points[i].position] < buffer->end);

    return from < end ? cell_integer(first ? from : end - 1)
                      : cell_null(STR("it is not in memory at any of these points"));
}

static struct cell heap_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct heap_rows *rows = data;
    const struct heap_buffer *buffer = &rows->heap->buffers[rows->wanted[row]];

    switch ((enum heap_column)column) {
    case HEAP_COLUMN_NAME:
        return known_text(name_of(rows, buffer), "the file does not name the instruction");
    case HEAP_COLUMN_PART:
        return known_text(buffer->part, "the whole value of the instruction");
    case HEAP_COLUMN_SHAPE:
        return known_text(shape_text(rows, buffer), "the file does not state the shape");
    case HEAP_COLUMN_BYTES:
        return cell_integer(buffer->bytes);
    case HEAP_COLUMN_UNPADDED:
        return buffer->unpadded >= 0 ? cell_integer(buffer->unpadded)
                                     : cell_null(STR("the file does not state the shape"));
    case HEAP_COLUMN_PADDING:
        return buffer->unpadded >= 0 ? cell_integer(buffer->bytes - buffer->unpadded)
                                     : cell_null(STR("the file does not state the shape"));
    case HEAP_COLUMN_SHARE:
        return rows->heap->peak_bytes > 0
                   ? cell_real((double)buffer->bytes / (double)rows->heap->peak_bytes)
                   : cell_null(STR("the module needs no memory"));
    case HEAP_COLUMN_CLASS:
        return cell_text(str_of(heap_class_word(buffer->class)));
    case HEAP_COLUMN_ALLOCATION:
        return cell_integer(
            (int64_t)rows->module->allocations[buffer->allocation].index); /* as the file counts */
    case HEAP_COLUMN_OFFSET:
        return cell_integer((int64_t)buffer->offset);
    case HEAP_COLUMN_FIRST:
        return cell_integer(buffer->first);
    case HEAP_COLUMN_LAST:
        return cell_integer(buffer->last);
    case HEAP_COLUMN_OPCODE:
    case HEAP_COLUMN_SCOPE:
    case HEAP_COLUMN_SOURCE:
        return instruction_cell(rows, buffer, column);
    case HEAP_COLUMN_AGAIN:
    case HEAP_COLUMN_REUSE:
        return advice_cell(rows, buffer, column);
    case HEAP_COLUMN_FROM_POINT:
    case HEAP_COLUMN_TO_POINT:
        return point_cell(rows->heap, buffer, column == HEAP_COLUMN_FROM_POINT);
    case HEAP_COLUMN_COUNT:
        break;
    }
    return cell_null(STR(""));
}

/* The change after which the position is fullest. */
static uint32_t change_of(const struct heap *heap, const struct heap_question *question)
{
    if (!question->has_position)
        return heap->peak_change;
    return heap->change_at[question->position < heap->position_count ? question->position
                                                                     : heap->position_count - 1];
}

enum status heap_table(const struct hlo_module *module, const struct heap *heap,
                       const struct heap_question *question, const struct page *page,
                       struct arena *arena, struct table *ret, int64_t *ret_bytes,
                       struct error *err)
{
    uint32_t *wanted = arena_array(arena, uint32_t, heap->buffer_count + 1u), *order;
    uint32_t change = change_of(heap, question);
    struct heap_rows rows = {.module = module, .heap = heap, .wanted = wanted, .arena = arena};

    *ret = (struct table){0};
    *ret_bytes = 0;
    for (uint32_t i = 0; i < heap->buffer_count; i++) {
        if (!question->all && !heap_is_alive(&heap->buffers[i], change))
            continue;
        wanted[rows.count++] = i;
        if (*ret_bytes < INT64_MAX - heap->buffers[i].bytes)
            *ret_bytes += heap->buffers[i].bytes;
    }

    struct table_source source = {.columns = columns,
                                  .column_count = HEAP_COLUMN_COUNT,
                                  .row_count = rows.count,
                                  .cell = heap_cell,
                                  .data = &rows};

    TRY(table_order(&source, page->sort, "-bytes,first", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    return OK;
}
