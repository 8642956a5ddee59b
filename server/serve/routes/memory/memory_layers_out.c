/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/memory?run=&view=layers&allocator=&by=: who held how much over time.
 *
 *   {"allocator": {...}, "moments_ps": [0, 800], "in_use_bytes": [256, 4096],
 *    "layers": [{"name": "dot.3", "row_kind": "owner", "bytes": [0, 3840], ...}, ...]}
 *
 * At each moment the layers sum to what is in use.
 */
#include "serve/answer/reply.h"
#include "serve/routes/memory/memory.h"

static void put_numbers(struct json *json, const char *key, const int64_t *numbers, uint32_t count)
{
    json_key(json, key);
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++)
        json_add_integer(json, numbers[i]);
    json_close(json, ']');
}

static void put_layer(struct json *json, const struct run_traces *run,
                      const struct memory_layers *layers, const struct memory_layer *layer,
                      struct arena *arena)
{
    json_open(json, '{');
    json_put_text(json, "name", layer->name);
    json_put_text(json, "row_kind", str_of(layer->row_kind));
    if (layer->slice == NO_SLICE)
        json_put_null(json, "slice");
    else
        json_put_text(json, "slice", slice_text(arena, &run->hosts[layers->host], layer->slice));
    put_numbers(json, "bytes", layer->bytes, layers->moment_count);
    json_close(json, '}');
}

static void put_layers(struct json *json, const struct run_traces *run,
                       const struct memory_layers *layers, struct arena *arena)
{
    json_key(json, "allocator");
    json_open(json, '{');
    json_put_allocator(json, &layers->allocator);
    json_key(json, "reasons");
    json_open(json, '{');
    json_put_allocator_reasons(json, &layers->allocator);
    json_close(json, '}');
    json_close(json, '}');
    put_numbers(json, "moments_ps", layers->at_ps, layers->moment_count);
    put_numbers(json, "in_use_bytes", layers->in_use, layers->moment_count);
    json_put_unsigned(json, "owner_count", layers->owner_count);
    json_key(json, "layers");
    json_open(json, '[');
    for (uint32_t i = 0; i < layers->layer_count; i++)
        put_layer(json, run, layers, &layers->layers[i], arena);
    json_close(json, ']');
}

enum status reply_layers(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct memory_layers layers;
    const struct memory_question question = {
        .allocator = request_text(req, "allocator"),
        .by = request_text(req, "by"),
    };

    if (request_has(req, "format") && !request_is(req, "format", "json"))
        return fail(err, ERR_INVALID, "view=layers is JSON; view=peak with at_ps= is a table");
    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(memory_layers(run, &restriction, &question, req->arena, &layers, err));

    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("layers"));
    json_put_text(&json, "by", layers.by);
    if (layers.reason.count > 0)
        json_put_null(&json, "allocator");
    else
        put_layers(&json, run, &layers, req->arena);
    json_key(&json, "reasons");
    json_open(&json, '{');
    if (layers.reason.count > 0)
        json_put_text(&json, "allocator", layers.reason);
    json_close(&json, '}');
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}
