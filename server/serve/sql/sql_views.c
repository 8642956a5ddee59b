/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that analyses make, one run after the other: the same analyses as behind the endpoints,
 * asked for the whole run, so that a query adds up what /api/... shows.
 *
 *   select ... from ops      run 1: top(by op) -> struct table      made when a query comes to it,
 *                            run 2: top(by op) -> struct table      kept for those that come again
 *
 * A view is declared with its endpoint: its columns are those of the analysis' table by name,
 * behind the name of the run. A cell of kinds is a column a kind.
 */
#include <stdlib.h>

#include "serve/answer/route_table.h"
#include "serve/answer/view_cells.h"
#include "serve/sql/sql_parts.h"

struct made { /* of one run */
    bool done, is_kept;
    struct table table;
    uint32_t place[SQL_VIEW_COLUMNS_MAX]; /* of the view's columns in the table */
};

struct view_data {
    struct sql_work *work;
    const struct view *view;
    const struct sql_column *columns; /* the first is the run */
    uint32_t column_count;
    struct made *made; /* by run */
};

struct view_cursor {
    const struct view_data *data;
    uint32_t run, end_run;
    const struct made *made; /* of `run`; NULL: not begun */
    uint32_t row;
};

static enum status make(const struct view_data *data, uint32_t run, struct made *ret,
                        struct error *err)
{
    const struct page all = {.limit = UINT32_MAX};

    ret->is_kept = sql_kept_table(data->work, run, data->view->name, &ret->table);
    if (!ret->is_kept && sql_traces(data->work, run)->host_count > 0)
        TRY(data->view->make(data->view->others ? sql_all_traces(data->work, run)
                                                : sql_traces(data->work, run),
                             &all, data->work->arena, &ret->table, err));
    for (uint32_t i = 1; i < data->column_count; i++)
        ret->place[i] = view_place(&ret->table, data->columns[i].name);
    ret->done = true;
    return OK;
}

static enum status make_once(const struct view_data *data, uint32_t run, struct error *err)
{
    struct made *made = &data->made[run];

    if (!made->done)
        TRY(make(data, run, made, err));
    if (!made->is_kept)
        (void)sql_traces(data->work, run); /* whose notes hold for each query */
    sql_keep_notes(data->work, made->table.notes, made->table.note_count);
    return OK;
}

static enum status view_open(const struct sql_table *table, const struct sql_scan *scan, void **ret,
                             struct error *err)
{
    const struct view_data *data = table->data;
    struct view_cursor *cursor = memory_resize(NULL, 1, sizeof *cursor);

    (void)err;
    *cursor = (struct view_cursor){.data = data};
    sql_pick_runs(data->work, scan, 0, &cursor->run, &cursor->end_run);
    *ret = cursor;
    return OK;
}

static bool view_next(void *at, struct error *err)
{
    struct view_cursor *cursor = at;

    cursor->row++;
    while (cursor->made == NULL || cursor->row >= cursor->made->table.row_count) {
        cursor->run += cursor->made != NULL;
        if (cursor->run >= cursor->end_run || make_once(cursor->data, cursor->run, err) != OK)
            return false;
        cursor->made = &cursor->data->made[cursor->run];
        cursor->row = 0;
    }
    return true;
}

static void put_cell(const void *at, uint32_t column, struct sql_cell *ret)
{
    const struct view_cursor *cursor = at;
    const struct made *made = cursor->made;
    struct cell cell;

    if (column == 0) {
        sql_put_text(ret, cursor->data->work->runs[cursor->run].name);
        return;
    }
    cell = view_cell(&made->table, cursor->row, made->place[column]);
    sql_put_cell(ret, &cell);
}

static void view_close(void *cursor)
{
    free(cursor);
}

void sql_add_views(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    struct offers views;

    route_views(work->routes, &views);
    for (uint32_t i = 0; i < views.count; i++) {
        const struct view *view = views.items[i].what;
        struct view_data *data = arena_new(work->arena, struct view_data);
        struct sql_column *columns;

        *data = (struct view_data){.work = work, .view = view};
        columns = sql_columns_of(work->arena, str_format(work->arena, "run %s", view->columns).at,
                                 &data->column_count);
        columns[0].helps = SQL_EQUAL;
        data->columns = columns;
        data->made = arena_array(work->arena, struct made, work->run_count);
        ret[(*count)++] = (struct sql_table){.name = view->name,
                                             .columns = columns,
                                             .column_count = data->column_count,
                                             .row_count = 1000 * (uint64_t)work->run_count,
                                             .data = data,
                                             .open = view_open,
                                             .next = view_next,
                                             .cell = put_cell,
                                             .close = view_close};
    }
}
