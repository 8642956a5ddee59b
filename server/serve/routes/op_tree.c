/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/op_tree?run=: the table of ops as a tree of programs, categories and scopes. */
#include "analyse/ops/op_tree.h"

#include <math.h>

#include "serve/answer/table_out.h"
#include "serve/kept/sums.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    {.name = "first", .kind = PARAM_WORD, .words = "program|category|scope"},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = PAGE_LIMIT_MAX},
    {.name = NULL},
};

static void put_known(struct json *json, const char *key, double value)
{
    if (isnan(value))
        json_put_null(json, key);
    else
        json_put_real(json, key, value);
}

static void put_node(struct json *json, const struct op_tree *tree, const struct op_tree_node *node)
{
    const int64_t whole_ps = tree->nodes[0].self_ps;

    json_open(json, '{');
    json_put_text(json, "name", node->name);
    json_put_text(json, "level", str_of(op_level_word(node->level)));
    json_put_text(json, "kind", str_of(kind_word(node->kind)));
    json_put_integer(json, "self_ps", node->self_ps);
    put_known(json, "share", whole_ps > 0 ? (double)node->self_ps / (double)whole_ps : NAN);
    json_put_unsigned(json, "count", node->count);
    json_put_unsigned(json, "op_count", node->op_count);
    put_known(json, "flops", node->flops);
    put_known(json, "bytes", node->bytes);
    put_known(json, "flops_share", node->flops_share);
    put_known(json, "bandwidth_share", node->bandwidth_share);
    json_put_integer(json, "flops_unknown_ps", node->flops_unknown_ps);
    json_put_integer(json, "bytes_unknown_ps", node->bytes_unknown_ps);
    json_key(json, "reasons");
    json_open(json, '{');
    if (node->flops_reason.count > 0)
        json_put_text(json, "flops_share", node->flops_reason);
    if (node->bytes_reason.count > 0)
        json_put_text(json, "bandwidth_share", node->bytes_reason);
    json_close(json, '}');
    json_key(json, "children");
    json_open(json, '[');
    for (uint32_t i = 0; i < node->child_count; i++) /* five levels at most */
        put_node(json, tree, &tree->nodes[node->first_child + i]);
    json_close(json, ']');
    json_close(json, '}');
}

static enum status get_op_tree(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct op_tree tree;
    const struct op_tree_question question = {
        .first = request_text(req, "first"),
        .node_limit = (uint32_t)request_integer(req, "limit", 0),
    };

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    run = sums_take(req, run);
    enum status status = op_tree(run, &restriction, &question, req->arena, &tree, err);
    sums_return(req, run);
    TRY(status);

    struct answer_note nothing;
    uint32_t counts[3] = {0, tree.note_count, 0};
    const struct answer_note *lists[3] = {request_notes(req, &counts[0]), tree.notes, &nothing};
    struct json json = reply_json(reply);

    if (tree.nodes[0].op_count == 0)
        counts[2] = nothing_fits_note(req, &nothing);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", tree.by);
    json_put_unsigned(&json, "node_count", tree.node_count);
    json_put_unsigned(&json, "node_count_all", tree.node_count_all);
    json_key(&json, "root");
    put_node(&json, &tree, &tree.nodes[0]);
    json_put_notes(&json, lists, counts, 3);
    json_close(&json, '}');
    return OK;
}

const struct route route_op_tree = {.method = "GET",
                                    .path = "/api/op_tree",
                                    .handle = get_op_tree,
                                    .params = params,
                                    .heavy = true};
