/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the graph of a step: lanes and nodes, then what each node waited for, then the step's
 * end. */
#include "analyse/critical/graph.h"

#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "trace/ps.h"

static const struct {
    const char *word, *evidence;
} edges[EDGE_KINDS] = {
    [EDGE_NONE] = {"none", "the profile does not say what it waited for"},
    [EDGE_THREAD] = {"thread-order", "the thread ran it before"},
    [EDGE_STREAM] = {"stream-order", "the stream or core ran it before"},
    [EDGE_LAUNCH] = {"launch", "the profile links the call to what it launched"},
    [EDGE_ARROW] = {"arrow", "a flow arrow of the profile leads here"},
    [EDGE_POOL] = {"pool", "the op ended, and its thread pool went on"},
    [EDGE_OPERAND] = {"operand", "its HLO instruction takes the result"},
    [EDGE_DEVICE] = {"device-done", "the wait ended after the device's last work"},
    [EDGE_QUEUE] = {"queue", "the wait ended after the last load on another thread"},
    [EDGE_HANDOVER] = {"handover", "another thread ran out of work just before"},
    [EDGE_CREATED] = {"created", "another thread made a thread just before"},
    [EDGE_CALLER] = {"caller", "a slice of another thread contains the driver's call"},
    [EDGE_TRANSFER] = {"transfer", "they are halves of one asynchronous op"},
    [EDGE_BESIDE] = {"other-stream", "it was the last to end on another stream of the device"},
    [EDGE_COLLECTIVE] = {"collective", "no participant ends before the last one has begun"},
    [EDGE_STEP] = {"step", "the step ends with it"},
};

const char *edge_word(enum edge_kind kind)
{
    return edges[kind].word;
}

const char *edge_evidence(enum edge_kind kind)
{
    return edges[kind].evidence;
}

const struct graph_edge *node_begun_by(const struct step_graph *graph, uint32_t node)
{
    const struct graph_node *of = &graph->nodes[node];
    const struct graph_edge *best = NULL;

    for (uint32_t i = of->first_edge; i < of->first_edge + of->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];

        if (!edge->to_end && (best == NULL || edge_ready(graph, edge) > edge_ready(graph, best)))
            best = edge;
    }
    return best;
}

const struct graph_edge *node_ended_by(const struct step_graph *graph, uint32_t node)
{
    const struct graph_node *of = &graph->nodes[node];
    const struct graph_edge *best = NULL;

    for (uint32_t i = of->first_edge; i < of->first_edge + of->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];

        if (!edge->to_end || edge_ready(graph, edge) <= of->start_ps)
            continue;
        if (best == NULL || edge_ready(graph, edge) > edge_ready(graph, best))
            best = edge;
    }
    return best;
}

/* What lies between the moment that counted and the begin or end is kept as a delay. */
static void keep_delays(struct step_graph *graph, uint32_t index)
{
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_edge *begun = node_begun_by(graph, index);
    const struct graph_edge *ended = node_ended_by(graph, index);

    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        struct graph_edge *edge = &graph->edges[i];

        if (edge == begun)
            edge->delay_ps = node->start_ps - edge_ready(graph, edge);
        else if (edge == ended)
            edge->delay_ps = node->end_ps - edge_ready(graph, edge);
        else if (edge->kind == EDGE_COLLECTIVE)
            edge->delay_ps =
                node->end_ps - (ended == NULL ? node->start_ps : edge_ready(graph, ended));
        else if (edge->to_end && ended != NULL)
            edge->delay_ps = node->end_ps - edge_ready(graph, ended);
    }
}

static void add_edges(struct graph_maker *maker)
{
    struct step_graph *graph = &maker->graph;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].first_edge = graph->edge_count;
        graph_add_begins(maker, i);
        graph_add_waits(maker, i);
        keep_delays(graph, i);
    }
}

static uint32_t add_end_node(struct step_graph *graph)
{
    if (graph->node_count == graph->node_capacity) {
        graph->node_capacity = graph->node_capacity == 0 ? 16 : 2 * graph->node_capacity;
        graph->nodes = memory_resize(graph->nodes, graph->node_capacity, sizeof *graph->nodes);
    }
    graph->nodes[graph->node_count] = (struct graph_node){.start_ps = graph->to_ps,
                                                          .end_ps = graph->to_ps,
                                                          .free_ps = graph->to_ps,
                                                          .slice = NO_SLICE,
                                                          .entry = NO_ENTRY,
                                                          .factor = 1,
                                                          .kind = KIND_IDLE,
                                                          .first_edge = graph->edge_count};
    return graph->node_count++;
}

/* The thread that marks the step was in it until its end. */
static bool end_by_thread(struct graph_maker *maker, uint32_t end)
{
    struct step_graph *graph = &maker->graph;
    const struct maker_host *host = &maker->hosts[graph->host];
    track_id track = graph->step->thread;
    uint32_t lane, at;

    if (graph->step->time_rule != STEP_TIME_SPAN || track == NO_TRACK || host->lane_of[track] == 0)
        return false;
    lane = host->first_lane + host->lane_of[track] - 1;
    at = lane_node_before(graph, lane, graph->to_ps);
    if (at == NO_NODE || graph->nodes[at].free_ps < graph->to_ps)
        return false;
    graph_add_edge(graph, (struct graph_edge){.from = at, .to = end, .kind = EDGE_STEP},
                   graph->to_ps);
    return true;
}

