/* SPDX-License-Identifier: Apache-2.0 */
/* What lets waits end: the devices whose work a thread awaits, the thread that loads what it
 * takes, the asynchronous half of a done. */
#include "analyse/critical/graph_parts.h"

static void add_device_end(struct step_graph *graph, uint32_t from, uint32_t index, bool to_end)
{
    graph_add_edge(graph,
                   (struct graph_edge){.from = from,
                                       .to = index,
                                       .kind = EDGE_DEVICE,
                                       .to_end = to_end,
                                       .likely = !graph->nodes[index].sync || !to_end},
                   graph->nodes[from].end_ps);
}

/* The last work of each stream and core, and of each device that has none of these, that had ended
 * when the wait was over. */
static void add_devices(struct graph_maker *maker, uint32_t index, int64_t at_ps, bool to_end)
{
    struct step_graph *graph = &maker->graph;
    const uint32_t host = graph->lanes[graph->nodes[index].lane].host;

    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        uint32_t at;

        if (graph->lanes[lane].host != host || graph->lanes[lane].kind != LANE_ORDER)
            continue;
        at = lane_node_before(graph, lane, at_ps);
        if (at != NO_NODE && graph->nodes[at].end_ps > at_ps)
            at = at > graph->lanes[lane].first_node ? at - 1 : NO_NODE;
        if (at != NO_NODE)
            add_device_end(graph, at, index, to_end);
    }
    for (uint32_t i = 0; i < maker->device_count && !maker->hosts[host].has_devices; i++) {
        uint32_t at = maker->devices[i].host == host
                          ? ends_before(maker, host, maker->devices[i].device, at_ps)
                          : UINT32_MAX;

        if (at != UINT32_MAX)
            add_device_end(graph, maker->ends[at].node, index, to_end);
    }
}

/* The last node of a lane that ended within (from, to], if it loads data and then rests. */
static uint32_t loaded_on(const struct step_graph *graph, uint32_t lane, int64_t from_ps,
                          int64_t to_ps)
{
    const struct graph_lane *of = &graph->lanes[lane];
    uint32_t at = lane_node_before(graph, lane, to_ps);

    if (at != NO_NODE && graph->nodes[at].free_ps > to_ps)
        at = at > of->first_node ? at - 1 : NO_NODE;
    if (at == NO_NODE || graph->nodes[at].free_ps <= from_ps ||
        graph->nodes[at].release == RELEASE_WAIT)
        return NO_NODE;
    return graph->nodes[at].kind == KIND_INPUT ? at : NO_NODE;
}

/* Of the host's other threads the one that was done with loading last. */
static bool add_queue(struct graph_maker *maker, uint32_t index)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const uint32_t host = graph->lanes[node->lane].host;
    uint32_t best = NO_NODE;

    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        uint32_t at;

        if (lane == node->lane || graph->lanes[lane].host != host ||
            graph->lanes[lane].kind != LANE_THREAD)
            continue;
        at = loaded_on(graph, lane, node->start_ps, node->end_ps);
        if (at != NO_NODE &&
            (best == NO_NODE || graph->nodes[at].free_ps > graph->nodes[best].free_ps))
            best = at;
    }
    if (best == NO_NODE)
        return false;
    graph_add_edge(
        graph,
        (struct graph_edge){
            .from = best, .to = index, .kind = EDGE_QUEUE, .to_end = true, .likely = true},
        graph->nodes[best].free_ps);
    return true;
}

/* "all-gather-done.3" and "all-gather-start.3" are halves of one. */
static struct str without_half(struct str name)
{
    static const char *const halves[] = {"-start", "-done"};

    for (size_t i = 0; i < COUNT(halves); i++) {
        const size_t count = strlen(halves[i]);

        for (size_t at = 0; at + count <= name.count; at++) {
            if (memcmp(name.at + at, halves[i], count) == 0)
                return (struct str){name.at, at};
        }
    }
    return name;
}

static bool are_halves(const struct trace *trace, const struct graph_node *one,
                       const struct graph_node *other)
{
    return str_equal(without_half(trace_name(trace, one->name)),
                     without_half(trace_name(trace, other->name)));
}

/* Of the device's asynchronous lanes what the done takes by its HLO, else what ended last before it
 * did. */
