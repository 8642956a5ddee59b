/* SPDX-License-Identifier: Apache-2.0 */
/* What another thread had to do with it that one begins, where no arrow tells: by time, so only
 * likely.
 *
 *   main      |pthread_create|                       created: the thread's first record comes now
 *   worker                      |work ....
 *
 *   pool      |async_copy .................|         caller: the driver's recorder has lines of its
 *   Host Threads/659   |hipMemcpyDtoDAsync |         own for the threads that call it
 *
 *   tf_1        |ExecutorState::Process .....        handover: a thread of TensorFlow does what it
 *   tf_2      rest ...   |ExecutorState::Process     is given
 */
#include "analyse/critical/graph_parts.h"
#include "trace/ps.h"

enum {
    LANES_ASKED = 256,
    MADE_PS = 200000000, /* a thread that was made runs within that */
    REST_PS = 20000000,  /* shorter rests are not asked about */
};

/* Is nothing recorded of the node's thread before it? */
static bool begins_thread(const struct graph_maker *maker, uint32_t index)
{
    const struct graph_node *node = &maker->graph.nodes[index];
    const struct maker_host *host = &maker->hosts[maker->graph.lanes[node->lane].host];
    const struct maker_lane *lane = &host->lanes[node->lane - host->first_lane];

    for (uint32_t i = 0; i < lane->track_count; i++) {
        const struct trace *trace = host->host->trace;
        const struct track *track = &trace->tracks[host->tracks[lane->first_track + i]];

        if (track->row_count > 0 &&
            ps_sum(trace->rows[track->first_row].start_ps, host->host->offset_ps) < node->start_ps)
            return false;
    }
    return true;
}

/* The last node of the lane before a moment that is such a call and began or ended shortly
 * before. */
static uint32_t creates_thread(const struct step_graph *graph, uint32_t lane, int64_t at_ps)
{
    enum { LOOKED_AT = 32 };
    const struct trace *trace = graph->run->hosts[graph->lanes[lane].host].trace;
    uint32_t at = lane_node_before(graph, lane, at_ps);

    for (int looked = 0; at != NO_NODE && looked < LOOKED_AT; looked++) {
        const struct graph_node *node = &graph->nodes[at];

        if (at_ps - node->free_ps > MADE_PS)
            return NO_NODE;
        if (str_equal(trace_name(trace, node->name), STR("pthread_create")) ||
            str_equal(trace_name(trace, node->name), STR("start_new_thread")))
            return at;
        at = at > graph->lanes[lane].first_node ? at - 1 : NO_NODE;
    }
    return NO_NODE;
}

/* Is it a turn on a processor, as a scheduler tells it? Then the thread did not run before. */
static bool is_turn(const struct trace *trace, const struct graph_node *node)
{
    const struct row *row = &trace->rows[trace_row_of(trace, node->slice)];

    return str_equal(trace_name(trace, trace->tracks[row->track].name), STR("CPU")) &&
           str_starts(trace_name(trace, node->name), STR("CPU "));
}

/* Of the other threads of its process the one that had just called for a thread; where the node is
 * a thread's first turn on a processor, else the only one that was running then. */
static uint32_t creator_of(const struct step_graph *graph, uint32_t index)
{
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *own = &graph->lanes[node->lane];
    const struct trace *trace = graph->run->hosts[own->host].trace;
    uint32_t best = NO_NODE, runs = NO_NODE, running = 0;

    for (uint32_t i = 0; i < graph->lane_count && i < LANES_ASKED; i++) {
        const struct graph_lane *lane = &graph->lanes[i];
        uint32_t at, open;

        if (i == node->lane || lane->host != own->host || lane->kind != LANE_THREAD ||
            trace->tracks[lane->track].parent != trace->tracks[own->track].parent)
            continue;
        at = creates_thread(graph, i, node->start_ps);
        if (at != NO_NODE &&
            (best == NO_NODE || graph->nodes[at].start_ps > graph->nodes[best].start_ps))
            best = at;
        open = lane_node_before(graph, i, node->start_ps);
        if (open != NO_NODE && graph->nodes[open].end_ps > node->start_ps) {
            runs = open;
            running++;
        }
    }
    return best != NO_NODE ? best : running == 1 && is_turn(trace, node) ? runs : NO_NODE;
}

/* Does the thread's name begin so? */
static bool is_of(const struct step_graph *graph, uint32_t lane, struct str begin)
{
    const struct trace *trace = graph->run->hosts[graph->lanes[lane].host].trace;

    return str_starts(trace_name(trace, trace->tracks[graph->lanes[lane].track].name), begin);
}

/* Of the host's other threads the node that began last of those that began after `from_ps`, and
 * lasted from before a moment to another one. A driver's line only repeats what a thread does. */
static uint32_t open_around(const struct step_graph *graph, uint32_t own, int64_t from_ps,
                            int64_t at_ps, int64_t to_ps)
{
    uint32_t best = NO_NODE;

    for (uint32_t lane = 0; lane < graph->lane_count && lane < LANES_ASKED; lane++) {
        uint32_t at;

        if (lane == own || graph->lanes[lane].host != graph->lanes[own].host ||
            graph->lanes[lane].kind != LANE_THREAD || is_of(graph, lane, STR("Host Threads/")))
            continue;
        at = lane_node_before(graph, lane, at_ps);
        if (at != NO_NODE && graph->nodes[at].start_ps >= from_ps &&
            graph->nodes[at].end_ps > at_ps && graph->nodes[at].end_ps >= to_ps &&
            (best == NO_NODE || graph->nodes[at].start_ps > graph->nodes[best].start_ps))
            best = at;
    }
    return best;
}

void graph_add_sender(struct graph_maker *maker, uint32_t index, int64_t free_ps)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    struct graph_edge edge = {.to = index, .likely = true, .from = NO_NODE};

    if (is_of(graph, node->lane, STR("Host Threads/"))) {
        edge.kind = EDGE_CALLER;
        edge.from = open_around(graph, node->lane, INT64_MIN, node->start_ps, node->end_ps);
    } else if (is_of(graph, node->lane, STR("tf_")) && !graph->lanes[node->lane].pool &&
               free_ps != INT64_MIN && node->start_ps - free_ps >= REST_PS) {
        edge.kind = EDGE_HANDOVER;
        edge.from = open_around(graph, node->lane, free_ps, node->start_ps, node->start_ps);
    } else if (node->edge_count == 0 && begins_thread(maker, index)) {
        edge.kind = EDGE_CREATED;
        edge.from = creator_of(graph, index);
    }
    if (edge.from == NO_NODE)
        return;

    const int64_t end_ps = graph->nodes[edge.from].free_ps;

    graph_add_edge(graph, edge, end_ps < node->start_ps ? end_ps : node->start_ps);
}
