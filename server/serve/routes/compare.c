/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/compare?runs=A,B,C: any number of runs side by side, one column each. */
#include "analyse/compare/compare.h"

#include "analyse/table.h"
#include "base/human.h"
#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/kept/side.h"
#include "serve/routes.h"

enum { OPS_DEFAULT = 20 };

static const struct param params[] = {
    {.name = "runs", .kind = PARAM_TEXTS, .required = true},
    {.name = "ops", .kind = PARAM_INTEGER, .min = 0, .max = COMPARE_OPS_MAX},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    PARAMS_FORMAT,
    {.name = NULL},
};

struct compared {
    const struct asked_side *sides;
    const struct run_record *const *records;
    uint32_t count;
    struct comparison comparison;
};

static const char *unit_word(enum unit unit)
{
    return unit == UNIT_PS      ? "ps"
           : unit == UNIT_BYTES ? "bytes"
           : unit == UNIT_TEXT  ? "text"
                                : "count";
}

static enum status read_sides(struct request *req, struct compared *ret, struct error *err)
{
    struct asked_side *sides = arena_array(req->arena, struct asked_side, COMPARE_RUNS_MAX);
    const struct run_record **records =
        arena_array(req->arena, const struct run_record *, COMPARE_RUNS_MAX);
    struct str rest = request_text(req, "runs"), text;

    for (ret->count = 0; list_next(&rest, &text); ret->count++) {
        if (ret->count == COMPARE_RUNS_MAX)
            return fail(err, ERR_INVALID, "at most %d runs at once", COMPARE_RUNS_MAX);
        TRY(request_side_of(req, text, &sides[ret->count], err));
        TRY(request_run(req, &records[ret->count], err));
    }
    struct asked_side **order = arena_array(req->arena, struct asked_side *, ret->count);
    for (uint32_t i = 0; i < ret->count; i++)
        order[i] = &sides[i];
    sides_tell_apart(order, ret->count, req->arena);
    ret->sides = sides;
    ret->records = records;
    return OK;
}

static enum status compare(struct request *req, struct compared *ret, struct error *err)
{
    uint32_t ops = (uint32_t)request_integer(req, "ops", OPS_DEFAULT);

    TRY(read_sides(req, ret, err));
    struct diff_side *sides = arena_array(req->arena, struct diff_side, ret->count);
    for (uint32_t i = 0; i < ret->count; i++)
        sides[i] = ret->sides[i].side;
    return compare_runs(sides, ret->count, ops, req->arena, &ret->comparison, err);
}

static const struct compare_row *find_row(const struct compared *compared, const char *group,
                                          const char *key)
{
    const struct comparison *comparison = &compared->comparison;

    for (uint32_t i = 0; i < comparison->row_count; i++) {
        if (strcmp(comparison->rows[i].group, group) == 0 &&
            str_equal(comparison->rows[i].key, str_of(key)))
            return &comparison->rows[i];
    }
    return NULL;
}

static struct str sentence_of(const struct compared *compared, struct arena *arena)
{
    const struct compare_row *row = find_row(compared, "step", "median");
    const char *what = compared->comparison.by_steps ? "median step" : "capture";
    uint32_t most = 0;

    if (row->best == COMPARE_NO_BEST)
        return str_format(arena, "%u run%s; the %s is %s in %s.", compared->count,
                          compared->count == 1 ? "" : "s", what,
                          human_ps(row->values[0].of.integer).text,
                          compared->count == 1 ? "it" : "each");
    for (uint32_t i = 1; i < compared->count; i++)
        most = row->values[i].of.integer > row->values[most].of.integer ? i : most;
    int64_t least_ps = row->values[row->best].of.integer, most_ps = row->values[most].of.integer;
    struct str times = least_ps > 0
                           ? str_format(arena, " (%.2f times)", (double)most_ps / (double)least_ps)
                           : STR("");
    return str_format(
        arena, "Of %u runs %.*s has the shortest %s, %s; %.*s has the longest, %s%.*s.",
        compared->count, STR_ARG(compared->sides[row->best].called), what, human_ps(least_ps).text,
        STR_ARG(compared->sides[most].called), human_ps(most_ps).text, STR_ARG(times));
}

