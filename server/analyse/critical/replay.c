/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a graph in the order of causes, and gives each node its new times. */
#include "analyse/critical/replay.h"

#include <math.h>
#include <stdlib.h>

#include "trace/ps.h"

struct replaying {
    const struct step_graph *graph;
    const struct edits *edits;
    struct replay *ret;
    bool changed;
    int64_t hidden_ps; /* the latest end of what nobody on its lane waits for */
};

static int64_t scaled(int64_t ps, double factor)
{
    return factor == 1 ? ps : llround((double)ps * factor);
}

/* What a program with another order of its ops would not have. */
static bool is_order(enum edge_kind kind)
{
    return kind == EDGE_THREAD || kind == EDGE_STREAM || kind == EDGE_POOL ||
           kind == EDGE_OPERAND || kind == EDGE_BESIDE;
}

/* When the moment of the edge would come. */
static int64_t ready_of(const struct replaying *replaying, const struct graph_edge *edge)
{
    const struct graph_node *from = &replaying->graph->nodes[edge->from];
    const struct replay *replay = replaying->ret;
    int64_t start_ps = replay->starts_ps[edge->from];

    if (edge->at_ps == 0 || (replay->hidden[edge->from] && is_order((enum edge_kind)edge->kind)))
        return start_ps;
    if (edge->at_ps == from->end_ps - from->start_ps)
        return replay->ends_ps[edge->from];
    return start_ps + scaled(edge->at_ps, replay->factors[edge->from]);
}

/* A launch that is one with the first of its step takes no time to come. */
static int64_t delay_of(const struct replaying *replaying, const struct graph_edge *edge)
{
    if (edge->kind == EDGE_LAUNCH && replaying->edits->fuse_launches &&
        replaying->ret->factors[edge->from] == 0)
        return 0;
    return edge->kind == EDGE_COLLECTIVE ? scaled(edge->delay_ps, replaying->ret->factors[edge->to])
                                         : edge->delay_ps;
}

static int64_t latest_of(const struct replaying *replaying, uint32_t index, bool to_end,
                         int64_t otherwise_ps)
{
    const struct graph_node *node = &replaying->graph->nodes[index];
    int64_t latest_ps = otherwise_ps;

    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        const struct graph_edge *edge = &replaying->graph->edges[i];
        int64_t at_ps;

        if (edge->to_end != to_end)
            continue;
        at_ps = ready_of(replaying, edge) + delay_of(replaying, edge);
        if (at_ps > latest_ps)
            latest_ps = at_ps;
    }
    return latest_ps;
}

static void begin_node(struct replaying *replaying, uint32_t index)
{
    int64_t at_ps = latest_of(replaying, index, false, INT64_MIN);

    replaying->ret->starts_ps[index] =
        at_ps == INT64_MIN ? replaying->graph->nodes[index].start_ps : at_ps;
}

/* How long it takes by itself, as it was recorded. */
static int64_t own_of(const struct replaying *replaying, uint32_t index)
{
    const struct graph_node *node = &replaying->graph->nodes[index];
    const struct graph_edge *by =
        node->release == RELEASE_NONE ? NULL : node_ended_by(replaying->graph, index);

    if (by == NULL)
        return node->end_ps - node->start_ps;
    return by->kind == EDGE_COLLECTIVE ? by->delay_ps : 0;
}

static void end_node(struct replaying *replaying, uint32_t index)
{
    struct replay *replay = replaying->ret;
    int64_t own_ps = scaled(own_of(replaying, index), replay->factors[index]);

    replay->ends_ps[index] = latest_of(replaying, index, true, replay->starts_ps[index] + own_ps);
    if (replay->hidden[index] && replay->ends_ps[index] > replaying->hidden_ps)
        replaying->hidden_ps = replay->ends_ps[index];
}

static void make_room(struct replay *replay, uint32_t count)
{
    if (count <= replay->capacity)
        return;
    replay->capacity = count;
    replay->starts_ps = memory_resize(replay->starts_ps, count, sizeof *replay->starts_ps);
    replay->ends_ps = memory_resize(replay->ends_ps, count, sizeof *replay->ends_ps);
    replay->factors = memory_resize(replay->factors, count, sizeof *replay->factors);
    replay->hidden = memory_resize(replay->hidden, count, sizeof *replay->hidden);
    replay->order = memory_resize(replay->order, 2 * (size_t)count, sizeof *replay->order);
}

static bool does_work(const struct step_graph *graph, const struct graph_node *node)
{
    return node->slice != NO_SLICE &&
           (graph->lanes[node->lane].kind != LANE_THREAD || node->entry != NO_ENTRY ||
            (node->kind == KIND_INPUT && node->release != RELEASE_WAIT));
}

/* Of ops whose factors the graph was not made with. */
static double op_factor(const struct step_graph *graph, const struct edits *edits,
                        const struct graph_node *node)
{
    const uint32_t host = node->slice == NO_SLICE ? 0 : graph->lanes[node->lane].host;

    if (!edits->late || edits->ops == NULL || edits->ops[host] == NULL || node->entry == NO_ENTRY)
        return 1;
    return edits->ops[host][entry_op(graph->run->hosts[host].attribution, node->entry)];
}

