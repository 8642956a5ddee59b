/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/slice?run=&id=: everything known of one slice.
 *
 *   where   track, depth, parents up to the top, children by name, flows
 *   what    args of the event and of its type, op, module, scope, source, execution
 *   how     recorded and attributed interval, and its rank among the mates of its name
 */
#include <stdlib.h>

#include "analyse/steps/steps.h"
#include "serve/answer/arg_out.h"
#include "serve/answer/flow_out.h"
#include "serve/routes.h"
#include "serve/routes/slice/slice_parts.h"
#include "trace/args/args.h"
#include "trace/ps.h"

enum { PARENTS_MAX = 1000, CHILDREN_MAX = 1000, FLOWS_MAX = 1000 };

static const struct param params[] = {
    PARAMS_RUN,
    {.name = "id", .kind = PARAM_TEXT, .required = true, .max = 64},
    PARAMS_FORMAT,
    {.name = NULL},
};

static void put_args(struct json *json, const struct subject *subject)
{
    struct arg *args;
    uint32_t count = trace_args(subject->trace, subject->slice.event, subject->arena, &args);
    const struct type *type =
        &subject->trace->types[trace_type(subject->trace, subject->slice.event)];

    json_key(json, "args");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(json, '{');
        json_put_arg_members(json, subject->trace, args[i]);
        json_put_text(json, "of", STR("event"));
        json_close(json, '}');
    }
    for (uint32_t i = 0; subject->trace->type_count > 0 && i < type->arg_count; i++) {
        json_open(json, '{');
        json_put_arg_members(json, subject->trace, subject->trace->type_args[type->first_arg + i]);
        json_put_text(json, "of", STR("type"));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_parents(struct json *json, const struct subject *subject)
{
    slice_id at = subject->slice.parent;

    json_key(json, "parents");
    json_open(json, '[');
    for (uint32_t i = 0; at != NO_SLICE && i < PARENTS_MAX; i++) {
        struct slice parent = trace_slice(subject->trace, at);

        json_open(json, '{');
        json_put_slice_members(json, subject->arena, subject->host, &parent);
        json_close(json, '}');
        at = parent.parent;
    }
    json_close(json, ']');
}

struct child { /* all direct children of one name */
    name_id name;
    uint8_t kind;
    uint64_t count;
    int64_t total_ps, self_ps;
};

struct children {
    struct child *items;
    uint32_t count, capacity;
};

static void add_child(struct children *children, const struct chunk *chunk, uint32_t at)
{
    struct child *child = NULL;

    for (uint32_t i = 0; child == NULL && i < children->count; i++) {
        if (children->items[i].name == chunk->name[at])
            child = &children->items[i];
    }
    if (child == NULL) {
        if (children->count == children->capacity)
            return;
        child = &children->items[children->count++];
        *child = (struct child){.name = chunk->name[at], .kind = chunk->kind[at]};
    }
    child->count++;
    ps_add(&child->total_ps, chunk->dur_ps[at]);
    ps_add(&child->self_ps, chunk->self_ps[at]);
}

static void scan_children(const struct subject *subject, const struct row *row, struct chunk *chunk,
                          struct children *children)
{
    const struct slice *slice = &subject->slice;
    uint32_t first, end;

    row_window(subject->trace, row, slice->start_ps, slice->start_ps + slice->dur_ps, &first, &end);
    for (uint32_t at = first; at < end;) {
        uint32_t index = at / CHUNK_SLICES, base = index * CHUNK_SLICES;

        chunk_unpack(subject->trace, row->first_chunk + index,
                     COLUMN_DUR | COLUMN_SELF | COLUMN_NAME | COLUMN_PARENT, chunk);
        for (; at < end && at - base < chunk->count; at++) {
            if (chunk->parent[at - base] == slice->id)
                add_child(children, chunk, at - base);
        }
        if (chunk->count < CHUNK_SLICES)
            break;
    }
}

static int by_total(const void *a, const void *b)
{
    const struct child *one = a, *other = b;

    if (one->total_ps != other->total_ps)
        return one->total_ps < other->total_ps ? 1 : -1;
    return (one->name > other->name) - (one->name < other->name);
}

static void put_children(struct json *json, const struct subject *subject)
{
    const struct row *own = &subject->trace->rows[subject->slice.row];
    const struct track *track = &subject->trace->tracks[own->track];
    struct chunk *chunk = arena_new(subject->arena, struct chunk);
    struct children children = {.items = arena_array(subject->arena, struct child, CHILDREN_MAX),
                                .capacity = CHILDREN_MAX};

    for (uint32_t i = 0; subject->slice.dur_ps > 0 && i < track->row_count; i++) {
        const struct row *row = &subject->trace->rows[track->first_row + i];

        if (row->depth > own->depth)
            scan_children(subject, row, chunk, &children);
    }
    if (children.count > 0)
        qsort(children.items, children.count, sizeof *children.items, by_total);
    json_key(json, "children");
    json_open(json, '[');
    for (uint32_t i = 0; i < children.count; i++) {
        json_open(json, '{');
        json_put_text(json, "name", trace_name(subject->trace, children.items[i].name));
        json_put_text(json, "kind", str_of(kind_word((enum kind)children.items[i].kind)));
        json_put_unsigned(json, "count", children.items[i].count);
        json_put_integer(json, "total_ps", children.items[i].total_ps);
        json_put_integer(json, "self_ps", children.items[i].self_ps);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* The step that holds the slice's begin. */
static enum status put_step(struct json *json, const struct subject *subject, struct error *err)
{
    const struct str host = subject->host->name;
    const struct restriction restriction = {.hosts = &host, .host_count = 1};
    int64_t at_ps = run_time(subject->host, subject->slice.start_ps);
    const struct step *found = NULL;
    struct steps steps;

    TRY(steps_find(subject->run, &restriction, subject->arena, &steps, err));
    for (uint32_t i = 0; i < steps.count; i++) {
        const struct step *step = &steps.items[i];

        if (step->host == subject->host_index && step->start_ps <= at_ps &&
            at_ps - step->start_ps < step->dur_ps)
            found = step;
    }
    json_key(json, "step");
    if (found == NULL)
        json_add_null(json);
    else
        json_add_integer(json, found->number);
    return OK;
}

static enum status get_slice(struct request *req, struct reply *reply, struct error *err)
{
    struct subject subject = {.arena = req->arena};
    slice_id id;

    TRY(request_traces(req, &subject.run, err));
    TRY(request_slice(req, request_text(req, "id"), &subject.host_index, &id, err));
    subject.host = &subject.run->hosts[subject.host_index];
    subject.trace = subject.host->trace;
    subject.slice = trace_slice(subject.trace, id);

    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, subject.run);
    json_put_slice_members(&json, req->arena, subject.host, &subject.slice);
    json_put_text(&json, "host", subject.host->name);
    put_args(&json, &subject);
    put_parents(&json, &subject);
    put_children(&json, &subject);
    json_put_slice_flows(&json, req->arena, subject.host, id, FLOWS_MAX);
    slice_put_facts(&json, &subject);
    slice_put_mates(&json, &subject);
    slice_put_stack(&json, &subject);
    TRY(put_step(&json, &subject, err));
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return reply_fields(req, reply, err);
}

const struct route route_slice = {
    .method = "GET", .path = "/api/slice", .handle = get_slice, .params = params};
