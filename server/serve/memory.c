/* GET /api/memory?run=: allocators over time, or the run's snapshots. */
#include "analyse/memory.h"

#include "serve/memory_parts.h"
#include "serve/routes.h"
#include "serve/table_out.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_FORMAT,
    PARAMS_PAGE,
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "view", .kind = PARAM_WORD, .words = "timeline|pprof"},
    {.name = "snapshot", .kind = PARAM_TEXT, .max = 4096},
    {.name = "base", .kind = PARAM_TEXT, .max = 4096},
    {.name = "type", .kind = PARAM_TEXT, .max = 256},
    {.name = "by", .kind = PARAM_WORD, .words = "owner|function|source|frame|device|kind"},
    {.name = "sort", .kind = PARAM_TEXT, .max = 256},
    {.name = NULL},
};

static void put_known(struct json *json, const char *key, int64_t value)
{
    if (value >= 0)
        json_put_integer(json, key, value);
    else
        json_put_null(json, key);
}

static void put_sample(struct json *json, const struct memory_sample *sample)
{
    json_open(json, '{');
    json_put_integer(json, "at_ps", sample->at_ps);
    put_known(json, "allocated_bytes", sample->allocated_bytes);
    put_known(json, "reserved_bytes", sample->reserved_bytes);
    put_known(json, "available_bytes", sample->available_bytes);
    json_close(json, '}');
}

static void put_allocator(struct json *json, const struct memory_allocator *allocator)
{
    json_open(json, '{');
    json_put_text(json, "name", allocator->name);
    json_put_text(json, "host", allocator->host);
    json_put_unsigned(json, "event_count", allocator->event_count);
    put_known(json, "peak_bytes", allocator->peak_bytes);
    json_put_integer(json, "peak_at_ps", allocator->peak_at_ps);
    put_known(json, "lifetime_peak_bytes", allocator->lifetime_peak_bytes);
    put_known(json, "capacity_bytes", allocator->capacity_bytes);
    json_key(json, "samples");
    json_open(json, '[');
    for (uint32_t i = 0; i < allocator->sample_count; i++)
        put_sample(json, &allocator->samples[i]);
    json_close(json, ']');
    json_key(json, "reasons");
    json_open(json, '{');
    if (allocator->peak_bytes < 0)
        json_put_text(json, "peak_bytes", STR("the events do not say how much is allocated"));
    if (allocator->lifetime_peak_bytes < 0)
        json_put_text(json, "lifetime_peak_bytes", STR("the allocator does not say its peak"));
    if (allocator->capacity_bytes < 0)
        json_put_text(json, "capacity_bytes", STR("the allocator does not say what is left"));
    json_close(json, '}');
    json_close(json, '}');
}

static const struct column columns[] = {
    {"name", "allocator", UNIT_TEXT, true},
    {"host", "host", UNIT_TEXT, true},
    {"event_count", "events", UNIT_COUNT, true},
    {"peak_bytes", "peak", UNIT_BYTES, true},
    {"peak_at_ps", "at", UNIT_PS, true},
    {"lifetime_peak_bytes", "lifetime peak", UNIT_BYTES, true},
    {"capacity_bytes", "capacity", UNIT_BYTES, true},
};

static struct cell known_cell(int64_t value)
{
    if (value < 0)
        return (struct cell){.kind = CELL_NULL, .of.text = STR("")};
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}

static struct table table_of(struct arena *arena, const struct memory_timeline *timeline)
{
    struct cell *cells =
        arena_array(arena, struct cell, (size_t)timeline->allocator_count * COUNT(columns));

    for (uint32_t i = 0; i < timeline->allocator_count; i++) {
        const struct memory_allocator *allocator = &timeline->allocators[i];
        struct cell *row = &cells[(size_t)i * COUNT(columns)];

        row[0] = (struct cell){.kind = CELL_TEXT, .of.text = allocator->name};
        row[1] = (struct cell){.kind = CELL_TEXT, .of.text = allocator->host};
        row[2] = (struct cell){.kind = CELL_UNSIGNED, .of.uint = allocator->event_count};
        row[3] = known_cell(allocator->peak_bytes);
        row[4] = (struct cell){.kind = CELL_INTEGER, .of.integer = allocator->peak_at_ps};
        row[5] = known_cell(allocator->lifetime_peak_bytes);
        row[6] = known_cell(allocator->capacity_bytes);
    }
    return (struct table){.columns = columns,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = timeline->allocator_count,
                          .row_count_all = timeline->allocator_count};
}

/* What snapshots alone understand would be ignored here, and whoever wrote it would not know. */
static enum status refuse_foreign(const struct request *req, struct error *err)
{
    static const char *const foreign[] = {"snapshot", "base",  "type",  "by",
                                          "sort",     "limit", "cursor"};

    for (size_t i = 0; i < COUNT(foreign); i++) {
        if (request_has(req, foreign[i]))
            return fail(err, ERR_INVALID, "%s= is for view=pprof", foreign[i]);
    }
    return OK;
}

static enum status get_memory(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct memory_timeline timeline;

    TRY(request_traces(req, &run, err));
    /* Asked nothing, a run that is only snapshots answers with them. */
    if (request_is(req, "view", "pprof") || (!request_has(req, "view") && run->host_count == 0))
        return reply_snapshots(req, reply, err);
    TRY(refuse_foreign(req, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(memory_timeline(run, &restriction, req->arena, &timeline, err));
    struct table table = table_of(req->arena, &timeline);
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("timeline"));
    json_key(&json, "allocators");
    json_open(&json, '[');
    for (uint32_t i = 0; i < timeline.allocator_count; i++)
        put_allocator(&json, &timeline.allocators[i]);
    json_close(&json, ']');
    json_key(&json, "reasons");
    json_open(&json, '{');
    if (timeline.allocator_count == 0)
        json_put_text(&json, "allocators", timeline.reason);
    json_close(&json, '}');
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

const struct route route_memory = {
    .method = "GET", .path = "/api/memory", .handle = get_memory, .params = params, .heavy = true};
