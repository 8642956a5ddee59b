/* SPDX-License-Identifier: Apache-2.0 */
/* Which node an arrow lets begin: the one that begins where it ends, or, where it ends at a mark
 * while the lane is free, the next one; of several such marks the last. */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"

static int arrival_order(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;

    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps ? -1 : 1;
    return (a->flow > b->flow) - (a->flow < b->flow);
}

static uint32_t node_of(const struct step_graph *graph, uint32_t lane, int64_t at_ps)
{
    const struct graph_lane *of = &graph->lanes[lane];
    uint32_t before = lane_node_before(graph, lane, at_ps);
    uint32_t next = before == NO_NODE ? of->first_node : before + 1;

    if (next >= of->first_node + of->count)
        return NO_NODE;
    if (graph->nodes[next].start_ps == at_ps)
        return next;
    return before == NO_NODE || graph->nodes[before].free_ps <= at_ps ? next : NO_NODE;
}

void graph_place_arrivals(struct graph_maker *maker, uint32_t lane, uint32_t first)
{
    struct arrival *arrivals = maker->arrivals;
    uint32_t kept = first;

    if (maker->arrival_count > first + 1)
        qsort(&arrivals[first], maker->arrival_count - first, sizeof *arrivals, arrival_order);
    for (uint32_t i = first; i < maker->arrival_count; i++) {
        struct arrival one = arrivals[i];

        one.node = node_of(&maker->graph, lane, one.at_ps);
        if (one.node == NO_NODE)
            continue;
        if (kept > first && arrivals[kept - 1].node == one.node && arrivals[kept - 1].mark &&
            one.mark)
            kept--;
        arrivals[kept++] = one;
    }
    maker->arrival_count = kept;
}
