/* Tables that analyses make, one run after the other: the same analyses as behind the endpoints,
 * asked for the whole run, so that a query adds up what /api/... shows.
 *
 *   select ... from ops      run 1: top(by op) -> struct table      made when a query comes to it,
 *                            run 2: top(by op) -> struct table      kept for those that come again
 *
 * A view is a line of `views`: its columns are those of the analysis' table by name, behind the
 * name of the run. A cell of kinds is a column a kind.
 */
#include <stdlib.h>

#include "serve/sql/sql_makers.h"
#include "serve/sql/sql_parts.h"

enum { NO_PLACE = UINT32_MAX, KIND_PLACE = 1 << 16 /* + kind: in the cell of kinds */ };

#define TOP_COLUMNS                                                                                \
    "key name kind category module scope source #count #event_count #total_ps #self_ps %share "    \
    "%cumulative_share #mean_ps #stdev_ps #min_ps #p50_ps #p95_ps #max_ps %flops %bytes "          \
    "%flops_per_s %bytes_per_s bound_by %peak_share"

static const struct view {
    const char *name, *columns;
    sql_make_view *make;
} views[] = {
    {"hosts",
     "name host #device #device_count #step_count #step_median_ps #step_min_ps #step_max_ps "
     "#busy_ps #idle_ps %busy_share #communication_ps #hidden_communication_ps #op_wait_ps "
     "#wait_ps %wait_share #last_count #compared_count #lag_ps #skew_ps #straggler",
     sql_make_hosts},
    {"tracks",
     "id parent host name kind role #device #derived #depth_count #slice_count #duration_sum_ps "
     "#start_ps #end_ps",
     sql_make_tracks},
    {"ops", TOP_COLUMNS, sql_make_ops},
    {"names", TOP_COLUMNS, sql_make_names},
    {"scopes", TOP_COLUMNS, sql_make_scopes},
    {"modules", TOP_COLUMNS, sql_make_modules},
    {"steps",
     "#step name host #start_ps #end_ps #dur_ps rule #span_ps #work_start_ps #work_end_ps #ahead "
     "#delta_ps #warmup #outlier #cut slowest_by #slowest_by_ps #busy_ps #wait_ps "
     "#hidden_communication_ps #compute_ps #communication_ps "
     "#copy_ps #host_ps #input_ps #compile_ps #other_ps #idle_ps",
     sql_make_steps},
    {"gaps", "host #device #start_ps #dur_ps cause #cause_ps #step before after", sql_make_gaps},
    {"kernels",
     "key name kind #count #total_ps #self_ps %share #mean_ps #stdev_ps #min_ps #p50_ps #p95_ps "
     "#max_ps #variant_count grid block #registers #shared_bytes %occupancy limited_by "
     "#tensor_core tensor_core_by #queue_p50_ps #launch_p50_ps #call_p50_ps #gap_p50_ps "
     "#launch_count #graph_count op module scope source ncu",
     sql_make_kernels},
    {"roofline",
     "key name kind category module scope source type #count #total_ps #self_ps %share %flops "
     "%bytes %intensity %flops_per_s %bytes_per_s %roof_flops_per_s %peak_share bound_by counted",
     sql_make_roofline},
    {"collectives",
     "name kind axis #group_size #bytes #count #total_ps #exposed_ps #hidden_ps %exposed_share "
     "%share #mean_ps #min_ps #max_ps %bus_bytes_per_s #wait_ps %wait_share last %last_share "
     "algorithm protocol dtype #async #blocked_ps #spread_ps %moving_bus_bytes_per_s "
     "%alg_bytes_per_s %bus_factor #bytes_total #group_count members module scope host device "
     "longest #longest_start_ps",
     sql_make_collectives},
    {"compiles",
     "function module program_id host track slice #start_ps #dur_ps #total_ps %share #trace_ps "
     "#lower_ps #cache_ps #passes_ps #codegen_ps #autotune_ps #compiler_ps #other_ps #backend_ps "
     "#step #nth #cached change changed",
     sql_make_compiles},
    {"transfers",
     "direction name host #device track stream slice #start_ps #dur_ps #bytes %bytes_per_s memory "
     "#blocking #overlapped_ps caller launch #step",
     sql_make_transfers},
    {"memory",
     "name host #event_count #peak_bytes #peak_at_ps #peak_allocated_bytes #lifetime_peak_bytes "
     "#capacity_bytes #pool_bytes #before_bytes %fragmentation",
     sql_make_memory},
};

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

static uint32_t kind_place(const struct table *table, const char *name)
{
    bool has_kinds = false;

    for (uint32_t i = 0; i < table->column_count; i++)
        has_kinds |= strcmp(table->columns[i].key, "breakdown") == 0;
    for (int kind = 0; has_kinds && kind <= KIND_COUNT; kind++) {
        size_t size = strlen(kind_word((enum kind)kind));

        if (strncmp(name, kind_word((enum kind)kind), size) == 0 && strcmp(name + size, "_ps") == 0)
            return KIND_PLACE + (uint32_t)kind;
    }
    return NO_PLACE;
}

static uint32_t place_of(const struct table *table, const char *name)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, name) == 0)
            return i;
    }
    return kind_place(table, name);
}

static enum status make(const struct view_data *data, uint32_t run, struct made *ret,
                        struct error *err)
{
    const struct page all = {.limit = UINT32_MAX};

    ret->is_kept = sql_kept_table(data->work, run, data->view->name, &ret->table);
    if (!ret->is_kept && sql_traces(data->work, run)->host_count > 0)
        TRY(data->view->make(sql_traces(data->work, run), &all, data->work->arena, &ret->table,
                             err));
    for (uint32_t i = 1; i < data->column_count; i++)
        ret->place[i] = place_of(&ret->table, data->columns[i].name);
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

static void view_cell(const void *at, uint32_t column, struct sql_cell *ret)
{
    const struct view_cursor *cursor = at;
    const struct table *table = &cursor->made->table;
    const struct cell *cells = &table->cells[(size_t)cursor->row * table->column_count];
    uint32_t place = cursor->made->place[column];

    if (column == 0) {
        sql_put_text(ret, cursor->data->work->runs[cursor->run].name);
    } else if (place == NO_PLACE) {
        sql_put_null(ret);
    } else if (place >= KIND_PLACE) {
        const struct cell *kinds = &cells[place_of(table, "breakdown")];

        if (kinds->kind == CELL_KINDS)
            sql_put_integer(ret, kinds->of.kinds[place - KIND_PLACE]);
        else
            sql_put_null(ret);
    } else {
        sql_put_cell(ret, &cells[place]);
    }
}

static void view_close(void *cursor)
{
    free(cursor);
}

void sql_add_views(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    for (size_t i = 0; i < COUNT(views); i++) {
        struct view_data *data = arena_new(work->arena, struct view_data);
        struct sql_column *columns;

        *data = (struct view_data){.work = work, .view = &views[i]};
        columns =
            sql_columns_of(work->arena, str_format(work->arena, "run %s", views[i].columns).at,
                           &data->column_count);
        columns[0].helps = SQL_EQUAL;
        data->columns = columns;
        data->made = arena_array(work->arena, struct made, work->run_count);
        ret[(*count)++] = (struct sql_table){.name = views[i].name,
                                             .columns = columns,
                                             .column_count = data->column_count,
                                             .row_count = 1000 * (uint64_t)work->run_count,
                                             .data = data,
                                             .open = view_open,
                                             .next = view_next,
                                             .cell = view_cell,
                                             .close = view_close};
    }
}
