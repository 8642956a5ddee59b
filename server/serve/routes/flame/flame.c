/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/flame?run=: one tree of where time or memory went, as JSON or folded stacks. */
#include "analyse/flame/flame.h"

#include <inttypes.h>
#include <stdio.h>

#include "serve/answer/reply.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/routes/flame/flame_parts.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    {.name = "by", .kind = PARAM_WORD, .words = "scope|source|module|phase|host|track|stack|bytes"},
    {.name = "weight", .kind = PARAM_WORD, .words = "self|time|count|bytes|flops"},
    {.name = "order", .kind = PARAM_WORD, .words = "heavy|time"},
    {.name = "fold", .kind = PARAM_WORD, .words = "siblings"},
    {.name = "focus", .kind = PARAM_TEXT, .max = 4096},
    {.name = "sandwich", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = "snapshot", .kind = PARAM_TEXT, .max = 4096},
    {.name = "type", .kind = PARAM_TEXT, .max = 256},
    {.name = "depth", .kind = PARAM_INTEGER, .min = 1, .max = 512},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = 20000},
    {.name = "format", .kind = PARAM_WORD, .words = "json|folded|speedscope"},
    {.name = NULL},
};

/* A level is an object in a list: 240 nest 484 deep, and readers of JSON stop at 500 or 512. */
enum { RELATIVES_MAX = 1000, JSON_LEVELS_MAX = 240 };

#define DEEP_WORDS                                                                                 \
    "Stacks are shown down to 240 frames: deeper frames count as self time of the 240th. "         \
    "format=folded "                                                                               \
    "and format=speedscope have 512."

static bool is_time(const struct flame *flame)
{
    return str_equal(flame->unit, STR("ps"));
}

