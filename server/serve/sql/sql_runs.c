/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the job itself tells: runs and their metrics; and the list of all columns. */
#include <jansson.h>
#include <stdlib.h>

#include "serve/answer/run_out.h"
#include "serve/answer/view_cells.h"
#include "serve/sql/sql_parts.h"

struct sql_column *sql_columns_of(struct arena *arena, const char *words, uint32_t *ret_count)
{
    struct sql_column *columns = arena_array(arena, struct sql_column, SQL_VIEW_COLUMNS_MAX);
    uint32_t count = 0;

    while (*words != '\0' && count < SQL_VIEW_COLUMNS_MAX) {
        size_t size = strcspn(words, " ");
        enum sql_type type = *words == '#' ? SQL_INTEGER : *words == '%' ? SQL_REAL : SQL_TEXT;
        size_t mark = type == SQL_TEXT ? 0 : 1;

        columns[count++] = (struct sql_column){
            .name = str_c(arena, (struct str){.at = words + mark, .count = size - mark}),
            .type = type};
        words += size;
        words += *words == ' ';
    }
    *ret_count = count;
    return columns;
}

void sql_put_cell(struct sql_cell *ret, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        sql_put_integer(ret, cell->of.integer);
        break;
    case CELL_UNSIGNED:
        if (cell->of.uint <= INT64_MAX)
            sql_put_integer(ret, (int64_t)cell->of.uint);
        else
            sql_put_real(ret, (double)cell->of.uint);
        break;
    case CELL_REAL:
        sql_put_real(ret, cell->of.real);
        break;
    case CELL_TEXT:
        sql_put_text(ret, cell->of.text);
        break;
    case CELL_BOOL:
        sql_put_integer(ret, cell->of.boolean);
        break;
    case CELL_NULL:
    case CELL_KINDS:
        sql_put_null(ret);
        break;
    }
}

void sql_pick_runs(const struct sql_work *work, const struct sql_scan *scan, uint32_t run_column,
                   uint32_t *ret_first, uint32_t *ret_end)
{
    *ret_first = 0;
    *ret_end = work->run_count;
    for (uint32_t i = 0; i < scan->bound_count; i++) {
        const struct sql_bound *bound = &scan->bounds[i];
        uint32_t first = 0, end;

        if (bound->column != run_column || bound->value.kind != SQL_IS_TEXT)
            continue;
        while (first < work->run_count && !str_equal(work->runs[first].name, bound->value.text))
            first++;
        for (end = first; end < work->run_count; end++) {
            if (!str_equal(work->runs[end].name, bound->value.text))
                break;
        }
        *ret_first = first;
        *ret_end = end;
    }
}

/* Rows that are made once, whatever is asked. */
struct fixed {
    const struct cell *cells;
    uint32_t column_count, row_count;
};

struct fixed_cursor {
    const struct fixed *fixed;
    uint32_t row; /* behind the present one */
};

static enum status fixed_open(const struct sql_table *table, const struct sql_scan *scan,
                              void **ret, struct error *err)
{
    struct fixed_cursor *cursor = memory_resize(NULL, 1, sizeof *cursor);

    (void)scan;
    (void)err;
    *cursor = (struct fixed_cursor){.fixed = table->data};
    *ret = cursor;
    return OK;
}

static bool fixed_next(void *at, struct error *err)
{
    struct fixed_cursor *cursor = at;

    (void)err;
    return cursor->row++ < cursor->fixed->row_count;
}

static void fixed_cell(const void *at, uint32_t column, struct sql_cell *ret)
{
    const struct fixed_cursor *cursor = at;

    sql_put_cell(
        ret,
        &cursor->fixed->cells[(size_t)(cursor->row - 1) * cursor->fixed->column_count + column]);
}

static void fixed_close(void *cursor)
{
    free(cursor);
}

static void add_fixed(struct sql_work *work, const char *name, const char *columns,
                      const struct cell *cells, uint32_t row_count, struct sql_table *ret,
                      uint32_t *count)
{
    struct fixed *fixed = arena_new(work->arena, struct fixed);
    struct sql_table *table = &ret[(*count)++];

    *table = (struct sql_table){.name = name,
                                .row_count = row_count,
                                .data = fixed,
                                .open = fixed_open,
                                .next = fixed_next,
                                .cell = fixed_cell,
                                .close = fixed_close};
    table->columns = sql_columns_of(work->arena, columns, &table->column_count);
    *fixed =
        (struct fixed){.cells = cells, .column_count = table->column_count, .row_count = row_count};
}

static void add_run_rows(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    uint32_t column_count;
    const struct sql_column *columns = sql_columns_of(work->arena, RUN_COLUMNS, &column_count);
    struct cell *cells =
        arena_array(work->arena, struct cell, (size_t)work->run_count * column_count);

    for (uint32_t run = 0; run < work->run_count; run++) {
        for (uint32_t i = 0; i < column_count; i++)
            cells[(size_t)run * column_count + i] =
                json_cell(json_object_get(work->runs[run].told, columns[i].name), work->arena);
    }
    add_fixed(work, "runs", RUN_COLUMNS, cells, work->run_count, ret, count);
}

static const char metric_columns[] = "run " RUN_METRIC_COLUMNS;

static void add_metric_rows(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    static const char *const members[] = {"metric", "value", "value_exact", "unit"};
    uint32_t row_count = 0;

    for (uint32_t run = 0; run < work->run_count; run++)
        row_count += (uint32_t)json_array_size(json_object_get(work->runs[run].told, "metrics"));
    struct cell *cells = arena_array(work->arena, struct cell, (size_t)row_count * 6),
                *cell = cells;
    for (uint32_t run = 0; run < work->run_count; run++) {
        const json_t *list = json_object_get(work->runs[run].told, "metrics"), *metric;
        size_t i;

        json_array_foreach(list, i, metric)
        {
            *cell++ = (struct cell){.kind = CELL_TEXT, .of.text = work->runs[run].name};
            *cell++ = json_cell(json_object_get(work->runs[run].told, "run_step"), work->arena);
            for (size_t k = 0; k < COUNT(members); k++)
                *cell++ = json_cell(json_object_get(metric, members[k]), work->arena);
        }
    }
    add_fixed(work, "metrics", metric_columns, cells, row_count, ret, count);
}

void sql_add_runs(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    add_run_rows(work, ret, count);
    add_metric_rows(work, ret, count);
}

void sql_add_columns(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    static const char *const types[] = {
        [SQL_TEXT] = "text", [SQL_INTEGER] = "integer", [SQL_REAL] = "real"};
    uint32_t row_count = 0, tables = *count;

    for (uint32_t i = 0; i < tables; i++)
        row_count += ret[i].column_count;
    struct cell *cells = arena_array(work->arena, struct cell, (size_t)row_count * 3),
                *cell = cells;
    for (uint32_t i = 0; i < tables; i++) {
        for (uint32_t k = 0; k < ret[i].column_count; k++) {
            const char *texts[] = {ret[i].name, ret[i].columns[k].name,
                                   types[ret[i].columns[k].type]};

            for (size_t at = 0; at < COUNT(texts); at++)
                *cell++ = (struct cell){.kind = CELL_TEXT, .of.text = str_of(texts[at])};
        }
    }
    add_fixed(work, "columns", "table_name name type", cells, row_count, ret, count);
}
