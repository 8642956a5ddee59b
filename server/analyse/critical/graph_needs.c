/* SPDX-License-Identifier: Apache-2.0 */
/* Ops whose results an op takes, within one execution of its program: they were over when it began.
 *
 *   stream 7   |a ...|                      c = add(a, b)
 *   stream 9   |b .........|   |c ...|      c waited for b
 *
 * Of an op that runs several times in an execution, for it is in a loop, the last run that was over
 * by then counts.
 */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "base/bisect.h"

static int run_order(const void *left, const void *right)
{
    const struct op_run *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->execution != b->execution)
        return a->execution < b->execution ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* In `room`; NULL: it is no op. */
static const struct attributed *entry_of(const struct graph_maker *maker, uint32_t index,
                                         uint32_t *ret_host, struct attributed *room)
{
    const struct graph_node *node = &maker->graph.nodes[index];

    *ret_host = maker->graph.lanes[node->lane].host;
    if (node->entry == NO_ENTRY)
        return NULL;
    *room = entry_at(maker->run->hosts[*ret_host].attribution, node->entry);
    return room;
}

void graph_order_runs(struct graph_maker *maker)
{
    const struct step_graph *graph = &maker->graph;

    maker->op_run_count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t host;
        struct attributed room;
        const struct attributed *entry = entry_of(maker, i, &host, &room);

        if (entry == NULL || entry->execution == NO_EXECUTION || graph->nodes[i].container ||
            maker->run->hosts[host].attribution->need_count == 0)
            continue;
        if (maker->op_run_count == maker->op_run_capacity) {
            maker->op_run_capacity =
                maker->op_run_capacity == 0 ? 1024 : 2 * maker->op_run_capacity;
            maker->op_runs =
                memory_resize(maker->op_runs, maker->op_run_capacity, sizeof *maker->op_runs);
        }
        maker->op_runs[maker->op_run_count++] = (struct op_run){.host = host,
                                                                .execution = entry->execution,
                                                                .op = entry->op,
                                                                .node = i,
                                                                .end_ps = graph->nodes[i].end_ps};
    }
    if (maker->op_run_count > 1)
        qsort(maker->op_runs, maker->op_run_count, sizeof *maker->op_runs, run_order);
}

/* The last run of an op that was over at a moment; NO_NODE. */
static uint32_t run_before(const struct graph_maker *maker, struct op_run key)
{
    uint32_t low;

    key.node = UINT32_MAX;
    low = BISECT(0, maker->op_run_count, i, run_order(&maker->op_runs[i], &key) < 0);
    if (low == 0)
        return NO_NODE;

    const struct op_run *run = &maker->op_runs[low - 1];

    return run->host == key.host && run->execution == key.execution && run->op == key.op ? run->node
                                                                                         : NO_NODE;
}

int64_t graph_add_needs(struct graph_maker *maker, uint32_t index)
{
    struct step_graph *graph = &maker->graph;
    const struct graph_node *node = &graph->nodes[index];
    int64_t last_ps = INT64_MIN;
    uint32_t host;
    struct attributed room;
    const struct attributed *entry = entry_of(maker, index, &host, &room);
    const struct attribution *of = maker->run->hosts[host].attribution;

    if (maker->op_run_count == 0 || entry == NULL || entry->execution == NO_EXECUTION ||
        node->container)
        return last_ps;
    for (uint32_t i = needs_from(of, entry->op); i < of->need_count && of->needs[i].op == entry->op;
         i++) {
        uint32_t from = run_before(maker, (struct op_run){.host = host,
                                                          .execution = entry->execution,
                                                          .op = of->needs[i].from,
                                                          .end_ps = node->start_ps});
        const struct graph_node *other;

        if (from == NO_NODE)
            continue;
        other = &graph->nodes[from];
        if (other->lane == node->lane && other->end_ps == other->free_ps)
            continue; /* their order says it already */
        graph_add_edge(graph, (struct graph_edge){.from = from, .to = index, .kind = EDGE_OPERAND},
                       other->end_ps);
        if (other->end_ps > last_ps)
            last_ps = other->end_ps;
    }
    return last_ps;
}

bool graph_needs_name(const struct graph_maker *maker, uint32_t index, name_id name)
{
    uint32_t host;
    struct attributed room;
    const struct attributed *entry = entry_of(maker, index, &host, &room);
    const struct attribution *of = maker->run->hosts[host].attribution;

    if (entry == NULL)
        return false;
    for (uint32_t i = needs_from(of, entry->op); i < of->need_count && of->needs[i].op == entry->op;
         i++) {
        if (of->ops[of->needs[i].from].name == name)
            return true;
    }
    return false;
}