static void set_factors(struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    const struct edits *edits = replaying->edits;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        double factor = replaying->changed ? node->factor : 1;

        if (node->kind < KIND_COUNT)
            factor *= edits->kinds[node->kind];
        factor *= op_factor(graph, edits, node);
        replaying->ret->factors[i] = factor;
        replaying->ret->hidden[i] =
            node->kind < KIND_COUNT && edits->overlap[node->kind] && does_work(graph, node);
    }
}

/* Calls that launch, but for the first of each thread in the step. */
static void fuse_launches(struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    bool *seen = memory_zeroed((size_t)graph->lane_count + 1, sizeof *seen);

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        uint32_t lane = graph->nodes[edge->from].lane;

        if (edge->kind != EDGE_LAUNCH)
            continue;
        if (seen[lane])
            replaying->ret->factors[edge->from] = 0;
        seen[lane] = true;
    }
    free(seen);
}

static int32_t device_of(const struct step_graph *graph, const struct graph_node *node)
{
    const struct graph_lane *lane = &graph->lanes[node->lane];

    return node->entry == NO_ENTRY
               ? lane->device
               : entry_at(graph->run->hosts[lane->host].attribution, node->entry).device;
}

enum { EVEN_DEVICES = 4096 };

struct device_busy {
    uint32_t host;
    int32_t device;
    int64_t busy_ps;
};

static struct device_busy *busy_of(struct device_busy *devices, uint32_t *count, uint32_t host,
                                   int32_t device)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (devices[i].host == host && devices[i].device == device)
            return &devices[i];
    }
    if (*count == EVEN_DEVICES)
        return NULL;
    devices[*count] = (struct device_busy){.host = host, .device = device};
    return &devices[(*count)++];
}

/* Compute of each device scales to the mean of all. */
static void even_devices(struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    struct device_busy *devices = memory_resize(NULL, EVEN_DEVICES, sizeof *devices);
    uint32_t count = 0;
    int64_t total_ps = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const struct graph_node *node = &graph->nodes[i];
            struct device_busy *busy;

            if (!does_work(graph, node) || node->kind != KIND_COMPUTE)
                continue;
            busy = busy_of(devices, &count, graph->lanes[node->lane].host, device_of(graph, node));
            if (busy == NULL)
                continue;
            if (pass == 0) {
                ps_add(&busy->busy_ps, node->end_ps - node->start_ps);
                ps_add(&total_ps, node->end_ps - node->start_ps);
            } else if (busy->busy_ps > 0) {
                replaying->ret->factors[i] *= (double)total_ps / count / (double)busy->busy_ps;
            }
        }
    }
    free(devices);
}

/* Of the edges that lead to a begin or end the one that held it longest; NULL: none. */
static const struct graph_edge *held_by(const struct replaying *replaying, uint32_t index,
                                        bool to_end)
{
    const struct graph_node *node = &replaying->graph->nodes[index];
    const struct graph_edge *best = NULL;
    int64_t best_ps = INT64_MIN;

    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        const struct graph_edge *edge = &replaying->graph->edges[i];
        int64_t ready_ps = ready_of(replaying, edge);

        if (edge->to_end != to_end || (to_end && ready_ps <= replaying->ret->starts_ps[index]) ||
            ready_ps + delay_of(replaying, edge) <= best_ps)
            continue;
        best = edge;
        best_ps = ready_ps + delay_of(replaying, edge);
    }
    return best;
}

/* Adds the time of a node until `at_ps`; what it waited for before that. */
static const struct graph_edge *count_node(const struct replaying *replaying, uint32_t index,
                                           int64_t at_ps, int64_t *kinds_ps)
{
    const struct graph_node *node = &replaying->graph->nodes[index];
    const struct replay *replay = replaying->ret;
    const struct graph_edge *by =
        at_ps == replay->ends_ps[index] ? held_by(replaying, index, true) : NULL;
    int64_t from_ps = replay->starts_ps[index];

    if (by != NULL && ready_of(replaying, by) + delay_of(replaying, by) < at_ps)
        by = NULL; /* it took its own time */
    if (by != NULL)
        from_ps = ready_of(replaying, by);
    ps_add(&kinds_ps[node->kind == KIND_IDLE ? PIECE_WAIT : (int)node->kind], at_ps - from_ps);
    return by != NULL ? by : held_by(replaying, index, false);
}

