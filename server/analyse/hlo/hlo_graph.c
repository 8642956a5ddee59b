/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives an instruction its operands and who uses its result, a few hops either way; and
 * instructions as a graph, those of one computation in one cluster. */
#include "analyse/hlo/hlo.h"

struct walk {
    const struct hlo_module *module;
    struct hlo_neighbour *found;
    uint32_t count, most, left_out;
    bool *seen; /* by instruction */
};

static void visit(struct walk *walk, uint32_t instruction, int distance)
{
    if (instruction == HLO_NONE || walk->seen[instruction])
        return;
    walk->seen[instruction] = true;
    if (walk->count == walk->most) {
        walk->left_out++;
        return;
    }
    walk->found[walk->count++] =
        (struct hlo_neighbour){.instruction = instruction, .distance = distance};
}

static void visit_operands(struct walk *walk, uint32_t instruction, int distance)
{
    const struct hlo_instruction *of = &walk->module->instructions[instruction];

    for (uint32_t i = 0; i < of->operand_count; i++)
        visit(walk, walk->module->operands[of->first_operand + i], distance);
}

/* Users of those found at `nearer`, in one pass over the module. */
static void visit_users(struct walk *walk, const bool *wanted, int distance)
{
    const struct hlo_module *module = walk->module;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *user = &module->instructions[i];
        for (uint32_t k = 0; k < user->operand_count; k++) {
            uint32_t operand = module->operands[user->first_operand + k];
            if (operand != HLO_NONE && wanted[operand]) {
                visit(walk, i, distance);
                break;
            }
        }
    }
}

uint32_t hlo_around(const struct hlo_module *module, uint32_t instruction, int hops, uint32_t most,
                    struct arena *arena, struct hlo_neighbour **ret, uint32_t *ret_left_out)
{
    struct walk walk = {
        .module = module,
        .found = arena_array(arena, struct hlo_neighbour, (size_t)most + 1),
        .most = most,
        .seen = arena_array(arena, bool, module->instruction_count),
    };
    bool *wanted = arena_array(arena, bool, module->instruction_count);
    uint32_t first = 0;

    walk.seen[instruction] = wanted[instruction] = true;
    visit_operands(&walk, instruction, -1);
    for (int hop = 2; hop <= hops; hop++)
        for (uint32_t end = walk.count; first < end; first++)
            visit_operands(&walk, walk.found[first].instruction, -hop);
    for (int hop = 1; hop <= hops; hop++) {
        first = walk.count;
        visit_users(&walk, wanted, hop);
        memset(wanted, 0, module->instruction_count);
        for (; first < walk.count; first++)
            wanted[walk.found[first].instruction] = true;
    }
    *ret = walk.found;
    *ret_left_out = walk.left_out;
    return walk.count;
}

struct drawing { /* a graph as it grows */
    const struct hlo_module *module;
    const struct hlo_graph_question *question;
    struct arena *arena;
    struct hlo_graph *graph;
    uint32_t *node_of;    /* by instruction, plus one; 0: it is no node */
    uint32_t *cluster_of; /* by computation, plus one */
};

static uint32_t cluster_at(struct drawing *drawing, uint32_t computation)
{
    struct hlo_graph *graph = drawing->graph;
    uint32_t *at = &drawing->cluster_of[computation];

    if (*at == 0) {
        graph->clusters[graph->cluster_count++] =
            (struct hlo_graph_cluster){.computation = computation, .caller = HLO_NONE};
        *at = graph->cluster_count;
    }
    return *at - 1;
}

static void add_node(struct drawing *drawing, uint32_t instruction)
{
    struct hlo_graph *graph = drawing->graph;

    if (drawing->node_of[instruction] != 0)
        return;
    graph->nodes[graph->node_count] = (struct hlo_graph_node){
        .instruction = instruction,
        .cluster = cluster_at(drawing, drawing->module->instructions[instruction].computation),
    };
    drawing->node_of[instruction] = ++graph->node_count;
}

/* All of a computation, or nothing of it. */
static void add_computation(struct drawing *drawing, uint32_t computation)
{
    const struct hlo_computation *of = &drawing->module->computations[computation];
    struct hlo_graph *graph = drawing->graph;

    if (drawing->question->most - graph->node_count < of->count) {
        graph->left_out += of->count;
        return;
    }
    for (uint32_t i = 0; i < of->count; i++)
        add_node(drawing, of->first + i);
}

static void add_around(struct drawing *drawing)
{
    const struct hlo_graph_question *question = drawing->question;
    struct hlo_neighbour *found;
    uint32_t count =
        hlo_around(drawing->module, question->instruction, question->hops, question->most - 1,
                   drawing->arena, &found, &drawing->graph->left_out);

    add_node(drawing, question->instruction);
    for (uint32_t i = 0; i < count; i++)
        add_node(drawing, found[i].instruction);
}

static void add_edges(struct drawing *drawing)
{
    const struct hlo_module *module = drawing->module;
    struct hlo_graph *graph = drawing->graph;
    size_t most = 0;

    for (uint32_t i = 0; i < graph->node_count; i++)
        most += module->instructions[graph->nodes[i].instruction].operand_count;
    graph->edges = arena_array(drawing->arena, struct hlo_graph_edge, most + 1);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct hlo_instruction *user = &module->instructions[graph->nodes[i].instruction];

        for (uint32_t k = 0; k < user->operand_count; k++) {
            uint32_t operand = module->operands[user->first_operand + k];

            if (operand != HLO_NONE && drawing->node_of[operand] != 0)
                graph->edges[graph->edge_count++] = (struct hlo_graph_edge){
                    .from = drawing->node_of[operand] - 1, .to = i, .operand = k};
        }
    }
}

/* The first node that calls a cluster's computation. */
static void find_callers(struct drawing *drawing)
{
    const struct hlo_module *module = drawing->module;
    struct hlo_graph *graph = drawing->graph;

    for (uint32_t i = graph->node_count; i-- > 0;) {
        const struct hlo_instruction *of = &module->instructions[graph->nodes[i].instruction];

        for (uint32_t k = 0; k < of->called_count; k++) {
            uint32_t called = module->called[of->first_called + k];

            if (called != HLO_NONE && drawing->cluster_of[called] != 0)
                graph->clusters[drawing->cluster_of[called] - 1].caller = i;
        }
    }
}

void hlo_graph(const struct hlo_module *module, const struct hlo_graph_question *question,
               struct arena *arena, struct hlo_graph *ret)
{
    struct drawing drawing = {
        .module = module,
        .question = question,
        .arena = arena,
        .graph = ret,
        .node_of = arena_array(arena, uint32_t, (size_t)module->instruction_count + 1),
        .cluster_of = arena_array(arena, uint32_t, (size_t)module->computation_count + 1),
    };

    *ret = (struct hlo_graph){
        .nodes = arena_array(arena, struct hlo_graph_node, (size_t)question->most + 1),
        .clusters =
            arena_array(arena, struct hlo_graph_cluster, (size_t)module->computation_count + 1),
    };
    if (question->instruction != HLO_NONE)
        add_around(&drawing);
    else
        add_computation(&drawing, question->computation);
    for (uint32_t i = 0; i < question->open_count; i++)
        add_computation(&drawing, question->open[i]);
    add_edges(&drawing);
    find_callers(&drawing);
}
