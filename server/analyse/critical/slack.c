/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a graph against the order of causes: how much later each node might end. */
#include <stdlib.h>

#include "analyse/critical/path.h"

struct moment { /* a begin or an end */
    int64_t at_ps;
    uint32_t event; /* node * 2, + 1 for an end */
    uint8_t rank;   /* at one time: ends of work, of ops that were released, of waits, begins */
};

static int moment_order(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;

    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

void graph_order(const struct step_graph *graph, uint32_t *ret)
{
    size_t count = 2 * (size_t)graph->node_count;
    struct moment *moments = memory_resize(NULL, count + 1, sizeof *moments);

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        moments[2 * (size_t)i] = (struct moment){node->start_ps, 2 * i, RELEASE_WAIT + 1};
        moments[2 * (size_t)i + 1] = (struct moment){
            node->end_ps, 2 * i + 1, node->slice == NO_SLICE ? RELEASE_WAIT + 2 : node->release};
    }
    qsort(moments, count, sizeof *moments, moment_order);
    for (size_t i = 0; i < count; i++)
        ret[i] = moments[i].event;
    free(moments);
}

/* A bound of when a moment may be at the latest goes to what it was after. */
static void bound(int64_t *latest, int64_t at_ps)
{
    if (at_ps < *latest)
        *latest = at_ps;
}

/* Latest begins and ends; the moments inside of a node are bound to its end, for what follows one
 * of them takes the time that it took. */
static void pass_back(const struct step_graph *graph, uint32_t index, bool to_end,
                      int64_t latest_ps, int64_t *begins, int64_t *ends)
{
    const struct graph_node *node = &graph->nodes[index];

    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        const struct graph_node *from = &graph->nodes[edge->from];
        int64_t ready_ps = latest_ps - edge->delay_ps;

        if (edge->to_end != to_end)
            continue;
        if (edge->at_ps == 0)
            bound(&begins[edge->from], ready_ps);
        else
            bound(&ends[edge->from], ready_ps + (from->end_ps - from->start_ps - edge->at_ps));
    }
}

/* How long after its begin a node ends, if nothing else holds it. */
static int64_t own_ps(const struct step_graph *graph, uint32_t index)
{
    const struct graph_node *node = &graph->nodes[index];
    const struct graph_edge *by =
        node->release == RELEASE_NONE ? NULL : node_ended_by(graph, index);

    if (by == NULL)
        return node->end_ps - node->start_ps;
    return by->kind == EDGE_COLLECTIVE ? by->delay_ps : 0;
}

void slack_find(const struct step_graph *graph, int64_t *ret)
{
    const uint32_t count = graph->node_count;
    uint32_t *order = memory_resize(NULL, 2 * (size_t)count + 1, sizeof *order);
    int64_t *begins = memory_resize(NULL, (size_t)count + 1, sizeof *begins);

    graph_order(graph, order);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = begins[i] = INT64_MAX;
    begins[count - 1] = ret[count - 1] = graph->to_ps;
    for (size_t i = 2 * (size_t)count; i-- > 0;) {
        uint32_t index = order[i] / 2;

        if (order[i] % 2 == 1) {
            if (ret[index] == INT64_MAX)
                ret[index] = graph->nodes[index].end_ps > graph->to_ps ? graph->nodes[index].end_ps
                                                                       : graph->to_ps;
            bound(&begins[index], ret[index] - own_ps(graph, index));
            pass_back(graph, index, true, ret[index], begins, ret);
        } else {
            pass_back(graph, index, false, begins[index], begins, ret);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t by_end_ps = ret[i] - graph->nodes[i].end_ps;
        int64_t by_begin_ps = begins[i] - graph->nodes[i].start_ps;

        ret[i] = by_begin_ps < by_end_ps && graph->nodes[i].release == RELEASE_NONE ? by_begin_ps
                                                                                    : by_end_ps;
    }
    free(order);
    free(begins);
}
