/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a table as JSON, CSV or Markdown. Facts: RFC 4180. */
#include "serve/answer/table_out.h"

#include <math.h>
#include <stdio.h>

#include "serve/answer/fields.h"
#include "trace/ps.h"

#define CUT_SUMS "the total exceeds 2^63 ps (106 days), the largest value that can be stored"

/* A cell of kinds stands as one column a kind in flat formats. */
static bool is_breakdown(const struct column *column)
{
    return strcmp(column->key, "breakdown") == 0;
}

static void put_kinds(struct json *json, const int64_t *kinds)
{
    json_open(json, '[');
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        json_open(json, '{');
        json_put_text(json, "kind", str_of(kind_word((enum kind)kind)));
        json_put_integer(json, "self_ps", kinds[kind]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_put_cell(struct json *json, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        json_add_null(json);
        break;
    case CELL_INTEGER:
        json_add_integer(json, cell->of.integer);
        break;
    case CELL_UNSIGNED:
        json_add_unsigned(json, cell->of.uint);
        break;
    case CELL_REAL:
        json_add_real(json, cell->of.real);
        break;
    case CELL_TEXT:
        json_add_text(json, cell->of.text);
        break;
    case CELL_BOOL:
        json_add_bool(json, cell->of.boolean);
        break;
    case CELL_KINDS:
        put_kinds(json, cell->of.kinds);
        break;
    }
}

static void put_reasons(struct json *json, const struct table *table, const struct cell *cells)
{
    json_key(json, "reasons");
    json_open(json, '{');
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (cells[i].kind == CELL_NULL && cells[i].of.text.count > 0)
            json_put_text(json, table->columns[i].key, cells[i].of.text);
    }
    json_close(json, '}');
}

void json_put_cells(struct json *json, const struct table *table, uint32_t row)
{
    const struct cell *cells = &table->cells[(size_t)row * table->column_count];

    for (uint32_t i = 0; i < table->column_count; i++) {
        json_key(json, table->columns[i].key);
        json_put_cell(json, &cells[i]);
    }
    put_reasons(json, table, cells);
}

void json_put_row_objects(struct json *json, const struct table *table)
{
    for (uint32_t row = 0; row < table->row_count; row++) {
        json_open(json, '{');
        json_put_cells(json, table, row);
        json_close(json, '}');
    }
}

void json_put_rows(struct json *json, const struct table *table)
{
    json_key(json, "rows");
    json_open(json, '[');
    json_put_row_objects(json, table);
    json_close(json, ']');
}

void json_put_approx(struct json *json, const struct table *table)
{
    json_key(json, "approx");
    json_open(json, '[');
    for (uint32_t i = 0; i < table->approx_count; i++)
        json_add_text(json, str_of(table->approx[i]));
    json_close(json, ']');
}

/* What of a run was asked for, as "name=dot.1 device=3"; "": all of it. */
static struct str filters_of(const struct request *req)
{
    static const char *const names[] = {"name", "scope", "q", "device", "track"};
    struct str ret = STR("");

    for (size_t i = 0; i < COUNT(names) && request_has(req, "run"); i++) {
        struct str value = request_text(req, names[i]);

        if (value.count > 0)
            ret = str_format(req->arena, "%.*s%s%s=%.*s", STR_ARG(ret), ret.count > 0 ? " " : "",
                             names[i], STR_ARG(str_utf8(req->arena, value)));
    }
    return ret;
}

uint32_t nothing_fits_note(const struct request *req, struct answer_note *ret)
{
    struct str filters = filters_of(req);

    *ret = (struct answer_note){
        .kind = "nothing-fits",
        .severity = NOTE_INFO,
        .message = str_format(req->arena, "nothing in the run matches %.*s", STR_ARG(filters)),
        .count = 1};
    return filters.count > 0;
}

/* The table; one that a filter left without rows, and that does not say why, says so. */
static const struct table *explained(const struct request *req, const struct table *table)
{
    struct answer_note *note = arena_new(req->arena, struct answer_note);
    struct table *ret = arena_new(req->arena, struct table);

    if (table->row_count_all > 0 || table->note_count > 0 || nothing_fits_note(req, note) == 0)
        return table;
    *ret = *table;
    ret->notes = note;
    ret->note_count = 1;
    return ret;
}

void json_put_table(struct json *json, const struct request *req, const struct table *given)
{
    const struct table *table = explained(req, given);
    uint32_t counts[2] = {0, table->note_count};
    const struct answer_note *lists[2] = {request_notes(req, &counts[0]), table->notes};

    if (req->keeping != NULL) {
        req->keep(req, text_str(json->out), table);
        return;
    }
    json_put_table_noted(json, lists, counts, table);
}

static bool holds_cut_sum(const struct table *table)
{
    bool ret = ps_is_cut(table->total_ps) || ps_is_cut(table->total_self_ps);

    for (uint32_t column = 0; column < table->column_count && !ret; column++)
        for (uint32_t row = 0; table->columns[column].unit == UNIT_PS && row < table->row_count;
             row++) {
            const struct cell *cell = &table->cells[(size_t)row * table->column_count + column];

            ret |= cell->kind == CELL_INTEGER && ps_is_cut(cell->of.integer);
        }
    return ret;
}

