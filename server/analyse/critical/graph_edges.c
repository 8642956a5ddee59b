/* SPDX-License-Identifier: Apache-2.0 */
/* What lets nodes begin: what was before on their lane, the call that sent them, arrows, pools that
 * go on, other streams. */
#include "analyse/critical/graph_parts.h"
#include "trace/ps.h"

enum {
    CORE_WAITS_PS = 20000000, /* a task that waits shorter needs no reason */
    CORE_TAKES_PS = 50000000, /* from one thread to the next on a core; measured: 5 to 40 us */
};

static bool leads_forward(const struct step_graph *graph, const struct graph_edge *edge,
                          int64_t ready_ps)
{
    const struct graph_node *from = &graph->nodes[edge->from], *to = &graph->nodes[edge->to];

    if (edge->from == edge->to || ready_ps < from->start_ps || ready_ps > from->end_ps)
        return false;
    if (edge->to_end)
        return ready_ps < to->end_ps ||
               (ready_ps == to->end_ps && ready_ps == from->end_ps && from->release < to->release);
    return ready_ps <= to->start_ps && from->start_ps < to->start_ps;
}

void graph_add_edge(struct step_graph *graph, struct graph_edge edge, int64_t ready_ps)
{
    if (!leads_forward(graph, &edge, ready_ps)) {
        graph->cut_count += edge.from != edge.to;
        return;
    }
    if (graph->edge_count == graph->edge_capacity) {
        graph->edge_capacity = graph->edge_capacity == 0 ? 8192 : 2 * graph->edge_capacity;
        graph->edges = memory_resize(graph->edges, graph->edge_capacity, sizeof *graph->edges);
    }
    edge.at_ps = ready_ps - graph->nodes[edge.from].start_ps;
    graph->edges[graph->edge_count++] = edge;
    graph->nodes[edge.to].edge_count++;
}

/* When the node before it on its lane let go; INT64_MIN: there is none. */
static int64_t add_order(struct step_graph *graph, uint32_t index)
{
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *lane = &graph->lanes[node->lane];
    int64_t free_ps;

    if (lane->kind == LANE_ASYNC || index == lane->first_node)
        return INT64_MIN;
    free_ps = graph->nodes[index - 1].free_ps;
    if (free_ps > node->start_ps)
        free_ps = node->start_ps;
    graph_add_edge(
        graph,
        (struct graph_edge){.from = index - 1,
                            .to = index,
                            .kind = lane->kind == LANE_THREAD ? EDGE_THREAD : EDGE_STREAM},
        free_ps);
    return free_ps;
}

/* From a moment of a lane: the node that lasts until then, or runs at it. */
static int64_t add_from_lane(struct step_graph *graph, uint32_t lane, int64_t at_ps, bool ended,
                             struct graph_edge edge)
{
    edge.from = ended ? lane_node_before(graph, lane, at_ps) : lane_node_at(graph, lane, at_ps);
    if (edge.from == NO_NODE)
        return INT64_MIN;
    if (at_ps > graph->nodes[edge.from].free_ps)
        at_ps = graph->nodes[edge.from].free_ps;
    graph_add_edge(graph, edge, at_ps);
    return at_ps;
}

/* The call that sent an op, or the execution that the op is the first of. */
static slice_id launch_of(const struct graph_maker *maker, uint32_t index)
{
    const struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *lane = &graph->lanes[node->lane];
    const struct attribution *of = maker->run->hosts[lane->host].attribution;
    const struct attributed *entry = ENTRY_AT(of, node->entry);
    bool begins = true;

    if (index > lane->first_node && graph->nodes[index - 1].entry != NO_ENTRY)
        begins = entry_at(of, graph->nodes[index - 1].entry).execution != entry->execution;
    if (lane->kind == LANE_THREAD || entry->launch == NO_SLICE) {
        if (!begins || entry->execution == NO_EXECUTION)
            return lane->kind == LANE_THREAD ? NO_SLICE : entry->launch;
        return of->executions[entry->execution].launch;
    }
    return entry->launch;
}

/* When the call had sent it; INT64_MIN: no call is known, or it was made before the window. */
static int64_t add_launch(struct graph_maker *maker, uint32_t index)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const uint32_t host = graph->lanes[node->lane].host;
    struct maker_host *of = &maker->hosts[host];
    struct graph_edge edge = {.to = index, .kind = EDGE_LAUNCH};
    slice_id launch = launch_of(maker, index);
    struct launch_call call;
    uint32_t lane;

    if (launch == NO_SLICE || !launch_read(of->reader, launch, &call))
        return INT64_MIN;
    lane = lane_of_slice(maker, host, launch);
    if (lane == UINT32_MAX)
        return INT64_MIN;

    int64_t start_ps = ps_sum(call.start_ps, of->host->offset_ps);
    int64_t end_ps = ps_sum(start_ps, call.dur_ps);

    if (end_ps <= node->start_ps)
        return add_from_lane(graph, lane, end_ps, true, edge);
    return add_from_lane(graph, lane, start_ps, false, edge);
}