/* What most of the way back from the step's end is made of, as it would be then. */
static enum piece_kind bound_of(const struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    const struct replay *replay = replaying->ret;
    int64_t kinds_ps[PIECE_KINDS] = {0};
    uint32_t at = graph->node_count - 1;
    int64_t at_ps = replay->starts_ps[at];
    const struct graph_edge *by = held_by(replaying, at, false);
    int best = PIECE_UNEXPLAINED;

    for (uint64_t left = 2 * (uint64_t)graph->node_count; left > 0 && by != NULL; left--) {
        int64_t ready_ps = ready_of(replaying, by);

        if (!by->to_end)
            ps_add(&kinds_ps[gap_kind((enum edge_kind)by->kind, at_ps - ready_ps)],
                   at_ps - ready_ps);
        at = by->from;
        if (ready_ps <= graph->from_ps)
            break;
        by = count_node(replaying, at, ready_ps, kinds_ps);
        at_ps = by != NULL && by->to_end ? ready_of(replaying, by) : replay->starts_ps[at];
    }
    for (int kind = 0; kind < PIECE_KINDS; kind++)
        best = kinds_ps[kind] > kinds_ps[best] ? kind : best;
    return (enum piece_kind)best;
}

/* What of a lane is work in the step, one after the other; 0 where none of it takes longer. */
static int64_t lane_busy(const struct replaying *replaying, const struct graph_lane *lane)
{
    const struct step_graph *graph = replaying->graph;
    int64_t busy_ps = 0;
    bool longer = false;

    for (uint32_t i = lane->first_node; i < lane->first_node + lane->count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        int64_t from_ps = node->start_ps > graph->from_ps ? node->start_ps : graph->from_ps;
        int64_t to_ps = node->free_ps < graph->to_ps ? node->free_ps : graph->to_ps;

        if (node->release != RELEASE_NONE || node->mark || to_ps <= from_ps)
            continue;
        longer |= replaying->ret->factors[i] > 1;
        ps_add(&busy_ps, scaled(to_ps - from_ps, replaying->ret->factors[i]));
    }
    return longer ? busy_ps : 0;
}

/* What a lane does in a step it does in every step. So none is shorter than the work of a lane that
 * takes longer, whatever waits for it within one: a loader behind a queue, a device behind a loop
 * that runs ahead. */
static int64_t busiest_of(const struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    int64_t most_ps = 0;

    for (uint32_t i = 0; i < graph->lane_count; i++) {
        int64_t busy_ps =
            graph->lanes[i].kind == LANE_ASYNC ? 0 : lane_busy(replaying, &graph->lanes[i]);

        most_ps = busy_ps > most_ps ? busy_ps : most_ps;
    }
    return most_ps;
}

/* How much of what changes leads to the step's end at all. */
static void weigh_changes(const struct replaying *replaying)
{
    const struct step_graph *graph = replaying->graph;
    struct replay *ret = replaying->ret;
    bool *reaches = memory_zeroed((size_t)graph->node_count + 1, sizeof *reaches);

    ret->changed_ps = ret->lost_ps = 0;
    reaches[graph->node_count - 1] = true;
    for (size_t i = 2 * (size_t)graph->node_count; i-- > 0;) {
        const struct graph_node *node = &graph->nodes[ret->order[i] / 2];

        for (uint32_t k = node->first_edge;
             reaches[ret->order[i] / 2] && k < node->first_edge + node->edge_count; k++)
            reaches[graph->edges[k].from] = true;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (ret->factors[i] == 1 && !ret->hidden[i])
            continue;
        ps_add(&ret->changed_ps, node->end_ps - node->start_ps);
        if (!reaches[i] && node->start_ps < graph->to_ps)
            ps_add(&ret->lost_ps, node->end_ps - node->start_ps);
    }
    free(reaches);
}

void replay_run(const struct step_graph *graph, const struct edits *edits, struct replay *ret)
{
    static const struct edits none = {.kinds = {[KIND_COMPUTE] = 1, 1, 1, 1, 1, 1, 1}};
    struct replaying replaying = {.graph = graph,
                                  .edits = edits == NULL ? &none : edits,
                                  .ret = ret,
                                  .changed = edits != NULL,
                                  .hidden_ps = INT64_MIN};
    const uint32_t end = graph->node_count - 1;

    make_room(ret, graph->node_count);
    set_factors(&replaying);
    if (replaying.edits->fuse_launches)
        fuse_launches(&replaying);
    if (replaying.edits->devices_even)
        even_devices(&replaying);
    graph_order(graph, ret->order);
    for (size_t i = 0; i < 2 * (size_t)graph->node_count; i++) {
        if (ret->order[i] % 2 == 0)
            begin_node(&replaying, ret->order[i] / 2);
        else
            end_node(&replaying, ret->order[i] / 2);
    }
    ret->bound_by = bound_of(&replaying);
    ret->end_ps =
        ret->starts_ps[end] > replaying.hidden_ps ? ret->starts_ps[end] : replaying.hidden_ps;
    if (!replaying.changed)
        return;
    weigh_changes(&replaying);
    if (graph->step != NULL && ret->end_ps < ps_sum(graph->from_ps, busiest_of(&replaying)))
        ret->end_ps = ps_sum(graph->from_ps, busiest_of(&replaying));
}

void replay_free(struct replay *replay)
{
    free(replay->starts_ps);
    free(replay->ends_ps);
    free(replay->factors);
    free(replay->hidden);
    free(replay->order);
    *replay = (struct replay){0};
}