static void add_transfer(struct graph_maker *maker, uint32_t index)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *lane = &graph->lanes[node->lane];
    const struct trace *trace = maker->run->hosts[lane->host].trace;
    const struct by_end *best = NULL;
    uint32_t at = ends_before(maker, lane->host, lane->device, node->end_ps);
    bool named = false;

    for (int looked = 0; at != UINT32_MAX && looked < 64; looked++) {
        const struct by_end *end = &maker->ends[at];

        if (end->host != lane->host || end->device != lane->device || end->end_ps <= node->start_ps)
            break;
        if (graph->lanes[end->lane].kind == LANE_ASYNC) {
            if (best == NULL)
                best = end;
            if (graph_needs_name(maker, index, graph->nodes[end->node].name)) {
                best = end;
                named = true;
                break;
            }
        }
        if (at-- == 0)
            break;
    }
    if (best == NULL)
        return;
    named |= are_halves(trace, &graph->nodes[best->node], node);
    graph_add_edge(graph,
                   (struct graph_edge){.from = best->node,
                                       .to = index,
                                       .kind = EDGE_TRANSFER,
                                       .to_end = true,
                                       .likely = !named},
                   best->end_ps);
}

/* Does anything of the host's devices run at a moment? `ret_ps`: when the last of it ended. */
static bool devices_rest(const struct graph_maker *maker, uint32_t host, int64_t at_ps,
                         int64_t *ret_ps)
{
    *ret_ps = INT64_MIN;
    for (uint32_t i = 0; i < maker->device_count; i++) {
        uint32_t at, next;

        if (maker->devices[i].host != host)
            continue;
        at = ends_before(maker, host, maker->devices[i].device, at_ps);
        next = at == UINT32_MAX ? maker->devices[i].first : at + 1;
        if (at != UINT32_MAX && maker->ends[at].end_ps > *ret_ps)
            *ret_ps = maker->ends[at].end_ps;
        /* Of those that end later the one that ends first: on a lane in order it begins first. */
        for (int looked = 0; next < maker->devices[i].end && looked < 8; looked++, next++) {
            if (maker->graph.nodes[maker->ends[next].node].start_ps <= at_ps)
                return false;
        }
    }
    return *ret_ps != INT64_MIN;
}

/* On the cores of its device the op that began it: of its name, or the last to end by then. */
void graph_add_started(struct graph_maker *maker, uint32_t index)
{
    enum { LOOKED_AT = 8 };
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_lane *own = &graph->lanes[node->lane];
    const struct trace *trace = maker->run->hosts[own->host].trace;

    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        const struct graph_lane *of = &graph->lanes[lane];
        uint32_t at, best;

        if (of->host != own->host || of->device != own->device || of->kind != LANE_ORDER)
            continue;
        at = best = lane_node_before(graph, lane, node->start_ps);
        for (int k = 0;
             at != NO_NODE && k < LOOKED_AT && !are_halves(trace, &graph->nodes[at], node); k++)
            at = at > of->first_node ? at - 1 : NO_NODE;
        if (at != NO_NODE && are_halves(trace, &graph->nodes[at], node))
            best = at;
        if (best == NO_NODE)
            continue;

        const struct graph_node *from = &graph->nodes[best];

        graph_add_edge(graph,
                       (struct graph_edge){.from = best,
                                           .to = index,
                                           .kind = EDGE_TRANSFER,
                                           .likely = !are_halves(trace, from, node)},
                       from->end_ps <= node->start_ps ? from->end_ps : from->start_ps);
    }
}

enum {
    LEAST_PS = 20000000, /* shorter rests are not asked about */
    WAKE_PS = 200000000, /* a thread that waits goes on within that */
};

/* Is a release at `done_ps` near enough to the end of a rest, and far enough from its begin? */
static bool fits_rest(int64_t from_ps, int64_t to_ps, int64_t done_ps)
{
    return done_ps <= to_ps && done_ps - from_ps >= (to_ps - from_ps) / 2 &&
           to_ps - done_ps <= WAKE_PS;
}

/* Did the thread likely wait for devices while nothing was recorded of it? It went on right after
 * they had nothing left to do. */
static bool waited_for_devices(const struct graph_maker *maker, uint32_t host, int64_t from_ps,
                               int64_t to_ps)
{
    int64_t done_ps;

    return devices_rest(maker, host, to_ps, &done_ps) && fits_rest(from_ps, to_ps, done_ps);
}

