/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/runs: every run, newest first. */
#include <time.h>

#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    {.name = "path", .kind = PARAM_TEXT},
    {.name = "state",
     .kind = PARAM_WORD,
     .words = "writing|queued|indexing|ready|partial|failed|gone"},
    {.name = "q", .kind = PARAM_TEXT},
    {.name = "sort", .kind = PARAM_TEXT, .max = 64},
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = NULL},
};

static void put_scan(struct json *json, struct scan_state scan, const char *directory)
{
    json_key(json, "scan");
    json_open(json, '{');
    json_put_text(json, "state", scan.active ? STR("scanning") : STR("idle"));
    json_put_unsigned(json, "directories", scan.directories);
    json_put_unsigned(json, "files", scan.files);
    json_put_text(json, "directory", str_of(directory));
    json_close(json, '}');
}

static const struct column columns[] = {
    {"id", "id", UNIT_TEXT, false},
    {"name", "run", UNIT_TEXT, true},
    {"state", "state", UNIT_TEXT, true},
    {"started_at", "started", UNIT_TEXT, true},
    {"duration_ps", "duration", UNIT_PS, true},
    {"hosts", "hosts", UNIT_TEXT, true},
    {"device_count", "devices", UNIT_COUNT, true},
    {"device_kind", "device", UNIT_TEXT, true},
    {"framework", "framework", UNIT_TEXT, false},
    {"formats", "formats", UNIT_TEXT, false},
    {"file_count", "files", UNIT_COUNT, false},
    {"file_bytes", "size", UNIT_BYTES, true},
    {"slice_count", "slices", UNIT_COUNT, true},
    {"step_count", "steps", UNIT_COUNT, true},
    {"step_median_ps", "median step", UNIT_PS, true},
    {"error", "error", UNIT_TEXT, false},
    {"title", "title", UNIT_TEXT, false}, /* shown where some run has one */
};

static struct cell text_cell(struct str text)
{
    return (struct cell){.kind = text.count > 0 ? CELL_TEXT : CELL_NULL, .of.text = text};
}

static struct cell count_cell(bool known, int64_t value)
{
    if (!known)
        return (struct cell){.kind = CELL_NULL};
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}

static struct str joined(struct arena *arena, const struct str *parts, uint32_t count)
{
    struct str ret = STR("");

    for (uint32_t i = 0; i < count; i++)
        ret = str_format(arena, "%.*s%s%.*s", STR_ARG(ret), i > 0 ? " " : "", STR_ARG(parts[i]));
    return ret;
}

static void fill_row(struct arena *arena, const struct run_record *run, struct cell *cells)
{
    bool read = run_was_read(run), timed = read && run->host_count > 0;
    struct str *hosts = arena_array(arena, struct str, run->host_count);

    for (uint32_t i = 0; i < run->host_count; i++)
        hosts[i] = run->hosts[i].name;
    const struct cell row[COUNT(columns)] = {
        text_cell(run->id),
        text_cell(run->name),
        text_cell(str_of(run_state_word(run->state))),
        text_cell(run_started_at(arena, run)),
        count_cell(timed, run->duration_ps),
        text_cell(joined(arena, hosts, run->host_count)),
        count_cell(read && run->device_count_known, run->device_count),
        text_cell(run->device_kind),
        text_cell(run->framework),
        text_cell(joined(arena, run->formats, run->format_count)),
        count_cell(true, (int64_t)run->file_count),
        count_cell(true, (int64_t)run->file_bytes),
        count_cell(timed, (int64_t)run->slice_count),
        count_cell(run->step_count >= 0, run->step_count),
        count_cell(run->step_median_ps >= 0, run->step_median_ps),
        text_cell(run->error),
        text_cell(run->about.name),
    };
    memcpy(cells, row, sizeof row);
}

