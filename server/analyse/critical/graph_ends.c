/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of each device in the order in which they ended: what a wait awaited, what an op came
 * behind. */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "base/bisect.h"

static void add_end(struct graph_maker *maker, uint32_t index)
{
    const struct graph_node *node = &maker->graph.nodes[index];
    const struct graph_lane *lane = &maker->graph.lanes[node->lane];
    const struct attribution *of = maker->run->hosts[lane->host].attribution;

    if (maker->end_count == maker->end_capacity) {
        maker->end_capacity = maker->end_capacity == 0 ? 1024 : 2 * maker->end_capacity;
        maker->ends = memory_resize(maker->ends, maker->end_capacity, sizeof *maker->ends);
    }
    maker->ends[maker->end_count++] = (struct by_end){
        .end_ps = node->end_ps,
        .node = index,
        .host = lane->host,
        .lane = node->lane,
        .device = node->entry == NO_ENTRY ? lane->device : entry_at(of, node->entry).device};
}

static int end_order(const void *left, const void *right)
{
    const struct by_end *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Devices of the ends, which are in order. */
static void list_devices(struct graph_maker *maker)
{
    maker->device_count = 0;
    for (uint32_t i = 0; i < maker->end_count; i++) {
        const struct by_end *end = &maker->ends[i];

        if (i > 0 && end[-1].host == end->host && end[-1].device == end->device) {
            maker->devices[maker->device_count - 1].end = i + 1;
            continue;
        }
        if (maker->device_count == maker->device_capacity) {
            maker->device_capacity = maker->device_capacity == 0 ? 16 : 2 * maker->device_capacity;
            maker->devices =
                memory_resize(maker->devices, maker->device_capacity, sizeof *maker->devices);
        }
        maker->devices[maker->device_count++] =
            (struct device_of){.host = end->host, .device = end->device, .first = i, .end = i + 1};
    }
}

uint32_t ends_before(const struct graph_maker *maker, uint32_t host, int32_t device, int64_t at_ps)
{
    const struct by_end key = {.end_ps = at_ps, .node = UINT32_MAX, .host = host, .device = device};
    uint32_t low = BISECT(0, maker->end_count, i, end_order(&maker->ends[i], &key) < 0);

    if (low == 0 || maker->ends[low - 1].host != host || maker->ends[low - 1].device != device)
        return UINT32_MAX;
    return low - 1;
}

void graph_order_ends(struct graph_maker *maker)
{
    const struct step_graph *graph = &maker->graph;

    maker->end_count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (graph->lanes[node->lane].kind != LANE_THREAD ||
            (node->entry != NO_ENTRY && !node->container))
            add_end(maker, i);
    }
    if (maker->end_count > 1)
        qsort(maker->ends, maker->end_count, sizeof *maker->ends, end_order);
    list_devices(maker);
}