uint32_t table_cut_note(const struct table *table, const struct answer_note *notes, uint32_t count,
                        const struct answer_note **ret)
{
    static const struct answer_note cut = {
        .kind = "sums-cut",
        .severity = NOTE_WARNING,
        .message = {.at = CUT_SUMS, .count = sizeof CUT_SUMS - 1},
        .count = 1,
    };

    *ret = &cut;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(notes[i].kind, cut.kind) == 0)
            return 0;
    return holds_cut_sum(table);
}

void json_put_table_noted(struct json *json, const struct answer_note *const lists[2],
                          const uint32_t counts[2], const struct table *table)
{
    const struct answer_note *cut;
    const uint32_t all_counts[3] = {counts[0], counts[1],
                                    table_cut_note(table, lists[1], counts[1], &cut)};
    const struct answer_note *const all[3] = {lists[0], lists[1], cut};

    json_put_unsigned(json, "row_count", table->row_count_all);
    json_put_next(json, table->next);
    json_put_rows(json, table);
    json_put_notes(json, all, all_counts, 3);
    json_put_approx(json, table);
}

/* Spreadsheets run what begins like a formula; a quote in front makes it text again. */
static void put_csv_text(struct text *out, struct str value)
{
    bool formula = value.count > 0 && strchr("=+-@\t\r", value.at[0]) != NULL && value.at[0] != 0;
    bool quoted = false;

    for (size_t i = 0; i < value.count && !quoted; i++)
        quoted = value.at[i] != '\0' && strchr(",\"\r\n", value.at[i]) != NULL;
    if (!quoted) {
        text_puts(out, formula ? "'" : "");
        text_put(out, value.at, value.count);
        return;
    }
    text_puts(out, formula ? "\"'" : "\"");
    for (size_t i = 0; i < value.count; i++)
        text_put(out, value.at[i] == '"' ? "\"\"" : &value.at[i], value.at[i] == '"' ? 2 : 1);
    text_puts(out, "\"");
}

static void put_csv_kinds(struct text *out, const struct cell *cell)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        text_puts(out, kind > 0 ? "," : "");
        if (cell->kind == CELL_KINDS)
            text_putf(out, "%lld", (long long)cell->of.kinds[kind]);
    }
}

static void put_csv_cell(struct text *out, const struct column *column, const struct cell *cell,
                         struct arena *arena)
{
    struct json json = json_into(out);

    if (is_breakdown(column))
        put_csv_kinds(out, cell);
    else if (cell->kind == CELL_TEXT)
        put_csv_text(out, str_utf8(arena, cell->of.text));
    else if (cell->kind != CELL_NULL && !(cell->kind == CELL_REAL && !isfinite(cell->of.real)))
        json_put_cell(&json, cell);
}

void table_csv(struct text *out, const struct table *table)
{
    struct arena *arena = arena_create();

    for (uint32_t i = 0; i < table->column_count; i++) {
        text_puts(out, i > 0 ? "," : "");
        if (!is_breakdown(&table->columns[i])) {
            text_puts(out, table->columns[i].key);
            continue;
        }
        for (int kind = 0; kind <= KIND_COUNT; kind++)
            text_putf(out, "%s%s_ps", kind > 0 ? "," : "", kind_word((enum kind)kind));
    }
    text_puts(out, "\r\n");
    for (uint32_t row = 0; row < table->row_count; row++) {
        for (uint32_t i = 0; i < table->column_count; i++) {
            text_puts(out, i > 0 ? "," : "");
            put_csv_cell(out, &table->columns[i],
                         &table->cells[(size_t)row * table->column_count + i], arena);
        }
        text_puts(out, "\r\n");
    }
    arena_destroy(arena);
}

bool reply_table_text(const struct request *req, struct reply *reply, const struct table *given)
{
    const struct table *table = explained(req, given);
    bool csv = request_is(req, "format", "csv");

    if ((!csv && !request_is(req, "format", "md")) || req->keeping != NULL)
        return false;
    reply->status = 200;
    reply->type = csv ? "text/csv; charset=utf-8; header=present" : "text/markdown; charset=utf-8";
    if (csv)
        table_csv(&reply->body, table);
    else
        table_markdown(&reply->body, table);
    if (table->next > 0)
        reply_header(reply, STR("X-Jviewd-Next"),
                     str_format(req->arena, "n%llu", (unsigned long long)table->next));
    return true;
}

enum status reply_fields(const struct request *req, struct reply *reply, struct error *err)
{
    bool csv = request_is(req, "format", "csv");
    struct table table;

    if (!csv && !request_is(req, "format", "md"))
        return OK;
    TRY(fields_table(text_str(&reply->body), !csv, req->arena, &table, err));
    reply->body.count = 0;
    reply_table_text(req, reply, &table);
    return OK;
}