/* What ended last on another stream of the device while nothing else explains the gap. */
static void add_beside(struct graph_maker *maker, uint32_t index, int64_t ready_ps)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *lane = &graph->lanes[node->lane];
    uint32_t at = ends_before(maker, lane->host, lane->device, node->start_ps);

    for (int looked = 0; at != UINT32_MAX && looked < 16; looked++, at--) {
        const struct by_end *end = &maker->ends[at];

        if (end->host != lane->host || end->device != lane->device || end->end_ps <= ready_ps)
            return;
        if (end->lane != node->lane) {
            graph_add_edge(graph,
                           (struct graph_edge){
                               .from = end->node, .to = index, .kind = EDGE_BESIDE, .likely = true},
                           end->end_ps);
            return;
        }
        if (at == 0)
            return;
    }
}

/* From what the arrow comes from: when that was over, or, where it goes on, when the arrow left. */
static bool add_arrow(struct graph_maker *maker, uint32_t index, const struct flow *flow)
{
    struct step_graph *graph = &maker->graph;
    const uint32_t host = graph->lanes[graph->nodes[index].lane].host;
    const struct host_trace *of = maker->hosts[host].host;
    const struct slice from = trace_slice(of->trace, flow->from);
    const int64_t end_ps = ps_sum(ps_sum(from.start_ps, from.dur_ps), of->offset_ps);
    const int64_t sent_ps = ps_sum(flow->from_ps, of->offset_ps);
    const bool over = from.dur_ps > 0 && end_ps <= graph->nodes[index].start_ps;
    uint32_t lane = lane_of_slice(maker, host, flow->from), at;

    if (lane == UINT32_MAX)
        return false;
    at = lane_node_at(graph, lane, sent_ps);
    (void)add_from_lane(graph, lane, over ? end_ps : sent_ps,
                        over || at == NO_NODE || graph->nodes[at].slice != flow->from,
                        (struct graph_edge){.to = index, .kind = EDGE_ARROW});
    return true;
}

static bool add_arrows(struct graph_maker *maker, uint32_t index, slice_id launch)
{
    bool any = false;

    while (maker->arrival_at < maker->arrival_count &&
           maker->arrivals[maker->arrival_at].node < index)
        maker->arrival_at++;
    for (uint32_t i = maker->arrival_at;
         i < maker->arrival_count && maker->arrivals[i].node == index; i++) {
        if (maker->arrivals[i].flow->from != launch)
            any |= add_arrow(maker, index, maker->arrivals[i].flow);
    }
    return any;
}

/* An op that goes on elsewhere was over: who ran its last part goes on with the program. */
static void add_pool(struct graph_maker *maker, uint32_t index, int64_t free_ps)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const uint32_t host = graph->lanes[node->lane].host;
    uint32_t best = NO_NODE;
    bool sure;

    for (uint32_t i = 0; i < maker->device_count; i++) {
        if (maker->devices[i].host != host)
            continue;

        uint32_t at = ends_before(maker, host, maker->devices[i].device, node->start_ps);

        for (int looked = 0; at != UINT32_MAX && looked < 16; looked++) {
            const struct by_end *end = &maker->ends[at];

            if (end->host != host || end->device != maker->devices[i].device ||
                end->end_ps <= free_ps)
                break;
            if (graph->nodes[end->node].end_ps > graph->nodes[end->node].free_ps) {
                if (best == NO_NODE || end->end_ps > graph->nodes[best].end_ps)
                    best = end->node;
                break;
            }
            if (at-- == 0)
                break;
        }
    }
    if (best == NO_NODE)
        return;
    sure = graph->nodes[best].end_ps == node->start_ps;
    graph_add_edge(
        graph, (struct graph_edge){.from = best, .to = index, .kind = EDGE_POOL, .likely = !sure},
        graph->nodes[best].end_ps);
}

/* The file marks who went on when which op was over. */
static bool add_overs(struct graph_maker *maker, uint32_t index)
{
    bool any = false;

    while (maker->over_at < maker->over_count && maker->overs[maker->over_at].node < index)
        maker->over_at++;
    for (uint32_t i = maker->over_at; i < maker->over_count && maker->overs[i].node == index; i++) {
        graph_add_edge(
            &maker->graph,
            (struct graph_edge){.from = maker->overs[i].op, .to = index, .kind = EDGE_POOL},
            maker->graph.nodes[maker->overs[i].op].end_ps);
        any = true;
    }
    return any;
}