static void put_node(struct json *json, const struct flame *flame, const struct flame_node *nodes,
                     const struct flame_node *node)
{
    char key[17];

    snprintf(key, sizeof key, "%016" PRIx64, node->key);
    json_open(json, '{');
    json_put_text(json, "name", node->name);
    json_put_text(json, "kind", str_of(kind_word(node->kind)));
    /* Not everything is a time: the words say so. */
    json_put_integer(json, is_time(flame) ? "total_ps" : "total", node->total_ps);
    json_put_integer(json, is_time(flame) ? "self_ps" : "self", node->self_ps);
    json_put_unsigned(json, "count", node->count);
    if (node->first_ps != FLAME_NO_TIME)
        json_put_integer(json, "first_ps", node->first_ps);
    else
        json_put_null(json, "first_ps");
    json_put_text(json, "key", (struct str){.at = key, .count = sizeof key - 1});
    if (node->file.count > 0) {
        json_put_text(json, "file", node->file);
        json_put_unsigned(json, "line", node->line);
    }
    json_key(json, "children");
    json_open(json, '[');
    /* As deep as the tree: JSON_LEVELS_MAX. */
    for (uint32_t i = 0; i < node->child_count; i++)
        put_node(json, flame, nodes, &nodes[node->first_child + i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void put_relatives(struct json *json, const char *key, const struct flame *flame,
                          const struct flame_relative *relatives, uint32_t count)
{
    json_key(json, key);
    json_open(json, '[');
    for (uint32_t i = 0; i < count && i < RELATIVES_MAX; i++) {
        json_open(json, '{');
        json_put_text(json, "name", relatives[i].name);
        json_put_integer(json, is_time(flame) ? "total_ps" : "total", relatives[i].total_ps);
        json_put_unsigned(json, "count", relatives[i].count);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Null where no name was asked for, or it stands nowhere. */
static void put_focus(struct json *json, const struct flame *flame)
{
    const struct flame_focus *focus = &flame->focus;

    if (focus->places == 0) {
        json_put_null(json, "focus");
        return;
    }
    json_key(json, "focus");
    json_open(json, '{');
    json_put_text(json, "name", focus->name);
    json_put_unsigned(json, "places", focus->places);
    json_put_integer(json, is_time(flame) ? "total_ps" : "total", focus->total_ps);
    json_put_integer(json, is_time(flame) ? "self_ps" : "self", focus->self_ps);
    json_put_unsigned(json, "caller_count", focus->caller_count);
    json_put_unsigned(json, "callee_count", focus->callee_count);
    put_relatives(json, "callers", flame, focus->callers, focus->caller_count);
    put_relatives(json, "callees", flame, focus->callees, focus->callee_count);
    json_close(json, '}');
}

static void put_sandwich(struct json *json, const struct flame *flame)
{
    const struct flame_sandwich *sandwich = &flame->sandwich;

    if (sandwich->callers == NULL)
        return; /* it was not asked for, or the name stands nowhere */
    json_key(json, "sandwich");
    json_open(json, '{');
    json_key(json, "callers");
    put_node(json, flame, sandwich->callers, &sandwich->callers[0]);
    json_key(json, "callees");
    put_node(json, flame, sandwich->callees, &sandwich->callees[0]);
    json_close(json, '}');
}

static uint32_t levels_below(const struct flame *flame, const struct flame_node *node)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t levels = 1 + levels_below(flame, &flame->nodes[node->first_child + i]);

        most = levels > most ? levels : most;
    }
    return most;
}

static void put_json(struct request *req, struct reply *reply, const struct run_traces *run,
                     const struct restriction *restriction, const struct flame *flame)
{
    static const struct answer_note deep = {
        .kind = "deep-stacks",
        .severity = NOTE_INFO,
        .message = {.at = DEEP_WORDS, .count = sizeof DEEP_WORDS - 1},
        .count = 1};
    bool is_deep =
        flame->node_count > 0 && levels_below(flame, &flame->nodes[0]) >= JSON_LEVELS_MAX;
    struct answer_note nothing;
    uint32_t counts[4] = {0, flame->note_count, is_deep, 0};
    const struct answer_note *lists[4] = {request_notes(req, &counts[0]), flame->notes, &deep,
                                          &nothing};
    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", flame->by);
    json_put_counted(&json, req, restriction);
    json_put_text(&json, "of", flame->of);
    json_put_text(&json, "weight", flame->weight);
    json_put_text(&json, "order", flame->order);
    json_put_text(&json, "unit", flame->unit);
    if (flame->type.count > 0)
        json_put_text(&json, "type", flame->type);
    else
        json_put_null(&json, "type");
    if (flame->snapshot.count > 0)
        json_put_text(&json, "snapshot", flame->snapshot);
    else
        json_put_null(&json, "snapshot");
    json_put_unsigned(&json, "node_count", flame->node_count);
    json_put_unsigned(&json, "node_count_all", flame->node_count_all);
    put_focus(&json, flame);
    put_sandwich(&json, flame);
    json_key(&json, "root");
    if (flame->node_count > 0)
        put_node(&json, flame, flame->nodes, &flame->nodes[0]);
    else
        json_add_null(&json);
    if (flame->node_count > 0 && flame->nodes[0].total_ps == 0)
        counts[3] = nothing_fits_note(req, &nothing);
    json_put_notes(&json, lists, counts, 4);
    json_close(&json, '}');
}

/* All weights that are known, for a viewer that switches between them. */
static enum status put_all_weights(struct request *req, struct reply *reply,
                                   const struct run_traces *run,
                                   const struct restriction *restriction,
                                   struct flame_question question, struct error *err)
{
    static const char *const weights[] = {"self", "time", "count", "bytes", "flops"};
    struct flame trees[COUNT(weights)];
    uint32_t count = 0;

    for (size_t i = 0; i < COUNT(weights); i++) {
        question.weight = str_of(weights[i]);
        TRY(flame(run, restriction, &question, req->arena, &trees[count], err));
        count += trees[count].node_count > 0;
    }
    reply_speedscope(reply, run, trees, count);
    return OK;
}

static enum status get_flame(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct flame tree;
    struct flame_question question = {
        .by = request_text(req, "by"),
        .snapshot = request_text(req, "snapshot"),
        .type = request_text(req, "type"),
        .weight = request_text(req, "weight"),
        .order = request_text(req, "order"),
        .focus = request_text(req, "focus"),
        .fold_siblings = request_is(req, "fold", "siblings"),
        .sandwich = request_is(req, "sandwich", "yes"),
        .depth = (uint32_t)request_integer(req, "depth", 0),
        .node_limit = (uint32_t)request_integer(req, "limit", 0),
    };

    TRY(request_traces(req, &run, err));
    if (run->host_count == 0 || request_is(req, "by", "stack") || request_is(req, "by", "bytes"))
        TRY(request_all_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    if (request_is(req, "format", "speedscope") && !request_has(req, "weight"))
        return put_all_weights(req, reply, run, &restriction, question, err);
    bool nests = !request_is(req, "format", "folded") && !request_is(req, "format", "speedscope");
    if (nests && (question.depth == 0 || question.depth > JSON_LEVELS_MAX))
        question.depth = JSON_LEVELS_MAX;
    TRY(flame(run, &restriction, &question, req->arena, &tree, err));
    if (request_is(req, "format", "folded")) {
        reply->status = 200;
        reply->type = TYPE_TEXT;
        flame_folded(&tree, &reply->body);
    } else if (request_is(req, "format", "speedscope")) {
        reply_speedscope(reply, run, &tree, tree.node_count > 0);
    } else {
        put_json(req, reply, run, &restriction, &tree);
    }
    return OK;
}

static const struct ahead ahead[] = {{.params = "by=scope&step=counted&limit=20000"},
                                     {.params = "by=scope&limit=20000"},
                                     {.params = "by=source&limit=20000"},
                                     {.params = "by=stack&limit=20000"},
                                     {.params = "by=track&limit=20000"},
                                     {.params = "by=host&limit=20000"},
                                     {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "by=scope", .limit = 2000, .what = "flame graph's scopes", .rank = 10},
    {.params = "by=source", .limit = 1000, .what = "flame graph's source lines", .rank = 18},
    {.params = "by=module", .limit = 1000, .what = "flame graph's modules", .rank = 19},
    {.params = NULL}};

static const struct verb verb = {
    .name = "flame",
    .summary = "time, FLOPs or bytes by scope, Python stack, source, module, host call, track",
    .operands = "RUN"};

const struct route route_flame = {.method = "GET",
                                  .path = "/api/flame",
                                  .handle = get_flame,
                                  .params = params,
                                  .heavy = true,
                                  .ahead = ahead,
                                  .in_bundle = in_bundle,
                                  .verb = &verb};