static void put_run_column(struct json *json, struct request *req, const struct compared *compared,
                           uint32_t run)
{
    const struct run_record *record = compared->records[run];
    const struct diff_measured *told = &compared->comparison.sides[run];

    json_open(json, '{');
    json_put_text(json, "id", record->id);
    json_put_text(json, "name", record->name);
    json_put_text(json, "called", compared->sides[run].called);
    json_put_text_or_null(json, "started_at", run_started_at(req->arena, record));
    json_put_text_or_null(json, "framework", record->framework);
    json_put_text_or_null(json, "device_kind", record->device_kind);
    json_key(json, "device_count");
    if (record->device_count_known)
        json_add_unsigned(json, record->device_count);
    else
        json_add_null(json);
    json_put_unsigned(json, "host_count", record->host_count);
    json_put_unsigned(json, "step_count", told->step_count);
    json_put_unsigned(json, "warmup_count", told->warmup_count);
    json_put_unsigned(json, "cut_count", told->cut_count);
    json_put_text(json, "basis", told->basis);
    json_close(json, '}');
}

static void put_value(struct json *json, const struct cell *cell)
{
    if (cell->kind == CELL_INTEGER)
        json_add_integer(json, cell->of.integer);
    else if (cell->kind == CELL_TEXT)
        json_add_text(json, cell->of.text);
    else
        json_add_null(json);
}

/* "reasons": by the run's ordinal, of those that are null. */
static void put_reasons(struct json *json, const struct compare_row *row, uint32_t count)
{
    json_key(json, "reasons");
    json_open(json, '{');
    for (uint32_t i = 0; i < count; i++) {
        char key[12];

        if (row->values[i].kind != CELL_NULL)
            continue;
        json_key_text(json, (struct str){.at = key, .count = unsigned_digits(i, key)});
        json_add_text(json, row->values[i].of.text);
    }
    json_close(json, '}');
}

static void put_row(struct json *json, const struct compare_row *row, uint32_t count)
{
    json_open(json, '{');
    json_put_text(json, "group", str_of(row->group));
    json_put_text(json, "key", row->key);
    json_put_text_or_null(json, "scope", row->scope);
    json_put_text_or_null(json, "module", row->module);
    json_put_text(json, "unit", str_of(unit_word(row->unit)));
    json_key(json, "values");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++)
        put_value(json, &row->values[i]);
    json_close(json, ']');
    json_key(json, "best");
    if (row->best == COMPARE_NO_BEST)
        json_add_null(json);
    else
        json_add_integer(json, row->best);
    put_reasons(json, row, count);
    json_close(json, '}');
}

/* What two machines differ by is no merit of a program. */
static const struct answer_note *notes_of(struct request *req, const struct compared *compared,
                                          uint32_t *ret_count)
{
    struct answer_note *notes = arena_array(req->arena, struct answer_note, 2);
    const struct run_record *first = compared->records[0];
    uint32_t others = 0;

    *ret_count = 0;
    for (uint32_t i = 1; i < compared->count; i++) {
        const struct run_record *run = compared->records[i];

        others += run->device_count != first->device_count ||
                  run->host_count != first->host_count ||
                  !str_equal(run->device_kind, first->device_kind);
    }
    if (others > 0)
        notes[(*ret_count)++] = (struct answer_note){
            .kind = "other-devices",
            .severity = NOTE_WARNING,
            .message = str_format(req->arena,
                                  "%u of the runs have other devices, or a different number of "
                                  "devices or hosts, than %.*s.",
                                  others, STR_ARG(first->name)),
            .count = others};
    if (!compared->comparison.by_steps)
        notes[(*ret_count)++] =
            (struct answer_note){.kind = "no-steps",
                                 .severity = NOTE_INFO,
                                 .message = STR("Not every run has steps: the captures are "
                                                "compared, each as one."),
                                 .count = 1};
    return notes;
}

static void put_json(struct request *req, struct reply *reply, const struct compared *compared)
{
    const struct comparison *comparison = &compared->comparison;
    struct json json = reply_json(reply);
    uint32_t note_count;
    const struct answer_note *notes = notes_of(req, compared, &note_count);

    json_open(&json, '{');
    json_put_text(&json, "sentence", sentence_of(compared, req->arena));
    json_put_text(&json, "of", comparison->by_steps ? STR("steps") : STR("captures"));
    json_key(&json, "runs");
    json_open(&json, '[');
    for (uint32_t i = 0; i < compared->count; i++)
        put_run_column(&json, req, compared, i);
    json_close(&json, ']');
    json_put_unsigned(&json, "op_count", comparison->op_count);
    json_key(&json, "rows");
    json_open(&json, '[');
    for (uint32_t i = 0; i < comparison->row_count; i++)
        put_row(&json, &comparison->rows[i], compared->count);
    json_close(&json, ']');
    json_put_unsigned(&json, "row_count", comparison->row_count);
    json_put_null(&json, "next");
    json_put_notes(&json, &notes, &note_count, 1);
    json_close(&json, '}');
}

