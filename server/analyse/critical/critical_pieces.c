/* SPDX-License-Identifier: Apache-2.0 */
/* The path of one step as a table. */
#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "analyse/table.h"
#include "trace/ps.h"

static const struct column columns[] = {
    [CELL_OF_KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [CELL_OF_NAME] = {"name", "Name", UNIT_TEXT, true},
    [CELL_OF_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [CELL_OF_TRACK] = {"track", "Track", UNIT_TEXT, false},
    [CELL_OF_START] = {"start_ps", "Start", UNIT_PS, true},
    [CELL_OF_DUR] = {"dur_ps", "Time", UNIT_PS, true},
    [CELL_OF_WAITS_FOR] = {"waits_for", "Waits for", UNIT_TEXT, false},
    [CELL_OF_EDGE] = {"edge", "By", UNIT_TEXT, true},
    [CELL_OF_EVIDENCE] = {"evidence", "Evidence", UNIT_TEXT, true},
};

static const struct host_trace *host_of(const struct step_graph *graph, uint32_t node)
{
    return &graph->run->hosts[graph->lanes[graph->nodes[node].lane].host];
}

struct cell slice_cell(const struct step_graph *graph, uint32_t node, struct arena *arena)
{
    return cell_text(
        str_format(arena, "%.*s-%u", STR_ARG(host_of(graph, node)->key), graph->nodes[node].slice));
}

struct cell track_cell(const struct step_graph *graph, uint32_t node, struct arena *arena)
{
    const struct graph_lane *lane = &graph->lanes[graph->nodes[node].lane];

    return cell_text(str_format(arena, "%.*s.%u", STR_ARG(host_of(graph, node)->key), lane->track));
}

static struct cell evidence_cell(const struct path_piece *piece, struct arena *arena)
{
    const char *evidence = edge_evidence(piece->edge);

    if (piece->kind == PIECE_UNEXPLAINED && piece->edge != EDGE_NONE)
        return cell_text(
            str_format(arena, "%s; the profile records nothing for this time", evidence));
    return cell_text(piece->likely ? str_format(arena, "likely: %s", evidence) : str_of(evidence));
}

struct cell piece_cell(const struct step_graph *graph, const struct path_piece *piece,
                       enum piece_cell cell, struct arena *arena)
{
    bool is_end = graph->nodes[piece->node].slice == NO_SLICE;

    switch (cell) {
    case CELL_OF_KIND:
        return cell_text(str_of(piece_word(piece->kind)));
    case CELL_OF_NAME:
        return cell_text(piece_name(graph, piece));
    case CELL_OF_SLICE:
        return piece->gap ? cell_null(STR("it is a time between slices"))
                          : slice_cell(graph, piece->node, arena);
    case CELL_OF_TRACK:
        return is_end ? cell_null(STR("it lies before the step's end"))
                      : track_cell(graph, piece->node, arena);
    case CELL_OF_START:
        return cell_integer(piece->start_ps);
    case CELL_OF_DUR:
        return cell_integer(piece->dur_ps);
    case CELL_OF_WAITS_FOR:
        return piece->waits_for == NO_NODE
                   ? cell_null(STR("the profile does not say what it waited for"))
                   : slice_cell(graph, piece->waits_for, arena);
    case CELL_OF_EDGE:
        return cell_text(str_of(edge_word(piece->edge)));
    default:
        return evidence_cell(piece, arena);
    }
}

struct pieces {
    const struct step_graph *graph;
    const struct path *path;
    struct arena *arena;
};

static struct cell pieces_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct pieces *pieces = data;

    return piece_cell(pieces->graph, &pieces->path->pieces[row], (enum piece_cell)column,
                      pieces->arena);
}

static int by_duration(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

const struct step *critical_typical(const struct steps *steps, struct arena *arena)
{
    int64_t *durs = arena_array(arena, int64_t, (size_t)steps->count + 1);
    const struct step *best = NULL;
    uint32_t count = 0;
    uint64_t best_off = 0;

    for (uint32_t i = 0; i < steps->count; i++)
        if (step_counts(steps, &steps->items[i]))
            durs[count++] = steps->items[i].dur_ps;
    if (count == 0)
        return NULL;
    qsort(durs, count, sizeof *durs, by_duration);
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t off = step->dur_ps - durs[count / 2];
        uint64_t apart = off < 0 ? -(uint64_t)off : (uint64_t)off;

        if (step_counts(steps, step) && (best == NULL || apart < best_off)) {
            best = step;
            best_off = apart;
        }
    }
    return best;
}

const struct step *critical_step_of(const struct run_traces *run, const struct steps *steps,
                                    uint32_t host, slice_id slice)
{
    const struct slice of = trace_slice(run->hosts[host].trace, slice);
    int64_t at_ps = ps_sum(ps_sum(of.start_ps, of.dur_ps / 2), run->hosts[host].offset_ps);

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host == host && step->start_ps <= at_ps && at_ps - step->start_ps < step->dur_ps)
            return step;
    }
    return NULL;
}

