/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: nobody ends before the last has begun.
 *
 *   device 0   [ all-reduce.1 .....]     of one name and turn on each device, and all of them open
 *   device 1           [ all-reduce]     when the last begins; who is over by then was of another
 *                      ^ released        group
 */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "base/hash.h"

struct member {
    uint64_t key; /* of name and program */
    uint32_t node, host;
    int32_t device;
    int64_t start_ps, end_ps;
};

static int by_start(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static uint64_t key_of(const struct graph_maker *maker, const struct graph_node *node)
{
    const struct host_trace *host = &maker->run->hosts[maker->graph.lanes[node->lane].host];
    const struct trace *trace = host->trace;
    struct str name = trace_name(trace, node->name);
    uint64_t key = hash64((struct bytes){(const uint8_t *)name.at, name.count});

    if (node->entry != NO_ENTRY) {
        program_id program =
            host->attribution->ops[entry_op(host->attribution, node->entry)].program;

        if (program < trace->program_count)
            key ^= trace->programs[program].fingerprint;
    }
    return key;
}

static bool is_collective(const struct graph_node *node)
{
    return node->release == RELEASE_OP && node->kind == KIND_COMMUNICATION && !node->done &&
           node->first;
}

static struct member *find_members(const struct graph_maker *maker, uint32_t *ret_count)
{
    const struct step_graph *graph = &maker->graph;
    struct member *members = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->node_count; i++)
        count += is_collective(&graph->nodes[i]);
    members = memory_resize(NULL, (size_t)count + 1, sizeof *members);
    count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        const struct graph_lane *lane = &graph->lanes[node->lane];

        if (!is_collective(node))
            continue;
        members[count++] = (struct member){
            .key = key_of(maker, node),
            .node = i,
            .host = lane->host,
            .device = node->entry == NO_ENTRY
                          ? lane->device
                          : entry_at(maker->run->hosts[lane->host].attribution, node->entry).device,
            .start_ps = node->start_ps,
            .end_ps = node->end_ps};
    }
    qsort(members, count, sizeof *members, by_start);
    *ret_count = count;
    return members;
}

static bool has_device(const struct member *members, uint32_t count, const struct member *one)
{
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].host == one->host && members[i].device == one->device)
            return true;
    }
    return false;
}

/* How many of the members from here on met: all are open when the last of them begins. */
static uint32_t meeting(const struct member *members, uint32_t count)
{
    int64_t first_end_ps = members[0].end_ps;
    uint32_t met = 1;

    while (met < count && met < MEETING_MAX && members[met].key == members[0].key &&
           members[met].start_ps < first_end_ps && !has_device(members, met, &members[met])) {
        if (members[met].end_ps < first_end_ps)
            first_end_ps = members[met].end_ps;
        met++;
    }
    return met;
}

static int by_node(const void *left, const void *right)
{
    const struct met *a = left, *b = right;

    return (a->node > b->node) - (a->node < b->node);
}

void graph_find_collectives(struct graph_maker *maker)
{
    uint32_t count, met;
    struct member *members = find_members(maker, &count);

    maker->met = memory_resize(maker->met, (size_t)count + 1, sizeof *maker->met);
    maker->meeting = memory_resize(maker->meeting, (size_t)count + 1, sizeof *maker->meeting);
    maker->met_count = maker->met_at = 0;
    for (uint32_t i = 0; i < count; i += met) {
        met = meeting(&members[i], count - i);
        for (uint32_t k = 0; k < met; k++) {
            maker->meeting[i + k] = members[i + k].node;
            maker->met[maker->met_count++] =
                (struct met){.node = members[i + k].node, .first = i, .count = met};
        }
    }
    if (maker->met_count > 1)
        qsort(maker->met, maker->met_count, sizeof *maker->met, by_node);
    free(members);
}

/* From the begins of the others it met: of all where they are few, else of the last alone. */
void graph_add_meeting(struct graph_maker *maker, uint32_t index)
{
    const struct met *met;
    uint32_t first;

    while (maker->met_at < maker->met_count && maker->met[maker->met_at].node < index)
        maker->met_at++;
    if (maker->met_at == maker->met_count || maker->met[maker->met_at].node != index)
        return;
    met = &maker->met[maker->met_at];
    first = met->count > ALL_MEET_MAX ? met->count - 1 : 0;
    for (uint32_t i = first; i < met->count; i++) {
        uint32_t other = maker->meeting[met->first + i];

        if (other != index)
            graph_add_edge(&maker->graph,
                           (struct graph_edge){.from = other,
                                               .to = index,
                                               .kind = EDGE_COLLECTIVE,
                                               .to_end = true,
                                               .likely = true},
                           maker->graph.nodes[other].start_ps);
    }
}