/* When what is known to have held a begin was ready last. */
static int64_t ready_last(const struct step_graph *graph, uint32_t index)
{
    const struct graph_node *node = &graph->nodes[index];
    int64_t last_ps = INT64_MIN;

    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        int64_t ready_ps = edge_ready(graph, &graph->edges[i]);

        if (!graph->edges[i].to_end && ready_ps > last_ps)
            last_ps = ready_ps;
    }
    return last_ps;
}

static int64_t latest(int64_t one_ps, int64_t other_ps)
{
    return one_ps > other_ps ? one_ps : other_ps;
}

/* When the pool's thread last let its core go by a moment: its work was over, or began to wait for
 * other devices. NO_NODE: it has it, or had none. */
static uint32_t core_left(const struct step_graph *graph, uint32_t lane, int64_t at_ps,
                          int64_t *ret_ps)
{
    uint32_t at = lane_node_before(graph, lane, at_ps);

    if (at == NO_NODE)
        return NO_NODE;

    const struct graph_node *node = &graph->nodes[at];
    bool meets = node->release == RELEASE_OP && node->kind == KIND_COMMUNICATION;

    if (node->free_ps > at_ps && !meets)
        return NO_NODE;
    *ret_ps = node->free_ps > at_ps ? node->start_ps : node->free_ps;
    return at;
}

/* Threads of a pool share cores: a task that was sent long before began when another thread of the
 * host's pools had let a core go. By time, so only likely. */
static void add_core(struct graph_maker *maker, uint32_t index)
{
    enum { LANES_ASKED = 256 };
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    int64_t after_ps = ready_last(graph, index), best_ps = INT64_MIN;
    uint32_t best = NO_NODE;

    if (after_ps < graph->from_ps) /* what came before the step is not in its graph */
        after_ps = graph->from_ps;
    if (node->start_ps - after_ps < CORE_WAITS_PS)
        return;
    for (uint32_t lane = 0; lane < graph->lane_count && lane < LANES_ASKED; lane++) {
        int64_t left_ps;
        uint32_t at;

        if (lane == node->lane || graph->lanes[lane].host != graph->lanes[node->lane].host ||
            graph->lanes[lane].kind != LANE_THREAD || !graph->lanes[lane].pool)
            continue;
        at = core_left(graph, lane, node->start_ps, &left_ps);
        if (at != NO_NODE && left_ps > best_ps) {
            best = at;
            best_ps = left_ps;
        }
    }
    if (best == NO_NODE || best_ps <= after_ps || node->start_ps - best_ps > CORE_TAKES_PS)
        return;
    graph_add_edge(
        graph,
        (struct graph_edge){.from = best, .to = index, .kind = EDGE_HANDOVER, .likely = true},
        best_ps);
}

void graph_add_begins(struct graph_maker *maker, uint32_t index)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_lane *lane = &graph->lanes[graph->nodes[index].lane];
    int64_t free_ps = add_order(graph, index), sent_ps = INT64_MIN, held_ps;
    slice_id launch = NO_SLICE;
    bool told;

    if (graph->nodes[index].entry != NO_ENTRY && graph->nodes[index].first) {
        launch = launch_of(maker, index);
        sent_ps = add_launch(maker, index);
    }
    told = add_arrows(maker, index, launch);
    held_ps = graph_add_needs(maker, index);
    sent_ps = latest(sent_ps, held_ps);
    told |= held_ps > free_ps && graph->nodes[index].start_ps - held_ps <= NEXT_OP_PS;
    if (lane->kind == LANE_THREAD && lane->pool && free_ps < graph->nodes[index].start_ps &&
        !add_overs(maker, index))
        add_pool(maker, index, free_ps);
    if (lane->kind == LANE_ASYNC)
        graph_add_started(maker, index);
    if (lane->kind == LANE_THREAD && !told && free_ps < graph->nodes[index].start_ps)
        graph_guess_rest(maker, index, free_ps);
    if (lane->kind == LANE_THREAD && lane->pool && free_ps < graph->nodes[index].start_ps)
        add_core(maker, index);
    if (lane->kind == LANE_THREAD && free_ps < graph->nodes[index].start_ps &&
        ready_last(graph, index) <= free_ps)
        graph_add_sender(maker, index, free_ps);
    if (lane->kind == LANE_ORDER && free_ps < graph->nodes[index].start_ps)
        add_beside(maker, index, latest(ready_last(graph, index), latest(free_ps, sent_ps)));
}