/* What its first part waited for to begin; of a wait to end. */
static void tell_begin(const struct step_graph *graph, uint32_t node, struct arena *arena,
                       struct slice_on_path *of)
{
    const struct graph_edge *by = graph->nodes[node].release == RELEASE_WAIT
                                      ? node_ended_by(graph, node)
                                      : node_begun_by(graph, node);
    struct path_piece piece = {.node = node, .waits_for = NO_NODE};

    if (by != NULL) {
        piece.waits_for = by->from;
        piece.edge = (enum edge_kind)by->kind;
        piece.likely = by->likely;
        of->waits_for = str_format(arena, "%.*s-%u", STR_ARG(host_of(graph, by->from)->key),
                                   graph->nodes[by->from].slice);
    }
    of->edge = str_of(edge_word(piece.edge));
    of->evidence = evidence_cell(&piece, arena).of.text;
}

static void tell_slice(const struct step_graph *graph, const struct path *path, struct arena *arena,
                       struct slice_on_path *of)
{
    int64_t *slacks;

    of->reason = STR("it has no self time in the step: all its time belongs to what is inside it");
    if (graph->node_count < 2)
        return;
    slacks = memory_resize(NULL, graph->node_count, sizeof *slacks);
    slack_find(graph, slacks);
    for (uint32_t i = 0; i + 1 < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (node->slice != of->slice || graph->lanes[node->lane].host != of->host)
            continue;
        if (!of->known)
            tell_begin(graph, i, arena, of);
        if (!of->known || slacks[i] < of->slack_ps)
            of->slack_ps = slacks[i] < 0 ? 0 : slacks[i];
        of->known = true;
    }
    for (uint32_t i = 0; of->known && i < path->count; i++) {
        const struct graph_node *node = &graph->nodes[path->pieces[i].node];

        if (!path->pieces[i].gap && node->slice == of->slice &&
            graph->lanes[node->lane].host == of->host)
            ps_add(&of->on_path_ps, path->pieces[i].dur_ps);
    }
    free(slacks);
}

enum status critical_pieces(const struct run_traces *run, const struct steps *steps,
                            const struct step *step, const struct page *page,
                            struct slice_on_path *of, struct arena *arena, struct table *ret,
                            struct error *err)
{
    *ret = (struct table){.columns = columns, .column_count = COUNT(columns)};
    (void)err;
    if (run->host_count == 0) {
        table_tell_missing(ret, "no-timeline", STR("the run has no timeline"), arena);
        return OK;
    }

    struct graph_maker *maker = graph_maker_create(run, steps);
    const struct step_graph *graph = graph_of_step(maker, step);
    struct path path = {0};
    struct pieces pieces = {graph, &path, arena};
    struct answer_note *notes = arena_array(arena, struct answer_note, CRITICAL_NOTES);
    uint32_t *order;

    path_find(graph, &path);
    if (of != NULL)
        tell_slice(graph, &path, arena, of);
    order = arena_array(arena, uint32_t, (size_t)path.count + 1);
    for (uint32_t i = 0; i < path.count; i++)
        order[i] = i;

    const struct table_source source = {.columns = columns,
                                        .column_count = COUNT(columns),
                                        .row_count = path.count,
                                        .cell = pieces_cell,
                                        .data = &pieces};
    const struct critical_doubts doubts = {.total_ps = graph->to_ps - graph->from_ps,
                                           .unexplained_ps = path.kinds_ps[PIECE_UNEXPLAINED],
                                           .likely_ps = path.likely_ps,
                                           .cut_count = graph->cut_count,
                                           .left_out_count = graph->left_out_count,
                                           .step_count = 1,
                                           .step_count_all = 1,
                                           .no_steps = step == NULL,
                                           .doubt = steps->doubt,
                                           .run = run,
                                           .hosts_apart = run->host_count > 1 && !run->has_epoch};

    table_fill(&source, order, page, arena, ret);
    ret->note_count = critical_notes(&doubts, arena, notes);
    ret->notes = notes;
    ret->total_ps = doubts.total_ps;
    path_free(&path);
    graph_maker_free(maker);
    return OK;
}
