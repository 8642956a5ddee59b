/* SPDX-License-Identifier: Apache-2.0 */
/* POST /api/whatif?run=: how long steps would take, had some of what ran in them taken another
 * time.
 *
 *   {"run": "step_1000", "scale": ["scope:layer_1/mlp=0.5", "kind:input=0"],
 *    "overlap": "communication", "fuse_launches": true, "devices_even": true}
 *
 * Members may as well stand in the query, texts as they are, truths as yes.
 */
#include <jansson.h>

#include "analyse/critical/whatif.h"

#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT, .max = 1024},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = "align", .kind = PARAM_WORD, .words = "clocks|collectives"},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "scale", .kind = PARAM_TEXT, .max = 8192},
    {.name = "overlap", .kind = PARAM_TEXT, .max = 64},
    {.name = "fuse_launches", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = "devices_even", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = "family", .kind = PARAM_TEXT},
    {.name = "step_regex", .kind = PARAM_TEXT, .max = 256},
    PARAMS_FORMAT,
    {.name = NULL},
};

struct asked {
    struct edits edits;
    bool names_run; /* in the body */
};

/* A text, or a list of texts, each of which `add` takes. */
static enum status take_texts(struct request *req, const char *name, const json_t *value,
                              enum status (*add)(struct str, struct edits *, struct error *),
                              struct edits *edits, struct error *err)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;

    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;

        if (!json_is_string(one))
            return fail(err, ERR_INVALID, "\"%s\" must be a text or a list of texts", name);
        TRY(add(str_copy(req->arena, (struct str){json_string_value(one), json_string_length(one)}),
                edits, err));
    }
    return OK;
}

static enum status take_switch(const char *name, const json_t *value, bool *ret, struct error *err)
{
    if (!json_is_boolean(value))
        return fail(err, ERR_INVALID, "\"%s\" must be true or false", name);
    *ret = json_is_true(value);
    return OK;
}

static enum status take_member(struct request *req, const char *name, const json_t *value,
                               struct asked *asked, struct error *err)
{
    struct edits *edits = &asked->edits;

    if (json_is_null(value))
        return OK;
    if (strcmp(name, "scale") == 0)
        return take_texts(req, name, value, edits_read, edits, err);
    if (strcmp(name, "overlap") == 0)
        return take_texts(req, name, value, edits_overlap, edits, err);
    if (strcmp(name, "fuse_launches") == 0)
        return take_switch(name, value, &edits->fuse_launches, err);
    if (strcmp(name, "devices_even") == 0)
        return take_switch(name, value, &edits->devices_even, err);
    if (strcmp(name, "run") != 0)
        return fail(err, ERR_INVALID,
                    "there is no change \"%.100s\"; changes are scale, overlap, fuse_launches and "
                    "devices_even",
                    name);
    if (!json_is_string(value))
        return fail(err, ERR_INVALID, "\"run\" is a text");
    asked->names_run = true;
    request_name_run(req, str_copy(req->arena, (struct str){json_string_value(value),
                                                            json_string_length(value)}));
    return OK;
}

static enum status take_body(struct request *req, struct asked *asked, struct error *err)
{
    json_error_t why;
    json_t *body, *value;
    const char *name;
    enum status status = OK;

    if (req->body.count == 0)
        return OK;
    body = json_loadb((const char *)req->body.at, req->body.count, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(body))
        status = body == NULL ? fail(err, ERR_INVALID, "the body is not valid JSON: %s at byte %d",
                                     why.text, why.position)
                              : fail(err, ERR_INVALID, "the body must be a JSON object");
    json_object_foreach(body, name, value)
    {
        if (status == OK)
            status = take_member(req, name, value, asked, err);
    }
    json_decref(body);
    return status;
}

static enum status take_changes(struct request *req, struct asked *asked, struct error *err)
{
    struct edits *edits = &asked->edits;