/* The last node before a moment at which its lane rests: nothing is open, or only a step, or it
 * waits. */
static uint32_t last_before_rest(const struct step_graph *graph, uint32_t lane, int64_t at_ps)
{
    const struct graph_lane *of = &graph->lanes[lane];
    uint32_t at = lane_node_before(graph, lane, at_ps);

    if (at == NO_NODE)
        return NO_NODE;
    if ((graph->nodes[at].mark || graph->nodes[at].release == RELEASE_WAIT) &&
        graph->nodes[at].free_ps >= at_ps)
        at = at > of->first_node ? at - 1 : NO_NODE;
    return at == NO_NODE || graph->nodes[at].free_ps > at_ps ? NO_NODE : at;
}

/* Of the host's other threads the one that came to rest last. */
static uint32_t rested_last(const struct step_graph *graph, uint32_t own, int64_t at_ps)
{
    enum { LANES_ASKED = 256 };
    uint32_t best = NO_NODE;

    for (uint32_t lane = 0; lane < graph->lane_count && lane < LANES_ASKED; lane++) {
        uint32_t at;

        if (lane == own || graph->lanes[lane].host != graph->lanes[own].host ||
            graph->lanes[lane].kind != LANE_THREAD || graph->lanes[lane].pool)
            continue;
        at = last_before_rest(graph, lane, at_ps);
        if (at != NO_NODE &&
            (best == NO_NODE || graph->nodes[at].free_ps > graph->nodes[best].free_ps))
            best = at;
    }
    return best;
}

/* What a thread likely waited for in [from, to), of which nothing is recorded: devices, or another
 * thread that handed over to it. */
static bool guess(struct graph_maker *maker, uint32_t index, int64_t from_ps, int64_t to_ps,
                  bool to_end)
{
    struct step_graph *graph = &maker->graph;
    const uint32_t own = graph->nodes[index].lane;
    uint32_t other;

    if (graph->lanes[own].kind != LANE_THREAD || to_ps - from_ps < LEAST_PS)
        return false;
    if (!graph->lanes[own].pool &&
        waited_for_devices(maker, graph->lanes[own].host, from_ps, to_ps)) {
        add_devices(maker, index, to_ps, to_end);
        return true;
    }
    other = rested_last(graph, own, to_ps);
    if (other == NO_NODE || !fits_rest(from_ps, to_ps, graph->nodes[other].free_ps))
        return false;
    graph_add_edge(
        graph,
        (struct graph_edge){
            .from = other, .to = index, .kind = EDGE_HANDOVER, .to_end = to_end, .likely = true},
        graph->nodes[other].free_ps);
    return true;
}

/* A call within which nothing is recorded, or a step in which nothing is. */
static void guess_wait(struct graph_maker *maker, uint32_t index)
{
    struct graph_node *node = &maker->graph.nodes[index];
    const uint32_t host = maker->graph.lanes[node->lane].host;

    if (!node->mark &&
        (maker->graph.lanes[node->lane].pool || node->end_ps - node->start_ps < LEAST_PS ||
         !waited_for_devices(maker, host, node->start_ps, node->end_ps)))
        return;
    node->release = RELEASE_WAIT;
    if (!guess(maker, index, node->start_ps, node->end_ps, true))
        node->release = RELEASE_NONE;
}

void graph_guess_rest(struct graph_maker *maker, uint32_t index, int64_t free_ps)
{
    const struct step_graph *graph = &maker->graph;
    int64_t from_ps = free_ps == INT64_MIN ? graph->from_ps : free_ps;

    (void)guess(maker, index, from_ps, graph->nodes[index].start_ps, false);
}

void graph_add_waits(struct graph_maker *maker, uint32_t index)
{
    const struct graph_node *node = &maker->graph.nodes[index];

    if (node->release == RELEASE_OP)
        graph_add_meeting(maker, index);
    if (node->release == RELEASE_OP && node->entry != NO_ENTRY &&
        maker->graph.lanes[node->lane].kind == LANE_ORDER && node->done)
        add_transfer(maker, index);
    if (node->may_wait)
        guess_wait(maker, index);
    else if (node->release == RELEASE_WAIT && (node->sync || !add_queue(maker, index)))
        add_devices(maker, index, node->end_ps, true);
}
