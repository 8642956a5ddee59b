/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the paths of many steps, by op and by name of each host. */
#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "trace/ps.h"

const struct step **critical_steps(const struct run_traces *run, const struct steps *steps,
                                   struct arena *arena, uint32_t *ret_count,
                                   uint32_t *ret_count_all)
{
    const struct step **ret = arena_array(arena, const struct step *, (size_t)steps->count + 2);
    uint32_t count = 0, every = 1, all = 0;
    uint64_t slices = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    while (slices / every > CRITICAL_SLICES && every < steps->count)
        every++;
    for (uint32_t i = 0; i < steps->count; i++) {
        if (step_counts(steps, &steps->items[i]) && all++ % every == 0)
            ret[count++] = &steps->items[i];
    }
    *ret_count = count > 0 ? count : 1;
    *ret_count_all = all > 0 ? all : 1;
    return ret;
}

static struct critical_op *op_of_node(struct critical_sums *sums, const struct step_graph *graph,
                                      const struct graph_node *node)
{
    const uint32_t host = graph->lanes[node->lane].host;

    if (node->entry == NO_ENTRY)
        return &sums->names[host][node->name];
    return &sums->ops[host][entry_op(graph->run->hosts[host].attribution, node->entry)];
}

static void open_host(struct critical_sums *sums, const struct run_traces *run, uint32_t host)
{
    const struct host_trace *of = &run->hosts[host];
    size_t names = (size_t)of->trace->name_count + of->trace->lent_name_count + 1;

    sums->names[host] = memory_zeroed(names, sizeof **sums->names);
    if (of->attribution != NULL)
        sums->ops[host] = memory_zeroed((size_t)of->attribution->op_count + 1, sizeof **sums->ops);
}

static void add_device(struct critical_sums *sums, uint32_t host, int32_t device, int64_t ps)
{
    uint32_t *at = map64_at(&sums->devices, map64_pair(host, (uint32_t)device), sums->device_count);

    if (*at == sums->device_count) {
        sums->device_ps = memory_resize(sums->device_ps, (size_t)*at + 1, sizeof *sums->device_ps);
        sums->device_keys =
            memory_resize(sums->device_keys, (size_t)*at + 1, sizeof *sums->device_keys);
        sums->device_ps[*at] = 0;
        sums->device_keys[*at].host = host;
        sums->device_keys[*at].device = device;
        sums->device_count++;
    }
    ps_add(&sums->device_ps[*at], ps);
}

static void add_pieces(struct critical_sums *sums, const struct step_graph *graph,
                       const struct path *path)
{
    for (uint32_t i = 0; i < path->count; i++) {
        const struct path_piece *piece = &path->pieces[i];
        const struct graph_node *node = &graph->nodes[piece->node];

        if (node->slice == NO_SLICE) {
            add_device(sums, graph->host, -1, piece->dur_ps);
            continue;
        }

        const struct graph_lane *lane = &graph->lanes[node->lane];
        int32_t device = lane->device;

        if (node->entry != NO_ENTRY)
            device = entry_at(graph->run->hosts[lane->host].attribution, node->entry).device;
        add_device(sums, lane->host, device, piece->dur_ps);
        if (!piece->gap)
            ps_add(&op_of_node(sums, graph, node)->on_path_ps, piece->dur_ps);
    }
    for (int kind = 0; kind < PIECE_KINDS; kind++)
        ps_add(&sums->kinds_ps[kind], path->kinds_ps[kind]);
    ps_add(&sums->likely_ps, path->likely_ps);
    ps_add(&sums->total_ps, graph->to_ps - graph->from_ps);
    sums->cut_count += graph->cut_count;
    sums->left_out_count += graph->left_out_count;
}

static void add_nodes(struct critical_sums *sums, const struct step_graph *graph,
                      const int64_t *slacks)
{
    for (uint32_t i = 0; i + 1 < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        struct critical_op *op = op_of_node(sums, graph, node);
        int64_t slack_ps = slacks[i] < 0 ? 0 : slacks[i];

        if (op->count++ == 0 || slack_ps < op->slack_ps)
            op->slack_ps = slack_ps;
        op->kind = (enum kind)node->kind;
        ps_add(&op->time_ps, node->end_ps - node->start_ps);
    }
}

void critical_sums_make(const struct run_traces *run, const struct steps *steps,
                        struct critical_sums *ret)
{
    struct graph_maker *maker = graph_maker_create(run, steps);
    struct arena *arena = arena_create();
    struct path path = {0};
    int64_t *slacks = NULL;
    size_t slack_capacity = 0;
    const struct step **asked;

    *ret = (struct critical_sums){.host_count = run->host_count};
    ret->ops = memory_zeroed((size_t)run->host_count + 1, sizeof *ret->ops);
    ret->names = memory_zeroed((size_t)run->host_count + 1, sizeof *ret->names);
    for (uint32_t i = 0; i < run->host_count; i++)
        open_host(ret, run, i);
    asked = critical_steps(run, steps, arena, &ret->step_count, &ret->step_count_all);
    ret->no_steps = asked[0] == NULL;
    if (run->host_count == 0)
        ret->step_count = ret->step_count_all = 0;
    for (uint32_t i = 0; i < ret->step_count; i++) {
        const struct step_graph *graph = graph_of_step(maker, asked[i]);

        if (graph->node_count > slack_capacity) {
            slack_capacity = graph->node_count;
            slacks = memory_resize(slacks, slack_capacity, sizeof *slacks);
        }
        path_find(graph, &path);
        slack_find(graph, slacks);
        add_pieces(ret, graph, &path);
        add_nodes(ret, graph, slacks);
    }
    free(slacks);
    path_free(&path);
    arena_destroy(arena);
    graph_maker_free(maker);
}

static void join(struct path_of *to, const struct critical_op *one)
{
    if (one->count == 0)
        return;
    if (to->count == 0 || one->slack_ps < to->slack_ps)
        to->slack_ps = one->slack_ps;
    ps_add(&to->on_path_ps, one->on_path_ps);
    to->count += one->count;
}

void critical_top_paths(const struct run_traces *run, const struct critical_sums *sums,
                        struct arena *arena, struct top_paths *ret)
{
    const struct path_of **ops = arena_array(arena, const struct path_of *, run->host_count + 1);
    const struct path_of **names = arena_array(arena, const struct path_of *, run->host_count + 1);

    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct attribution *of = run->hosts[i].attribution;
        const struct trace *trace = run->hosts[i].trace;
        size_t count = (size_t)trace->name_count + trace->lent_name_count + 1;
        struct path_of *by_name = arena_array(arena, struct path_of, count);

        for (size_t name = 0; name + 1 < count; name++)
            join(&by_name[name], &sums->names[i][name]);
        names[i] = by_name;
        if (of == NULL)
            continue;

        struct path_of *by_op = arena_array(arena, struct path_of, (size_t)of->op_count + 1);

        for (uint32_t op = 0; op < of->op_count; op++) {
            join(&by_op[op], &sums->ops[i][op]);
            join(&by_name[of->ops[op].name], &sums->ops[i][op]);
        }
        ops[i] = by_op;
    }
    *ret = (struct top_paths){.ops = ops, .names = names};
}

void critical_sums_free(struct critical_sums *sums)
{
    for (uint32_t i = 0; i < sums->host_count; i++) {
        free(sums->ops[i]);
        free(sums->names[i]);
    }
    free(sums->ops);
    free(sums->names);
    map64_free(&sums->devices);
    free(sums->device_ps);
    free(sums->device_keys);
}