    TRY(edits_read(request_text(req, "scale"), edits, err));
    TRY(edits_overlap(request_text(req, "overlap"), edits, err));
    edits->fuse_launches = request_is(req, "fuse_launches", "yes");
    edits->devices_even = request_is(req, "devices_even", "yes");
    return take_body(req, asked, err);
}

static void put_steps(struct json *json, const struct run_traces *run, const struct whatif *whatif)
{
    json_key(json, "steps");
    json_open(json, '[');
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct whatif_step *step = &whatif->steps[i];

        json_open(json, '{');
        if (step->step == NULL)
            json_put_null(json, "step");
        else
            json_put_integer(json, "step", step->step->number);
        json_put_text(json, "host", run->hosts[step->host].name);
        json_put_integer(json, "recorded_ps", step->recorded_ps);
        json_put_integer(json, "replayed_ps", step->replayed_ps);
        json_put_integer(json, "predicted_ps", step->predicted_ps);
        json_put_text(json, "bound_by", str_of(piece_word(step->bound_by)));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_answer(struct request *req, struct reply *reply, const struct run_traces *run,
                       const struct whatif *whatif)
{
    uint32_t counts[2] = {0, whatif->note_count};
    const struct answer_note *lists[2] = {request_notes(req, &counts[0]), whatif->notes};
    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_integer(&json, "recorded_ps", whatif->recorded_ps);
    json_put_integer(&json, "replayed_ps", whatif->replayed_ps);
    json_put_integer(&json, "predicted_ps", whatif->predicted_ps);
    json_put_text(&json, "bound_by", str_of(piece_word(whatif->bound_by)));
    put_steps(&json, run, whatif);
    json_put_notes(&json, lists, counts, 2);
    json_close(&json, '}');
}

static enum status post_whatif(struct request *req, struct reply *reply, struct error *err)
{
    struct asked *asked = arena_new(req->arena, struct asked);
    struct edits *edits = &asked->edits;
    const struct run_traces *run;
    struct restriction restriction;
    struct steps steps;
    struct whatif whatif;

    TRY(take_changes(req, asked, err));
    if (!request_has(req, "run") && !asked->names_run)
        return fail(err, ERR_INVALID, "run= is missing: which run");
    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_steps(req, run, &restriction, &steps, err));
    if (restriction.step_range_count > 0 && steps.count == 0)
        return fail(err, ERR_NOT_FOUND, "no step has that number (%.*s)", STR_ARG(steps.rule_text));
    TRY(whatif_find(run, &steps, edits, req->arena, &whatif, err));
    put_answer(req, reply, run, &whatif);
    return reply_fields(req, reply, err);
}

static const struct verb verb = {
    .name = "whatif",
    .summary = "how long a step would take if parts of it were faster or slower",
    .operands = "RUN",
    .sends = "{}",
    .repeats = "scale"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"scale", TOOL_TEXT, false,
     "What to scale, separated by commas: scope:NAME=FACTOR, op:NAME=FACTOR, kind:NAME=FACTOR; 0.5 "
     "is half as long",
     NULL},
    {"overlap", TOOL_TEXT, false,
     "communication, copy or input: only the end of the step waits for it", NULL},
    {"fuse_launches", TOOL_WORD, false, "yes: keep only one launching call per step", "no|yes"},
    {"devices_even", TOOL_WORD, false, "yes: each device computes for the mean of all devices",
     "no|yes"},
    {"step", TOOL_TEXT, false, "Only these steps", NULL},
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "whatif",
     .title = "What if",
     .text = "How long a step would take if an op, a scope or a kind of work were faster or "
             "slower: the recorded work is replayed with all its waits. Without changes "
             "predicted_ps equals replayed_ps.",
     .arguments = arguments},
    {.name = NULL}};

const struct route route_whatif = {.method = "POST",
                                   .path = "/api/whatif",
                                   .handle = post_whatif,
                                   .params = params,
                                   .heavy = true,
                                   .verb = &verb,
                                   .tools = tools};
