/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/hlo?run=&module=&view=graph: instructions as nodes, operands as edges.
 *
 *   instruction=  hops=    what is around it, two hops either way unless given
 *   computation=           all of it; without either, what the program begins with
 *   inside=a,b             the instructions of these computations as well: opened fusions
 *
 *   {"center": "fusion.3", "left_out": 0, "node_self_ps": 1200,
 *    "computations": [{"name": "main", "caller": null, ...}],
 *    "nodes": [{"name": "fusion.3", "computation": 0, "self_ps": 1200, "calls": ["fused"], ...}],
 *    "edges": [{"from": 1, "to": 0, "operand": 0}]}
 */
#include "serve/routes/hlo/hlo_parts.h"
#include "trace/ps.h"

enum { GRAPH_NODES_DEFAULT = 2000, CALLS_MAX = 16, INSIDE_MAX = 256 };

static enum status find_computation(const struct hlo_module *module, struct str name, uint32_t *ret,
                                    struct error *err)
{
    *ret = hlo_module_find_computation(module, name);
    if (*ret == HLO_NONE)
        return fail(err, ERR_NOT_FOUND, "the module has no computation \"%.*s\"",
                    name.count > 200 ? 200 : (int)name.count, name.at);
    return OK;
}

/* inside=: names with commas between. */
static enum status read_inside(const struct hlo_question *question, struct hlo_graph_question *ret,
                               struct error *err)
{
    struct str rest = request_text(question->req, "inside");
    uint32_t *open = arena_array(question->req->arena, uint32_t, INSIDE_MAX);

    ret->open = open;
    while (rest.count > 0 && ret->open_count < INSIDE_MAX) {
        size_t count = 0;

        while (count < rest.count && rest.at[count] != ',')
            count++;
        TRY(find_computation(&question->module, (struct str){.at = rest.at, .count = count},
                             &open[ret->open_count++], err));
        rest = str_skip(rest, count < rest.count ? count + 1 : count);
    }
    return OK;
}

/* Where nothing is asked for: the entry, else the first. */
static uint32_t entry_of(const struct hlo_module *module)
{
    for (uint32_t i = 0; i < module->computation_count; i++)
        if (module->computations[i].is_entry)
            return i;
    return 0;
}

static enum status read_question(const struct hlo_question *question,
                                 struct hlo_graph_question *ret, struct error *err)
{
    struct request *req = question->req;
    const struct hlo_module *module = &question->module;

    *ret = (struct hlo_graph_question){
        .instruction = HLO_NONE,
        .hops = (int)request_integer(req, "hops", HLO_HOPS),
        .computation = entry_of(module),
        .most = (uint32_t)request_integer(req, "limit", GRAPH_NODES_DEFAULT),
    };
    if (module->computation_count == 0)
        return fail(err, ERR_NOT_FOUND, "the module has no computation");
    if (request_has(req, "instruction")) {
        struct str name = request_text(req, "instruction");

        ret->instruction = hlo_module_find(module, name);
        if (ret->instruction == HLO_NONE)
            return fail(err, ERR_NOT_FOUND, "%.*s has no instruction \"%.*s\"",
                        STR_ARG(question->listed->key), name.count > 200 ? 200 : (int)name.count,
                        name.at);
        ret->computation = module->instructions[ret->instruction].computation;
    } else if (request_has(req, "computation")) {
        TRY(find_computation(module, request_text(req, "computation"), &ret->computation, err));
    }
    return read_inside(question, ret, err);
}

