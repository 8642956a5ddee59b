/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of rows: of a view page by page, of the catalog's tables at once.
 *
 *   view->make(page) ──> struct table ──┐
 *   JSON of the run  ──> struct table ──┴─> whose row it is | own columns by name | reasons
 */
#include <jansson.h>
#include <stdlib.h>

#include "analyse/findings/findings.h"
#include "analyse/table.h"
#include "serve/answer/run_out.h"
#include "serve/answer/view_cells.h"
#include "serve/routes/trend/trend.h"
#include "serve/tables/tables_parts.h"

enum { PAGE_ROWS = 4 * BATCH_ROWS_MAX, BATCH_TEXT_MAX = 64 << 20 };

/* Rows of JSON objects as a table of the source's own columns. */
static enum status table_of_json(struct data_source *source, struct str text, struct table *ret,
                                 struct error *err)
{
    uint32_t count = source->own_end - source->own_first;
    struct column *columns = arena_array(source->page_arena, struct column, count);
    json_t *told, *row;
    json_error_t where;
    size_t i;

    told = json_loadb(text.at, text.count, JSON_ALLOW_NUL, &where);
    if (told == NULL)
        return fail(err, ERR_FORMAT, "the run cannot be read from the catalog: %s", where.text);
    size_t row_count = json_array_size(told);
    struct cell *cells = arena_array(source->page_arena, struct cell, row_count * count);
    for (uint32_t k = 0; k < count; k++)
        columns[k].key = source->table->columns[source->own_first + k].name;
    json_array_foreach(told, i, row)
    {
        const json_t *reasons = json_object_get(row, "reasons");

        for (uint32_t k = 0; k < count; k++) {
            struct cell *cell = &cells[i * count + k];
            const json_t *reason = json_object_get(reasons, columns[k].key);

            *cell = json_cell(json_object_get(row, columns[k].key), source->page_arena);
            if (cell->kind == CELL_NULL)
                cell->of.text = str_of(json_string_value(reason));
            if (cell->kind == CELL_NULL || cell->kind == CELL_TEXT)
                cell->of.text = str_copy(source->page_arena, cell->of.text);
        }
    }
    json_decref(told);
    *ret = (struct table){.columns = columns,
                          .column_count = count,
                          .cells = cells,
                          .row_count = (uint32_t)row_count};
    return OK;
}

static void put_run(struct json *json, struct data_source *source)
{
    json_open(json, '{');
    json_put_run_members(json, source->req, source->run);
    json_put_host_names(json, source->run);
    json_close(json, '}');
}

/* As /api/run tells them. */
static void put_files(struct json *json, const struct run_record *run)
{
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        const struct run_file *file = &run->files[i];

        json_open(json, '{');
        json_put_run_file(json, file);
        json_close(json, '}');
    }
}

/* "metrics": [...] of the run, each with the step that the run is named after. */
static void put_metrics(struct json *json, struct data_source *source)
{
    struct text text = {0};
    struct json inner = json_into(&text);
    uint64_t step;
    bool has_step = run_step_of(source->run->name, &step) && step <= INT64_MAX;
    json_t *all, *metric;
    size_t i;

    json_open(&inner, '{');
    trend_put_metrics(&inner, source->req, source->run);
    json_close(&inner, '}');
    all = json_loadb(text.at, text.count, JSON_ALLOW_NUL, NULL);
    json_array_foreach(json_object_get(all, "metrics"), i, metric)
    {
        if (has_step)
            json_object_set_new(metric, "run_step", json_integer((json_int_t)step));
        char *row = json_dumps(metric, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_add_raw(json, str_copy(source->page_arena, str_of(row)));
        free(row);
    }
    json_decref(all);
    text_free(&text);
}

static enum status make_told(struct data_source *source, struct table *ret, struct error *err)
{
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '[');
    if (strcmp(source->table->name, "runs") == 0)
        put_run(&json, source);
    else if (strcmp(source->table->name, "files") == 0)
        put_files(&json, source->run);
    else
        put_metrics(&json, source);
    json_close(&json, ']');
    enum status status = table_of_json(source, text_str(&text), ret, err);
    text_free(&text);
    return status;
}