/* A line a figure and run: what programs read. */
static struct table tidy_table(struct request *req, const struct compared *compared)
{
    static const struct column columns[] = {
        {"group", "group", UNIT_TEXT, true},  {"key", "figure", UNIT_TEXT, true},
        {"scope", "scope", UNIT_TEXT, true},  {"unit", "unit", UNIT_TEXT, true},
        {"id", "id", UNIT_TEXT, true},        {"run", "run", UNIT_TEXT, true},
        {"value", "value", UNIT_NONE, true},  {"best", "best", UNIT_NONE, true},
        {"module", "module", UNIT_TEXT, true}};
    const struct comparison *comparison = &compared->comparison;
    uint32_t rows = comparison->row_count * compared->count;
    struct cell *cells = arena_array(req->arena, struct cell, (size_t)rows * COUNT(columns));

    for (uint32_t i = 0; i < rows; i++) {
        const struct compare_row *row = &comparison->rows[i / compared->count];
        uint32_t run = i % compared->count;
        const struct cell line[COUNT(columns)] = {cell_text(str_of(row->group)),
                                                  cell_text(row->key),
                                                  cell_text(row->scope),
                                                  cell_text(str_of(unit_word(row->unit))),
                                                  cell_text(compared->records[run]->id),
                                                  cell_text(compared->sides[run].called),
                                                  row->values[run],
                                                  cell_bool(row->best == (int32_t)run),
                                                  cell_text(row->module)};

        memcpy(&cells[(size_t)i * COUNT(columns)], line, sizeof line);
    }
    return (struct table){.columns = columns,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = rows,
                          .row_count_all = rows};
}

static struct cell shown_cell(const struct compare_row *row, uint32_t run, struct arena *arena)
{
    const struct cell *value = &row->values[run];
    const char *mark = row->best == (int32_t)run ? " \xe2\x97\x82" : "";

    if (value->kind != CELL_INTEGER)
        return *value;
    int64_t number = value->of.integer;
    struct human human = row->unit == UNIT_PS      ? human_ps(number)
                         : row->unit == UNIT_BYTES ? human_bytes((uint64_t)number)
                                                   : human_count((uint64_t)number);
    return cell_text(str_format(arena, "%s%s", human.text, mark));
}

/* A column a run: what people read. */
static struct table shown_table(struct request *req, const struct compared *compared)
{
    const struct comparison *comparison = &compared->comparison;
    uint32_t scope = compared->count + 1, module = scope + 1, width = module + 1;
    struct column *columns = arena_array(req->arena, struct column, width);
    struct cell *cells =
        arena_array(req->arena, struct cell, (size_t)comparison->row_count * width);

    columns[0] = (struct column){"name", "figure", UNIT_TEXT, true};
    columns[scope] = (struct column){"scope", "scope", UNIT_TEXT, true};
    columns[module] = (struct column){"module", "module", UNIT_TEXT, false};
    for (uint32_t run = 0; run < compared->count; run++)
        columns[run + 1] = (struct column){"value", str_c(req->arena, compared->sides[run].called),
                                           UNIT_TEXT, true};
    for (uint32_t i = 0; i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        struct cell *line = &cells[(size_t)i * width];

        line[0] = cell_text(str_format(req->arena, "%s %.*s", row->group, STR_ARG(row->key)));
        for (uint32_t run = 0; run < compared->count; run++)
            line[run + 1] = shown_cell(row, run, req->arena);
        line[scope] = cell_text(row->scope);
        line[module] = cell_text(row->module);
    }
    return (struct table){.columns = columns,
                          .column_count = width,
                          .cells = cells,
                          .row_count = comparison->row_count,
                          .row_count_all = comparison->row_count};
}

static enum status get_compare(struct request *req, struct reply *reply, struct error *err)
{
    struct compared compared = {0};

    TRY(compare(req, &compared, err));
    struct table table =
        request_is(req, "format", "csv") ? tidy_table(req, &compared) : shown_table(req, &compared);
    table.notes = notes_of(req, &compared, &table.note_count);
    if (!reply_table_text(req, reply, &table))
        put_json(req, reply, &compared);
    return OK;
}

static const struct verb verb = {
    .name = "compare",
    .summary = "any number of runs side by side, the best of each figure marked",
    .operands = "A B C...",
    .many_runs = true};

const struct route route_compare = {.method = "GET",
                                    .path = "/api/compare",
                                    .handle = get_compare,
                                    .params = params,
                                    .heavy = true,
                                    .age = AGE_CATALOG,
                                    .verb = &verb};
