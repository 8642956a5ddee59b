/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the columns of a view in the table that its analysis made. */
#include "serve/answer/view_cells.h"

#include <jansson.h>

enum { KIND_PLACE = 1 << 16 /* + kind: in the cell of kinds */ };

static bool column_of(const struct table *table, const char *name, uint32_t *ret)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, name) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static uint32_t kind_place(const struct table *table, const char *name)
{
    uint32_t ignored;

    for (int kind = 0; column_of(table, "breakdown", &ignored) && kind <= KIND_COUNT; kind++) {
        size_t size = strlen(kind_word((enum kind)kind));

        if (strncmp(name, kind_word((enum kind)kind), size) == 0 && strcmp(name + size, "_ps") == 0)
            return KIND_PLACE + (uint32_t)kind;
    }
    return VIEW_NO_PLACE;
}

uint32_t view_place(const struct table *table, const char *name)
{
    uint32_t ret;

    return column_of(table, name, &ret) ? ret : kind_place(table, name);
}

struct cell view_cell(const struct table *table, uint32_t row, uint32_t place)
{
    const struct cell *cells = &table->cells[(size_t)row * table->column_count];
    struct cell ret = {.kind = CELL_NULL};
    uint32_t kinds;

    if (place < KIND_PLACE)
        return cells[place];
    if (place == VIEW_NO_PLACE || !column_of(table, "breakdown", &kinds))
        return ret;
    if (cells[kinds].kind == CELL_KINDS)
        ret = (struct cell){.kind = CELL_INTEGER,
                            .of.integer = cells[kinds].of.kinds[place - KIND_PLACE]};
    else if (cells[kinds].kind == CELL_NULL)
        ret.of.text = cells[kinds].of.text;
    return ret;
}

static struct str text_of(const json_t *value)
{
    return (struct str){.at = json_string_value(value), .count = json_string_length(value)};
}

static struct cell joined(const json_t *list, struct arena *arena)
{
    struct str ret = STR("");
    const json_t *part;
    size_t i;

    json_array_foreach(list, i, part)
    {
        struct str text = text_of(part);

        ret = str_format(arena, "%.*s%s%.*s", STR_ARG(ret), i > 0 ? " " : "", STR_ARG(text));
    }
    return (struct cell){.kind = CELL_TEXT, .of.text = ret};
}

struct cell json_cell(const json_t *value, struct arena *arena)
{
    switch (value == NULL ? JSON_NULL : json_typeof(value)) {
    case JSON_STRING:
        return (struct cell){.kind = CELL_TEXT, .of.text = text_of(value)};
    case JSON_INTEGER:
        return (struct cell){.kind = CELL_INTEGER, .of.integer = json_integer_value(value)};
    case JSON_REAL:
        return (struct cell){.kind = CELL_REAL, .of.real = json_real_value(value)};
    case JSON_TRUE:
    case JSON_FALSE:
        return (struct cell){.kind = CELL_BOOL, .of.boolean = json_is_true(value)};
    case JSON_ARRAY:
        return joined(value, arena);
    default:
        return (struct cell){.kind = CELL_NULL};
    }
}