static enum status make_findings(struct data_source *source, const struct page *page,
                                 struct table *ret, struct error *err)
{
    static const struct restriction whole = {0};
    struct memo *memo = memo_create(source->traces, &whole, source->page_arena);
    struct findings findings;

    findings_find(memo, &findings);
    return findings_table(memo, &findings, page, ret, err);
}

/* The first one is the request's, which ends it: the stream may never be read. */
static void renew(const struct data_source *source, struct arena **arena)
{
    if (*arena == NULL) {
        *arena = source->req->arena;
        return;
    }
    if (*arena != source->req->arena)
        arena_destroy(*arena);
    *arena = arena_create();
}

static enum status make_page(struct data_source *source, uint64_t offset, struct error *err)
{
    const struct page page = {.offset = offset, .limit = PAGE_ROWS};
    const struct data_table *table = source->table;

    renew(source, &source->page_arena);
    source->page = (struct table){0};
    source->page_row = 0;
    if (table->view != NULL)
        TRY(table->view->make(source->traces, &page, source->page_arena, &source->page, err));
    else if (strcmp(table->name, "findings") == 0)
        TRY(make_findings(source, &page, &source->page, err));
    else
        TRY(make_told(source, &source->page, err));
    for (uint32_t i = source->own_first; i < source->own_end; i++)
        source->place[i] = view_place(&source->page, table->columns[i].name);
    source->has_page = true;
    return OK;
}

/* How many bytes of text the row has. */
static size_t put_row(struct data_source *source, struct cell *ret)
{
    const struct data_table *table = source->table;
    size_t bytes = 0;

    memcpy(ret, source->whose, source->own_first * sizeof *ret);
    for (uint32_t i = source->own_first; i < source->own_end; i++)
        ret[i] = data_cell(source->arena, table->columns[i].type,
                           view_cell(&source->page, source->page_row, source->place[i]));
    ret[source->own_end] = data_reasons(source, ret);
    for (uint32_t i = 0; i <= source->own_end; i++)
        bytes += ret[i].kind == CELL_TEXT ? ret[i].of.text.count : 0;
    return bytes;
}

/* As much of the page as a batch takes. */
static void fill_batch(struct data_source *source, struct data_batch *ret)
{
    uint32_t left = source->page.row_count - source->page_row;
    uint32_t most = left < BATCH_ROWS_MAX ? left : BATCH_ROWS_MAX;
    struct cell *cells =
        arena_array(source->arena, struct cell, (size_t)most * source->table->column_count);
    size_t bytes = 0;

    *ret = (struct data_batch){.cells = cells};
    while (ret->row_count < most && bytes < BATCH_TEXT_MAX) {
        bytes += put_row(source, &cells[(size_t)ret->row_count * source->table->column_count]);
        ret->row_count++;
        source->page_row++;
    }
}

enum status data_source_next(struct data_source *source, struct data_batch *ret, struct error *err)
{
    renew(source, &source->arena);
    *ret = (struct data_batch){0};
    if (source->table->is_large)
        return data_slices_next(source, ret, err);
    if (!source->has_page)
        TRY(make_page(source, 0, err));
    if (source->page_row >= source->page.row_count) {
        if (source->page.next == 0)
            return OK;
        TRY(make_page(source, source->page.next, err));
    }
    fill_batch(source, ret);
    return OK;
}

void data_source_open(struct data_source *source)
{
    uint32_t count = source->table->column_count;

    source->own_end = count - 1; /* the reasons */
    source->own_first = source->own_end - source->table->own_count;
    data_put_whose(source);
}

void data_source_close(struct data_source *source)
{
    struct arena **arenas[] = {&source->arena, &source->page_arena};

    for (size_t i = 0; i < COUNT(arenas); i++) {
        if (*arenas[i] != NULL && *arenas[i] != source->req->arena)
            arena_destroy(*arenas[i]);
        *arenas[i] = NULL;
    }
}
