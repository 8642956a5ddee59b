/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a JSON answer, and makes a table of its fields. */
#include "serve/answer/fields.h"

#include <stdlib.h>

#include "analyse/table.h"
#include "base/human.h"
#include "decode/json/json_scan.h"

enum { COLUMNS = 2, DEPTH_MAX = 32 };

static const struct column columns[COLUMNS] = {{"field", "field", UNIT_TEXT, true},
                                               {"value", "value", UNIT_TEXT, true}};

struct fields {
    struct arena *arena;
    bool humanised;
    struct cell *cells;
    uint32_t count, capacity; /* rows */
};

static void add(struct fields *fields, struct str field, struct cell value)
{
    if (fields->count == fields->capacity) {
        uint32_t capacity = fields->capacity == 0 ? 64 : 2 * fields->capacity;
        struct cell *more = arena_array(fields->arena, struct cell, (size_t)capacity * COLUMNS);

        if (fields->count > 0)
            memcpy(more, fields->cells, (size_t)fields->count * COLUMNS * sizeof *more);
        fields->cells = more;
        fields->capacity = capacity;
    }
    fields->cells[(size_t)fields->count * COLUMNS] = cell_text(field);
    fields->cells[(size_t)fields->count * COLUMNS + 1] = value;
    fields->count++;
}

static struct str unescaped(struct fields *fields, struct str raw)
{
    char *room = arena_alloc(fields->arena, raw.count + 1, 1);

    return (struct str){.at = room, .count = json_unescape(raw, room)};
}

/* As prose has it, where the field's name tells what it is. */
static bool human(struct str field, const struct cell *number, struct human *ret)
{
    if (str_ends(field, STR("_ps")) && number->kind == CELL_INTEGER)
        *ret = human_ps(number->of.integer);
    else if (str_ends(field, STR("bytes")) && number->kind == CELL_INTEGER &&
             number->of.integer >= 0)
        *ret = human_bytes((uint64_t)number->of.integer);
    else if (str_ends(field, STR("share")) && number->kind == CELL_REAL)
        *ret = human_share(number->of.real);
    else
        return false;
    return true;
}

static struct cell number_cell(struct fields *fields, struct str field, struct str text)
{
    struct cell cell;
    struct human words;
    int64_t integer;
    uint64_t natural;

    if (str_to_i64(text, &integer))
        cell = cell_integer(integer);
    else if (str_to_u64(text, &natural))
        cell = (struct cell){.kind = CELL_UNSIGNED, .of.uint = natural};
    else
        cell = cell_real(strtod(str_c(fields->arena, text), NULL));
    if (!fields->humanised || !human(field, &cell, &words))
        return cell;
    return cell_text(str_copy(fields->arena, str_of(words.text)));
}

static struct cell plain_cell(struct fields *fields, struct str field,
                              const struct json_value *value)
{
    if (value->kind == JSON_STRING)
        return cell_text(unescaped(fields, value->text));
    if (value->kind == JSON_NUMBER)
        return number_cell(fields, field, value->text);
    if (value->kind == JSON_NAMED && str_equal(value->text, STR("true")))
        return cell_bool(true);
    if (value->kind == JSON_NAMED && str_equal(value->text, STR("false")))
        return cell_bool(false);
    return cell_null(STR(""));
}

static void add_value(struct fields *fields, struct str field, struct json_value value, int depth);

static uint32_t add_members(struct fields *fields, struct str field, struct json_value value,
                            int depth)
{
    struct json inside = json_inside(value, '{');
    struct str key;
    uint32_t count = 0;

    for (bool first = true; json_next_key(&inside, &first, &key); count++) {
        struct str name = unescaped(fields, key);

        add_value(fields,
                  field.count == 0
                      ? name
                      : str_format(fields->arena, "%.*s.%.*s", STR_ARG(field), STR_ARG(name)),
                  json_value(&inside), depth + 1);
    }
    return count;
}

static uint32_t add_items(struct fields *fields, struct str field, struct json_value value,
                          int depth)
{
    struct json inside = json_inside(value, '[');
    uint32_t count = 0;

    for (bool first = true; json_next_item(&inside, &first); count++)
        add_value(fields, str_format(fields->arena, "%.*s[%u]", STR_ARG(field), count),
                  json_value(&inside), depth + 1);
    return count;
}

static void add_value(struct fields *fields, struct str field, struct json_value value, int depth)
{
    uint32_t parts = 0;

    if (value.kind == JSON_OBJECT && depth < DEPTH_MAX)
        parts = add_members(fields, field, value, depth);
    else if (value.kind == JSON_ARRAY && depth < DEPTH_MAX)
        parts = add_items(fields, field, value, depth);
    if (parts == 0)
        add(fields, field, plain_cell(fields, field, &value));
}

enum status fields_table(struct str answer, bool humanised, struct arena *arena, struct table *ret,
                         struct error *err)
{
    struct fields fields = {.arena = arena, .humanised = humanised};
    char *room;
    struct json json = json_over(answer, &room);
    struct json_value value = json_value(&json);

    if (value.kind == JSON_OBJECT)
        add_members(&fields, STR(""), value, 0);
    free(room);
    if (value.kind != JSON_OBJECT)
        return fail(err, ERR_FORMAT, "the answer is not an object");
    *ret = (struct table){.columns = columns,
                          .column_count = COLUMNS,
                          .cells = fields.cells,
                          .row_count = fields.count,
                          .row_count_all = fields.count};
    return OK;
}