static struct table table_of(struct request *req, const struct run_record *runs, uint32_t count,
                             uint64_t all, uint64_t next)
{
    struct cell *cells = arena_array(req->arena, struct cell, (size_t)count * COUNT(columns));

    struct column *shown = arena_array(req->arena, struct column, COUNT(columns));

    memcpy(shown, columns, sizeof columns);
    for (uint32_t i = 0; i < count; i++) {
        fill_row(req->arena, &runs[i], &cells[(size_t)i * COUNT(columns)]);
        shown[COUNT(columns) - 1].by_default |= runs[i].about.name.count > 0;
    }
    return (struct table){.columns = shown,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = count,
                          .row_count_all = all,
                          .next = next};
}

/* What the scan could not look at, and what became of the catalog. */
static const struct answer_note *notes_of(struct request *req, uint32_t *ret_count)
{
    enum { NOTES_MAX = 200 };
    struct catalog *catalog = req->services->catalog;
    struct scan_trouble *troubles;
    uint32_t trouble_count, count = 0;

    catalog_troubles(catalog, req->arena, &troubles, &trouble_count);
    struct answer_note *notes = arena_array(req->arena, struct answer_note, NOTES_MAX + 1);
    struct str own = catalog_note(catalog, req->arena);

    if (own.count > 0)
        notes[count++] = (struct answer_note){
            .kind = "catalog", .severity = NOTE_WARNING, .message = own, .count = 1};
    for (uint32_t i = 0; i < trouble_count && count < NOTES_MAX; i++)
        notes[count++] = (struct answer_note){
            .kind = troubles[i].is_remark ? "no-profile" : "not-looked-at",
            .severity = troubles[i].is_remark ? NOTE_INFO : NOTE_WARNING,
            .message =
                str_format(req->arena, "%.*s%s%.*s", STR_ARG(troubles[i].path),
                           troubles[i].path.count > 0 ? ": " : "", STR_ARG(troubles[i].reason)),
            .count = 1};
    *ret_count = count;
    return notes;
}

static enum status get_runs(struct request *req, struct reply *reply, struct error *err)
{
    struct run_query query = {.path = request_text(req, "path"),
                              .state = request_text(req, "state"),
                              .q = request_text(req, "q")};
    struct run_record *runs;
    struct page page;
    uint32_t count;
    uint64_t all;

    TRY(request_page(req, &page, err));
    query.sort = page.sort;
    query.offset = page.offset;
    query.limit = page.limit;
    TRY(catalog_runs(req->services->catalog, &query, req->arena, &runs, &count, &all, err));
    uint64_t next = page.offset + count < all && count > 0 ? page.offset + count : 0;

    struct table table = table_of(req, runs, count, all, next);
    if (reply_table_text(req, reply, &table))
        return OK;
    uint32_t note_count;
    const struct answer_note *notes = notes_of(req, &note_count);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    put_scan(&json, catalog_scan(req->services->catalog), req->services->profile_dir);
    json_key(&json, "runs");
    json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(&json, '{');
        json_put_run_members(&json, req, &runs[i]);
        json_put_host_names(&json, &runs[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_put_unsigned(&json, "row_count", all);
    json_put_next(&json, next);
    json_put_notes(&json, &notes, &note_count, 1);
    json_close(&json, '}');
    return OK;
}

static const struct verb verb = {
    .name = "list", .summary = "runs, newest first", .operands = "[PATH]"};

static const struct tool_argument arguments[] = {
    {"q", TOOL_TEXT, false, "A part of name, directory, host or framework", NULL},
    {"path", TOOL_TEXT, false, "Only runs below this directory", NULL},
    {"state", TOOL_WORD, false, "Only runs in this state",
     "writing|queued|indexing|ready|partial|failed|gone"},
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "list_runs",
     .title = "Runs",
     .text =
         "The captured runs, newest first: name, when, devices, steps and the median step time.",
     .arguments = arguments,
     .fixed = "limit=20",
     .columns = "name id state started_at duration_ps hosts device_count device_kind "
                "framework slice_count step_count step_median_ps error",
     .rank = 1},
    {.name = NULL}};

const struct route route_runs = {.method = "GET",
                                 .path = "/api/runs",
                                 .handle = get_runs,
                                 .params = params,
                                 .age = AGE_CATALOG,
                                 .verb = &verb,
                                 .tools = tools};