static void put_node(struct json *json, const struct hlo_question *question,
                     const struct hlo_graph_node *node)
{
    const struct hlo_module *module = &question->module;
    const struct hlo_instruction *of = &module->instructions[node->instruction];

    json_open(json, '{');
    json_put_hlo_brief(json, question, node->instruction);
    json_put_unsigned(json, "computation", node->cluster);
    json_put_bool(json, "root", of->is_root);
    json_put_text_or_null(json, "scope", of->scope);
    json_put_text_or_null(json, "source", hlo_source_text(of, question->req->arena));
    json_put_text_or_null(json, "fusion_kind", of->fusion_kind);
    json_put_hlo_cost(json, question, of->name);
    json_key(json, "calls");
    json_open(json, '[');
    for (uint32_t i = 0; i < of->called_count && i < CALLS_MAX; i++) {
        uint32_t called = module->called[of->first_called + i];

        if (called != HLO_NONE)
            json_add_text(json, module->computations[called].name);
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_cluster(struct json *json, const struct hlo_module *module,
                        const struct hlo_graph_cluster *cluster)
{
    const struct hlo_computation *of = &module->computations[cluster->computation];

    json_open(json, '{');
    json_put_text(json, "name", of->name);
    json_put_unsigned(json, "line", (uint64_t)of->line + 1);
    json_put_unsigned(json, "instruction_count", of->count);
    json_put_bool(json, "entry", of->is_entry);
    json_put_bool(json, "fused", of->is_fused);
    if (cluster->caller == HLO_NONE)
        json_put_null(json, "caller");
    else
        json_put_unsigned(json, "caller", cluster->caller);
    json_close(json, '}');
}

static void put_edges(struct json *json, const struct hlo_graph *graph)
{
    json_key(json, "edges");
    json_open(json, '[');
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        json_open(json, '{');
        json_put_unsigned(json, "from", graph->edges[i].from);
        json_put_unsigned(json, "to", graph->edges[i].to);
        json_put_unsigned(json, "operand", graph->edges[i].operand);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Of the nodes that ran by themselves; unknown where none of them did. */
static void put_time(struct json *json, const struct hlo_question *question,
                     const struct hlo_graph *graph)
{
    int64_t self_ps = 0;
    bool is_known = false;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct hlo_cost *cost = hlo_cost_of(
            &question->measure, question->module.instructions[graph->nodes[i].instruction].name);

        if (cost != NULL)
            ps_add(&self_ps, cost->self_ps);
        is_known |= cost != NULL;
    }
    if (is_known)
        json_put_integer(json, "node_self_ps", self_ps);
    else
        json_put_null(json, "node_self_ps");
}

static void put_graph(struct json *json, const struct hlo_question *question,
                      const struct hlo_graph_question *asked, const struct hlo_graph *graph)
{
    const struct hlo_module *module = &question->module;

    json_put_text_or_null(
        json, "center",
        asked->instruction == HLO_NONE ? STR("") : module->instructions[asked->instruction].name);
    json_put_text(json, "computation", module->computations[asked->computation].name);
    json_put_unsigned(json, "hops", (uint64_t)asked->hops);
    json_put_unsigned(json, "left_out", graph->left_out);
    put_time(json, question, graph);
    json_key(json, "computations");
    json_open(json, '[');
    for (uint32_t i = 0; i < graph->cluster_count; i++)
        put_cluster(json, module, &graph->clusters[i]);
    json_close(json, ']');
    json_key(json, "nodes");
    json_open(json, '[');
    for (uint32_t i = 0; i < graph->node_count; i++)
        put_node(json, question, &graph->nodes[i]);
    json_close(json, ']');
    put_edges(json, graph);
    json_key(json, "reasons");
    json_open(json, '{');
    if (!question->listed->is_measured)
        json_put_text(json, "node_self_ps", question->listed->reason);
    json_close(json, '}');
}

enum status reply_graph(struct hlo_question *question, struct reply *reply, struct error *err)
{
    struct request *req = question->req;
    struct hlo_graph_question asked;
    struct hlo_graph graph;

    if (request_has(req, "format") && !request_is(req, "format", "json"))
        return fail(err, ERR_INVALID, "view=graph is JSON; view=instructions is a table");
    TRY(read_question(question, &asked, err));
    hlo_graph(&question->module, &asked, req->arena, &graph);

    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, question->run);
    json_key(&json, "module");
    json_put_module(&json, question, question->listed);
    json_key(&json, "graph");
    json_open(&json, '{');
    put_graph(&json, question, &asked, &graph);
    json_close(&json, '}');
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}
