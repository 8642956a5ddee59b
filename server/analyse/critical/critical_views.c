/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of all steps that count, and the slack of all that ran in them, as rows of SQL. */
#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "analyse/table.h"

enum { STEP, HOST, KIND, NAME, SLICE, TRACK, START, DUR, WAITS_FOR, EDGE, EVIDENCE, PATH_COLUMNS };
enum { SLACK = WAITS_FOR, SLACK_COLUMNS };

static const struct column path_columns[PATH_COLUMNS] = {
    [STEP] = {"step", "Step", UNIT_NONE, true},
    [HOST] = {"host", "Host", UNIT_TEXT, true},
    [KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [NAME] = {"name", "Name", UNIT_TEXT, true},
    [SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [TRACK] = {"track", "Track", UNIT_TEXT, false},
    [START] = {"start_ps", "Start", UNIT_PS, true},
    [DUR] = {"dur_ps", "Time", UNIT_PS, true},
    [WAITS_FOR] = {"waits_for", "Waits for", UNIT_TEXT, false},
    [EDGE] = {"edge", "By", UNIT_TEXT, true},
    [EVIDENCE] = {"evidence", "Evidence", UNIT_TEXT, true},
};

static const struct column slack_columns[SLACK_COLUMNS] = {
    [STEP] = {"step", "Step", UNIT_NONE, true},     [HOST] = {"host", "Host", UNIT_TEXT, true},
    [KIND] = {"kind", "Kind", UNIT_TEXT, true},     [NAME] = {"name", "Name", UNIT_TEXT, true},
    [SLICE] = {"slice", "Slice", UNIT_TEXT, false}, [TRACK] = {"track", "Track", UNIT_TEXT, false},
    [START] = {"start_ps", "Start", UNIT_PS, true}, [DUR] = {"dur_ps", "Time", UNIT_PS, true},
    [SLACK] = {"slack_ps", "Slack", UNIT_PS, true},
};

struct view_rows {
    struct cell *cells;
    uint32_t count, capacity, columns;
    uint64_t left_out;
    struct arena *arena;
};

/* Room for the cells of a row; NULL: there are too many. */
static struct cell *add_row(struct view_rows *rows)
{
    if (rows->count == VIEW_ROWS_MAX) {
        rows->left_out++;
        return NULL;
    }
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 1024 : 2 * rows->capacity;
        rows->cells =
            memory_resize(rows->cells, (size_t)rows->capacity * rows->columns, sizeof *rows->cells);
    }
    return &rows->cells[(size_t)rows->count++ * rows->columns];
}

static void put_step(const struct step_graph *graph, struct cell *row)
{
    row[STEP] = graph->step == NULL ? cell_null(STR("the run has no steps"))
                                    : cell_integer(graph->step->number);
    row[HOST] = cell_text(graph->run->hosts[graph->host].name);
}

static void add_path(struct view_rows *rows, const struct step_graph *graph,
                     const struct path *path)
{
    for (uint32_t i = 0; i < path->count; i++) {
        struct cell *row = add_row(rows);

        if (row == NULL)
            continue;
        put_step(graph, row);
        for (int cell = CELL_OF_KIND; cell <= CELL_OF_EVIDENCE; cell++)
            row[KIND + cell] =
                piece_cell(graph, &path->pieces[i], (enum piece_cell)cell, rows->arena);
    }
}

static void add_slack(struct view_rows *rows, const struct step_graph *graph, const int64_t *slacks)
{
    for (uint32_t i = 0; i + 1 < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        struct path_piece piece = {.node = i, .start_ps = node->start_ps};
        struct cell *row = add_row(rows);

        if (row == NULL)
            continue;
        put_step(graph, row);
        row[KIND] =
            cell_text(str_of(node->kind == KIND_IDLE ? "wait" : kind_word((enum kind)node->kind)));
        row[NAME] = cell_text(piece_name(graph, &piece));
        row[SLICE] = slice_cell(graph, i, rows->arena);
        row[TRACK] = track_cell(graph, i, rows->arena);
        row[START] = cell_integer(node->start_ps);
        row[DUR] = cell_integer(node->end_ps - node->start_ps);
        row[SLACK] = cell_integer(slacks[i] < 0 ? 0 : slacks[i]);
    }
}

static struct cell view_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct view_rows *rows = data;

    return rows->cells[(size_t)row * rows->columns + column];
}

static void walk_steps(const struct run_traces *run, const struct steps *steps, bool of_slack,
                       struct view_rows *rows)
{
    struct graph_maker *maker = graph_maker_create(run, steps);
    struct path path = {0};
    uint32_t count, all;
    const struct step **asked = critical_steps(run, steps, rows->arena, &count, &all);

    for (uint32_t i = 0; i < count && run->host_count > 0; i++) {
        const struct step_graph *graph = graph_of_step(maker, asked[i]);
        int64_t *slacks = of_slack ? memory_resize(NULL, graph->node_count, sizeof *slacks) : NULL;

        if (of_slack) {
            slack_find(graph, slacks);
            add_slack(rows, graph, slacks);
        } else {
            path_find(graph, &path);
            add_path(rows, graph, &path);
        }
        free(slacks);
    }
    path_free(&path);
    graph_maker_free(maker);
}

static enum status make_view(const struct run_traces *run, const struct page *page, bool of_slack,
                             struct arena *arena, struct table *ret, struct error *err)
{
    static const struct restriction whole = {0};
    struct view_rows rows = {.arena = arena, .columns = of_slack ? SLACK_COLUMNS : PATH_COLUMNS};
    struct steps steps;
    uint32_t *order;
    enum status status;

    *ret = (struct table){0};
    TRY(steps_find(run, &whole, arena, &steps, err));
    walk_steps(run, &steps, of_slack, &rows);

    const struct table_source source = {.columns = of_slack ? slack_columns : path_columns,
                                        .column_count = rows.columns,
                                        .row_count = rows.count,
                                        .cell = view_cell,
                                        .data = &rows};

    status = table_order(&source, page->sort, "start_ps", arena, &order, err);
    if (status == OK)
        table_fill(&source, order, page, arena, ret);
    free(rows.cells);
    if (status == OK && rows.left_out > 0) {
        struct answer_note *note = arena_new(arena, struct answer_note);

        *note = (struct answer_note){
            .kind = "rows-left-out",
            .severity = NOTE_WARNING,
            .message = str_format(arena, "only the first %d rows are here", VIEW_ROWS_MAX),
            .count = rows.left_out};
        ret->notes = note;
        ret->note_count = 1;
    }
    return status;
}

enum status critical_path_view(const struct run_traces *run, const struct page *page,
                               struct arena *arena, struct table *ret, struct error *err)
{
    return make_view(run, page, false, arena, ret, err);
}

enum status slack_view(const struct run_traces *run, const struct page *page, struct arena *arena,
                       struct table *ret, struct error *err)
{
    return make_view(run, page, true, arena, ret, err);
}
