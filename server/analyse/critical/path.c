/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a graph from the end of the step back to its begin. */
#include "analyse/critical/path.h"

#include <stdlib.h>

#include "trace/ps.h"

const char *piece_word(enum piece_kind kind)
{
    static const char *const words[] = {
        [PIECE_WAIT] = "wait",
        [PIECE_LAUNCH] = "launch",
        [PIECE_SCHEDULING] = "scheduling",
        [PIECE_UNEXPLAINED] = "unexplained",
    };

    return kind < (enum piece_kind)KIND_COUNT ? kind_word((enum kind)kind) : words[kind];
}

struct str piece_name(const struct step_graph *graph, const struct path_piece *piece)
{
    static const char *const gaps[] = {[PIECE_WAIT] = "wait for the device",
                                       [PIECE_LAUNCH] = "launch delay",
                                       [PIECE_SCHEDULING] = "scheduling delay",
                                       [PIECE_UNEXPLAINED] = "unexplained"};
    const struct graph_node *node = &graph->nodes[piece->node];

    if (piece->gap)
        return str_of(gaps[piece->kind]);
    return trace_name(graph->run->hosts[graph->lanes[node->lane].host].trace, node->name);
}

enum piece_kind gap_kind(enum edge_kind edge, int64_t gap_ps)
{
    switch (edge) {
    case EDGE_LAUNCH:
        return PIECE_LAUNCH;
    case EDGE_DEVICE:
        return PIECE_WAIT;
    case EDGE_ARROW:
    case EDGE_POOL:
    case EDGE_HANDOVER:
    case EDGE_CREATED:
    case EDGE_CALLER:
        return PIECE_SCHEDULING;
    case EDGE_THREAD:
    case EDGE_STREAM:
    case EDGE_OPERAND:
    case EDGE_BESIDE:
        return gap_ps <= NEXT_OP_PS ? PIECE_SCHEDULING : PIECE_UNEXPLAINED;
    default:
        return PIECE_UNEXPLAINED;
    }
}

/* The part of a piece within the step; pieces come from the end to the begin. */
static void add_piece(const struct step_graph *graph, struct path *path, struct path_piece piece)
{
    int64_t end_ps = piece.start_ps + piece.dur_ps;

    if (piece.start_ps < graph->from_ps)
        piece.start_ps = graph->from_ps;
    piece.dur_ps = end_ps - piece.start_ps;
    if (piece.dur_ps <= 0)
        return;
    if (path->count == path->capacity) {
        path->capacity = path->capacity == 0 ? 256 : 2 * path->capacity;
        path->pieces = memory_resize(path->pieces, path->capacity, sizeof *path->pieces);
    }
    path->pieces[path->count++] = piece;
    ps_add(&path->kinds_ps[piece.kind], piece.dur_ps);
    if (piece.likely)
        ps_add(&path->likely_ps, piece.dur_ps);
}

static enum piece_kind work_kind(const struct graph_node *node)
{
    return node->kind == KIND_IDLE ? PIECE_WAIT : (enum piece_kind)node->kind;
}

/* The time of a node up to `at`; what it waited for before that: to end, or to begin. */
static const struct graph_edge *add_node(const struct step_graph *graph, struct path *path,
                                         uint32_t index, int64_t at_ps)
{
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_edge *by =
        at_ps == node->end_ps && node->release != RELEASE_NONE ? node_ended_by(graph, index) : NULL;
    struct path_piece piece = {.node = index, .kind = work_kind(node), .waits_for = NO_NODE};
    int64_t from_ps = by == NULL ? node->start_ps : edge_ready(graph, by);

    if (by == NULL)
        by = node_begun_by(graph, index);
    piece.start_ps = from_ps;
    piece.dur_ps = at_ps - from_ps;
    if (by != NULL) {
        piece.waits_for = by->from;
        piece.edge = (enum edge_kind)by->kind;
        piece.likely = by->likely;
    }
    add_piece(graph, path, piece);
    return by;
}

static void add_gap(const struct step_graph *graph, struct path *path, const struct graph_edge *by,
                    int64_t to_ps)
{
    int64_t from_ps = edge_ready(graph, by);
    enum edge_kind edge = (enum edge_kind)by->kind;

    add_piece(graph, path,
              (struct path_piece){.node = by->to,
                                  .gap = true,
                                  .kind = gap_kind(edge, to_ps - from_ps),
                                  .start_ps = from_ps,
                                  .dur_ps = to_ps - from_ps,
                                  .waits_for = by->from,
                                  .edge = edge,
                                  .likely = by->likely});
}

static void turn_around(struct path *path)
{
    for (uint32_t i = 0; i < path->count / 2; i++) {
        struct path_piece piece = path->pieces[i];

        path->pieces[i] = path->pieces[path->count - 1 - i];
        path->pieces[path->count - 1 - i] = piece;
    }
}

void path_find(const struct step_graph *graph, struct path *path)
{
    uint32_t at = graph->node_count - 1;
    int64_t at_ps = graph->to_ps;
    const struct graph_edge *by = node_begun_by(graph, at);

    path->count = 0;
    path->likely_ps = 0;
    memset(path->kinds_ps, 0, sizeof path->kinds_ps);
    /* Each step goes back in time, or from an end to a begin: edges lead forward. */
    while (by != NULL && at_ps > graph->from_ps) {
        if (!by->to_end)
            add_gap(graph, path, by, at_ps);
        at_ps = edge_ready(graph, by);
        at = by->from;
        if (at_ps <= graph->from_ps)
            break;
        by = add_node(graph, path, at, at_ps);
        at_ps = by != NULL && by->to_end ? edge_ready(graph, by) : graph->nodes[at].start_ps;
    }
    if (at_ps > graph->from_ps)
        add_piece(graph, path,
                  (struct path_piece){.node = at,
                                      .gap = true,
                                      .kind = PIECE_UNEXPLAINED,
                                      .start_ps = graph->from_ps,
                                      .dur_ps = at_ps - graph->from_ps,
                                      .waits_for = NO_NODE});
    turn_around(path);
}

void path_free(struct path *path)
{
    free(path->pieces);
    *path = (struct path){0};
}
