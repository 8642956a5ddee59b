/* SPDX-License-Identifier: Apache-2.0 */
/* What a query found, or why it failed, as a reply's body.
 *
 *   {"run": ..., "columns": [{"name": "sum(dur_ps)", "unit": "ps"}], "row_count": 1, "next": null,
 *    "rows": [{"sum(dur_ps)": 1200}], "scan_count": 12, "notes": [], "approx": []}
 *
 * Rows are objects by column name; a name that comes twice gets a number: "name", "name_2".
 */
#include <stdlib.h>

#include "base/distance.h"
#include "serve/answer/table_out.h"
#include "serve/sql/sql_parts.h"

static bool name_is_taken(const struct sql_result *result, struct str name)
{
    for (uint32_t i = 0; i < result->column_count; i++) {
        if (str_equal(str_of(result->columns[i].key), name))
            return true;
    }
    return false;
}

/* By the words of the contract, also inside of sum(...), min(...) and their like. */
static enum unit unit_of(struct str name)
{
    static const struct {
        const char *end;
        enum unit unit;
    } ends[] = {{"_ps", UNIT_PS},
                {"_bytes", UNIT_BYTES},
                {"share", UNIT_SHARE},
                {"_per_s", UNIT_PER_S},
                {"count", UNIT_COUNT}};
    static const char *const same[] = {"sum(", "min(", "max(", "avg(", "total("};
    bool inside = str_ends(name, STR(")"));
    bool keeps = !inside;

    if (str_starts(name, STR("count(")) || str_starts(name, STR("COUNT(")))
        return UNIT_COUNT;
    for (size_t i = 0; i < COUNT(same); i++)
        keeps |= str_starts(name, str_of(same[i]));
    if (!keeps)
        return UNIT_NONE;
    name.count -= inside;
    for (size_t i = 0; i < COUNT(ends); i++) {
        if (str_ends(name, str_of(ends[i].end)))
            return ends[i].unit;
    }
    return str_equal(name, STR("bytes")) ? UNIT_BYTES : UNIT_NONE;
}

static void take_columns(void *data, const struct str *names, uint32_t count)
{
    struct sql_result *result = data;

    for (uint32_t i = 0; i < count; i++) {
        struct str name = names[i];

        for (int again = 2; name_is_taken(result, name); again++)
            name = str_format(result->arena, "%.*s_%d", STR_ARG(names[i]), again);
        const char *key = str_c(result->arena, str_utf8(result->arena, name));
        result->columns[result->column_count++] =
            (struct column){.key = key, .title = key, .unit = unit_of(name), .by_default = true};
    }
}

static struct str hex_of(struct str blob, struct arena *arena)
{
    char *text = arena_alloc(arena, 2 * blob.count + 1, 1);