static bool is_of_step(const struct step_graph *graph, const struct graph_node *node)
{
    const struct graph_lane *lane = &graph->lanes[node->lane];
    int32_t device = lane->device;

    if (node->entry == NO_ENTRY || lane->host != graph->host)
        return false;
    if (lane->kind == LANE_THREAD)
        device = entry_at(graph->run->hosts[lane->host].attribution, node->entry).device;
    return graph->step == NULL || !graph->step->on_device || graph->step->device == device;
}

/* The step ends where the next one's work begins: what that waited for made it as long. */
static bool end_by_next(struct step_graph *graph, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (node->start_ps != graph->to_ps || !is_of_step(graph, node) || node->edge_count == 0)
            continue;
        for (uint32_t k = node->first_edge; k < node->first_edge + node->edge_count; k++) {
            struct graph_edge edge = graph->edges[k];
            int64_t ready_ps = edge_ready(graph, &edge);

            edge.to = end;
            if (!edge.to_end)
                graph_add_edge(graph, edge, ready_ps);
        }
        if (graph->nodes[end].edge_count > 0)
            return true;
    }
    return false;
}

/* What ended last by then, of the step's ops if there are any. */
static void end_by_last(struct step_graph *graph, uint32_t end)
{
    uint32_t best = NO_NODE;
    bool best_of = false;

    for (uint32_t i = 0; i < end; i++) {
        const struct graph_node *node = &graph->nodes[i];
        bool of = graph->step != NULL && is_of_step(graph, node);

        if (node->end_ps > graph->to_ps || (best_of && !of))
            continue;
        if (best == NO_NODE || (of && !best_of) || node->end_ps > graph->nodes[best].end_ps) {
            best = i;
            best_of = of;
        }
    }
    if (best != NO_NODE)
        graph_add_edge(graph, (struct graph_edge){.from = best, .to = end, .kind = EDGE_STEP},
                       graph->nodes[best].end_ps);
}

static void add_end(struct graph_maker *maker)
{
    struct step_graph *graph = &maker->graph;
    uint32_t end = add_end_node(graph);
    bool told = graph->step != NULL && (end_by_thread(maker, end) || end_by_next(graph, end));

    if (!told)
        end_by_last(graph, end);
    keep_delays(graph, end);
}

/* Other hosts take part where all have one clock, and are few. */
static bool hosts_meet(const struct run_traces *run)
{
    return run->host_count > 1 && run->host_count <= GRAPH_HOSTS_MAX && run->has_epoch;
}

static const struct step_graph *make(struct graph_maker *maker)
{
    struct step_graph *graph = &maker->graph;

    graph->run = maker->run;
    graph->lane_count = graph->node_count = graph->edge_count = 0;
    graph->cut_count = graph->left_out_count = 0;
    maker->arrival_count = maker->arrival_at = 0;
    maker->over_count = 0;
    for (uint32_t i = 0; i < maker->run->host_count; i++)
        maker->hosts[i].first_lane = UINT32_MAX;
    for (uint32_t i = 0; i < maker->run->host_count; i++) {
        if (i == graph->host || hosts_meet(maker->run))
            graph_add_host(maker, i, graph->from_ps, ps_sum(graph->to_ps, 1));
    }
    graph_settle_overs(maker);
    graph_order_ends(maker);
    graph_order_runs(maker);
    graph_find_collectives(maker);
    add_edges(maker);
    add_end(maker);
    return graph;
}

const struct step_graph *graph_of_steps(struct graph_maker *maker, const struct step *first,
                                        const struct step *last)
{
    struct step_graph *graph = &maker->graph;

    graph->step = last;
    graph->host = first->host;
    graph->from_ps = first->start_ps;
    graph->to_ps = ps_sum(last->start_ps, last->dur_ps);
    return make(maker);
}

const struct step_graph *graph_of_step(struct graph_maker *maker, const struct step *step)
{
    struct step_graph *graph = &maker->graph;

    if (step != NULL)
        return graph_of_steps(maker, step, step);

    const struct host_trace *host = &maker->run->hosts[0];

    graph->step = NULL;
    graph->host = 0;
    graph->from_ps = ps_sum(host->trace->start_ps, host->offset_ps);
    graph->to_ps = ps_sum(host->trace->end_ps, host->offset_ps);
    return make(maker);
}

struct graph_maker *graph_maker_create(const struct run_traces *run, const struct steps *steps)
{
    struct graph_maker *maker = memory_zeroed(1, sizeof *maker);

    maker->run = run;
    maker->steps = steps;
    maker->hosts = memory_zeroed((size_t)run->host_count + 1, sizeof *maker->hosts);
    return maker;
}

void graph_maker_edit(struct graph_maker *maker, const struct edits *edits)
{
    maker->edits = edits;
}

void graph_maker_free(struct graph_maker *maker)
{
    if (maker == NULL)
        return;
    for (uint32_t i = 0; i < maker->run->host_count; i++)
        maker_host_close(&maker->hosts[i]);
    free(maker->hosts);
    free(maker->graph.lanes);
    free(maker->graph.nodes);
    free(maker->graph.edges);
    free(maker->drawn);
    free(maker->arrivals);
    free(maker->overs);
    free(maker->ends);
    free(maker->devices);
    free(maker->op_runs);
    free(maker->met);
    free(maker->meeting);
    free(maker);
}
