/* SPDX-License-Identifier: Apache-2.0 */
/* When an op of a pool of threads was over, and who went on with the program then.
 *
 *   caller   |dot|
 *   worker            parts of dot  |Execute  add  mul ...|end: dot
 *                                   ^ over
 *
 * Its last worker first calls what waited for it, and marks its end behind that call. So it was
 * over when the call before the mark began. Measured: 0.1 to 2 us lie between call and mark.
 */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"

enum { AT_ONCE_PS = 10000000 };

static int by_node(const void *left, const void *right)
{
    const struct over *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* The begin of the call that ended right before the mark; NO_NODE: there is none. */
static uint32_t call_before(const struct graph_maker *maker, const struct over *over)
{
    const struct step_graph *graph = &maker->graph;
    const struct graph_lane *lane = &graph->lanes[over->lane];
    const struct trace *trace = maker->run->hosts[lane->host].trace;
    uint32_t at = lane_node_before(graph, over->lane, over->at_ps);

    if (at == NO_NODE || graph->nodes[at].free_ps > over->at_ps ||
        over->at_ps - graph->nodes[at].free_ps > AT_ONCE_PS ||
        !str_starts(trace_name(trace, graph->nodes[at].name), STR("ThunkExecutor::Execute")))
        return NO_NODE;
    while (at > lane->first_node && graph->nodes[at - 1].free_ps == graph->nodes[at].start_ps)
        at--;
    return at;
}

static uint32_t op_of(const struct graph_maker *maker, const struct over *over)
{
    const struct step_graph *graph = &maker->graph;
    const uint32_t host = graph->lanes[over->lane].host;
    const struct host_trace *of = &maker->run->hosts[host];
    uint32_t lane = lane_of_slice(maker, host, over->flow->from), at;

    if (lane == UINT32_MAX)
        return NO_NODE;
    at = lane_node_at(graph, lane,
                      trace_slice(of->trace, over->flow->from).start_ps + of->offset_ps);
    return at != NO_NODE && graph->nodes[at].slice == over->flow->from && graph->nodes[at].pool_op
               ? at
               : NO_NODE;
}

void graph_settle_overs(struct graph_maker *maker)
{
    struct step_graph *graph = &maker->graph;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < maker->over_count; i++) {
        struct over one = maker->overs[i];

        one.node = call_before(maker, &one);
        one.op = one.node == NO_NODE ? NO_NODE : op_of(maker, &one);
        if (one.op == NO_NODE || graph->nodes[one.op].free_ps > graph->nodes[one.node].start_ps)
            continue;
        graph->nodes[one.op].end_ps = graph->nodes[one.node].start_ps;
        maker->overs[kept++] = one;
    }
    maker->over_count = kept;
    maker->over_at = 0;
    if (kept > 1)
        qsort(maker->overs, kept, sizeof *maker->overs, by_node);
}