    for (size_t i = 0; i < blob.count; i++) {
        text[2 * i] = "0123456789abcdef"[(unsigned char)blob.at[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[blob.at[i] & 15];
    }
    return (struct str){.at = text, .count = 2 * blob.count};
}

static struct cell kept(const struct sql_value *value, struct arena *arena)
{
    switch (value->kind) {
    case SQL_IS_INTEGER:
        return (struct cell){.kind = CELL_INTEGER, .of.integer = value->integer};
    case SQL_IS_REAL:
        return (struct cell){.kind = CELL_REAL, .of.real = value->real};
    case SQL_IS_TEXT:
        return (struct cell){.kind = CELL_TEXT, .of.text = str_copy(arena, value->text)};
    case SQL_IS_BLOB:
        return (struct cell){.kind = CELL_TEXT, .of.text = hex_of(value->text, arena)};
    case SQL_IS_NULL:
        break;
    }
    return (struct cell){.kind = CELL_NULL};
}

static void take_row(void *data, const struct sql_value *values)
{
    struct sql_result *result = data;

    if (result->row_count == result->capacity) {
        result->capacity = result->capacity * 2 + 64;
        result->cells = memory_resize(result->cells, result->capacity * result->column_count,
                                      sizeof *result->cells);
    }
    for (uint32_t i = 0; i < result->column_count; i++)
        result->cells[result->row_count * result->column_count + i] =
            kept(&values[i], result->arena);
    result->row_count++;
}

struct sql_sink sql_result_sink(struct sql_result *result)
{
    return (struct sql_sink){.data = result, .columns = take_columns, .row = take_row};
}

void sql_result_free(struct sql_result *result)
{
    free(result->cells);
}

static const char *unit_word(enum unit unit)
{
    static const char *const words[] = {
        [UNIT_NONE] = "none",   [UNIT_PS] = "ps",       [UNIT_BYTES] = "bytes",
        [UNIT_COUNT] = "count", [UNIT_SHARE] = "share", [UNIT_PER_S] = "per_s",
        [UNIT_TEXT] = "text"};

    return words[unit];
}

static void put_columns(struct json *json, const struct sql_result *result)
{
    json_key(json, "columns");
    json_open(json, '[');
    for (uint32_t i = 0; i < result->column_count; i++) {
        json_open(json, '{');
        json_put_text(json, "name", str_of(result->columns[i].key));
        json_put_text(json, "unit", str_of(unit_word(result->columns[i].unit)));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_rows(struct json *json, const struct sql_result *result)
{
    const struct cell *cell = result->cells;

    json_key(json, "rows");
    json_open(json, '[');
    for (uint64_t row = 0; row < result->row_count; row++) {
        json_open(json, '{');
        for (uint32_t i = 0; i < result->column_count; i++) {
            json_key_text(json, str_of(result->columns[i].key));
            json_put_cell(json, cell++);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static struct str lost_message(uint32_t run_count, struct arena *arena)
{
    bool one = run_count == 1;

    return str_format(
        arena, "%u run%s not indexed, or hold%s no timeline: only `runs` and `metrics` show %s.",
        run_count, one ? " is" : "s are", one ? "s" : "", one ? "it" : "them");
}

static uint32_t notes_of(const struct sql_work *work, const struct sql_outcome *outcome,
                         struct answer_note *ret)
{
    uint32_t count = 0;

    if (outcome->cut != NULL)
        ret[count++] = (struct answer_note){
            .kind = "cut-off",
            .severity = NOTE_WARNING,
            .message =
                str_format(work->query_arena,
                           "There are more rows than these %llu: %s. Add LIMIT and OFFSET, "
                           "or group.",
                           (unsigned long long)outcome->row_count,
                           strcmp(outcome->cut, "rows") == 0 ? "that is the limit"
                                                             : "an answer may have at most 32 MiB"),
            .count = 1};
    if (work->lost_count > 0)
        ret[count++] =
            (struct answer_note){.kind = "runs-not-read",
                                 .severity = NOTE_WARNING,
                                 .message = lost_message(work->lost_count, work->query_arena),
                                 .count = work->lost_count};
    for (uint32_t i = 0; i < work->note_count; i++)
        ret[count++] = *work->notes[i];
    return count;
}

static void put_json(const struct sql_work *work, const struct sql_result *result,
                     const struct sql_outcome *outcome, struct str run_member, struct text *out)
{
    struct json json = json_into(out);
    struct answer_note notes[COUNT(work->notes) + 2];
    uint32_t note_count = notes_of(work, outcome, notes);
    const struct answer_note *list = notes;

    json_open(&json, '{');
    json_key(&json, "run");
    json_add_raw(&json, run_member);
    put_columns(&json, result);
    if (outcome->cut == NULL)
        json_put_unsigned(&json, "row_count", result->row_count);
    else
        json_put_null(&json, "row_count");
    json_put_null(&json, "next");
    put_rows(&json, result);
    json_put_unsigned(&json, "scan_count", outcome->scan_count);
    json_put_notes(&json, &list, &note_count, 1);
    json_key(&json, "reasons");
    json_open(&json, '{');
    if (outcome->cut != NULL)
        json_put_text(&json, "row_count", STR("there are more rows than requested"));
    json_close(&json, '}');
    json_close(&json, '}');
}

void sql_put_answer(const struct sql_work *work, const struct sql_result *result,
                    const struct sql_outcome *outcome, struct str format, struct str run_member,
                    struct text *out)
{
    const struct table table = {.columns = result->columns,
                                .column_count = result->column_count,
                                .cells = result->cells,
                                .row_count = (uint32_t)result->row_count,
                                .row_count_all = result->row_count};

    if (str_equal(format, STR("csv")))
        table_csv(out, &table);
    else if (str_equal(format, STR("md")))
        table_markdown(out, &table);
    else
        put_json(work, result, outcome, run_member, out);
}

/* Which table or column was meant, where a name was not found. */
static struct str nearest_of(const struct sql_table *tables, uint32_t table_count,
                             struct str message, struct arena *arena)
{
    bool is_table = str_starts(message, STR("no such table: "));
    unsigned least = 4;
    const char *nearest = NULL;

    if (!is_table && !str_starts(message, STR("no such column: ")))
        return STR("");
    struct str name = str_skip(message, is_table ? 15 : 16);
    const char *dot = name.count == 0 ? NULL : memrchr(name.at, '.', name.count);
    if (dot != NULL)
        name = str_skip(name, (size_t)(dot - name.at) + 1);
    for (uint32_t i = 0; i < table_count; i++) {
        for (uint32_t k = 0; k < (is_table ? 1 : tables[i].column_count); k++) {
            const char *known = is_table ? tables[i].name : tables[i].columns[k].name;
            unsigned distance = edit_distance(name, str_of(known));

            if (distance < least) {
                least = distance;
                nearest = known;
            }
        }
    }
    if (nearest == NULL)
        return STR("; the table `columns` lists all there are");
    return str_format(arena, "; the nearest is %s", nearest);
}

/* Lines and columns count from 1; columns are characters of UTF-8. */
static void place_in(struct str query, size_t place, uint32_t *ret_line, uint32_t *ret_column)
{
    *ret_line = *ret_column = 1;
    for (size_t i = 0; i < place && i < query.count; i++) {
        if (query.at[i] == '\n') {
            (*ret_line)++;
            *ret_column = 1;
        } else {
            *ret_column += ((unsigned char)query.at[i] & 0xc0) != 0x80;
        }
    }
}

void sql_put_problem(const struct sql_work *work, const struct sql_table *tables,
                     uint32_t table_count, struct str query, const struct sql_outcome *outcome,
                     const struct error *failure, int *ret_status, struct text *out)
{
    bool is_limit = failure->code == ERR_LIMIT;
    struct str message = str_of(failure->message);
    struct str nearest = nearest_of(tables, table_count, message, work->query_arena);
    uint32_t line, column;
    struct json json = json_into(out);

    *ret_status = is_limit ? 422 : failure->code == ERR_INVALID ? 400 : 500;
    place_in(query, outcome->place, &line, &column);
    json_open(&json, '{');
    json_put_text(&json, "type", is_limit ? STR("limit") : STR("bad-query"));
    json_put_text(&json, "title", str_of(http_reason(*ret_status)));
    json_put_integer(&json, "status", *ret_status);
    if (outcome->has_place)
        message = str_format(work->query_arena, "Line %u, column %u: %.*s%.*s.", line, column,
                             STR_ARG(message), STR_ARG(nearest));
    else
        message = str_format(work->query_arena, "%.*s%.*s.", STR_ARG(message), STR_ARG(nearest));
    json_put_text(&json, "detail", message);
    if (outcome->has_place) {
        json_key(&json, "at");
        json_open(&json, '{');
        json_put_unsigned(&json, "line", line);
        json_put_unsigned(&json, "column", column);
        json_put_unsigned(&json, "byte", outcome->place);
        json_close(&json, '}');
    }
    json_close(&json, '}');
}
