/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/memory?run=&view=: five answers about memory.
 *
 *   timeline   the allocators' own events: bytes in use over time
 *   peak       who held them at the peak, or at at_ps=        (memory_peak.c)
 *   layers     who held how much over time                    (memory_layers_out.c)
 *   heap       what the compiler planned for a module         (memory_heap.c)
 *   pprof      snapshots that the program saved               (memory_snapshots.c)
 */
#include "analyse/memory/memory.h"

#include "analyse/table.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/routes/memory/memory.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_FORMAT,
    PARAMS_PAGE,
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "view", .kind = PARAM_WORD, .words = "timeline|peak|layers|heap|pprof"},
    {.name = "allocator", .kind = PARAM_TEXT, .max = 1024},
    {.name = "at_ps", .kind = PARAM_INTEGER, .min = INT64_MIN, .max = INT64_MAX},
    {.name = "module", .kind = PARAM_TEXT, .max = 1024},
    {.name = "space", .kind = PARAM_INTEGER, .min = 0, .max = UINT32_MAX},
    {.name = "position", .kind = PARAM_INTEGER, .min = 0, .max = UINT32_MAX},
    {.name = "buffers", .kind = PARAM_WORD, .words = "alive|all"},
    {.name = "snapshot", .kind = PARAM_TEXT, .max = 4096},
    {.name = "base", .kind = PARAM_TEXT, .max = 4096},
    {.name = "type", .kind = PARAM_TEXT, .max = 256},
    {.name = "by",
     .kind = PARAM_WORD,
     .words = "owner|function|source|frame|device|kind|op|scope|shape|category|allocation"},
    PARAM_SORT,
    {.name = NULL},
};

void json_put_known(struct json *json, const char *key, int64_t value)
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
    json_put_known(json, "allocated_bytes", sample->allocated_bytes);
    json_put_known(json, "reserved_bytes", sample->reserved_bytes);
    json_put_known(json, "available_bytes", sample->available_bytes);
    json_close(json, '}');
}

static const char *name_of_level(const struct memory_allocator *allocator)
{
    return allocator->is_summed ? "summed" : "told";
}

void json_put_allocator(struct json *json, const struct memory_allocator *allocator)
{
    json_put_text(json, "name", allocator->name);
    json_put_text(json, "host", allocator->host);
    json_put_known(json, "device", allocator->device);
    json_put_unsigned(json, "event_count", allocator->event_count);
    json_put_text(json, "levels", str_of(name_of_level(allocator)));
    json_put_known(json, "peak_bytes", allocator->peak_bytes);
    json_put_integer(json, "peak_at_ps", allocator->peak_at_ps);
    json_put_known(json, "peak_allocated_bytes", allocator->peak_allocated_bytes);
    json_put_known(json, "lifetime_peak_bytes", allocator->lifetime_peak_bytes);
    json_put_known(json, "capacity_bytes", allocator->capacity_bytes);
    json_put_known(json, "pool_bytes", allocator->pool_bytes);
    json_put_known(json, "before_bytes", allocator->before_bytes);
    if (allocator->fragmentation >= 0)
        json_put_real(json, "fragmentation", allocator->fragmentation);
    else
        json_put_null(json, "fragmentation");
}

#define NO_LIFETIME "the allocator does not say its peak"
#define NO_CAPACITY "the allocator does not say what is left"
#define NO_POOL "the allocator reports no pool of its own"
#define NO_FRAGMENTATION "the allocator does not say it at its peak"

void json_put_allocator_reasons(struct json *json, const struct memory_allocator *allocator)
{
    if (allocator->device < 0)
        json_put_text(json, "device", STR("the events do not say on which device"));
    if (allocator->lifetime_peak_bytes < 0)
        json_put_text(json, "lifetime_peak_bytes", STR(NO_LIFETIME));
    if (allocator->capacity_bytes < 0)
        json_put_text(json, "capacity_bytes", STR(NO_CAPACITY));
    if (allocator->pool_bytes < 0)
        json_put_text(json, "pool_bytes", STR(NO_POOL));
    if (allocator->fragmentation < 0)
        json_put_text(json, "fragmentation", STR(NO_FRAGMENTATION));
}

static void put_samples(struct json *json, const struct memory_allocator *allocator)
{
    json_open(json, '{');
    json_put_allocator(json, allocator);
    json_key(json, "samples");
    json_open(json, '[');
    for (uint32_t i = 0; i < allocator->sample_count; i++)
        put_sample(json, &allocator->samples[i]);
    json_close(json, ']');
    json_key(json, "reasons");
    json_open(json, '{');
    json_put_allocator_reasons(json, allocator);
    json_close(json, '}');
    json_close(json, '}');
}

static const struct column columns[] = {
    {"name", "allocator", UNIT_TEXT, true},
    {"host", "host", UNIT_TEXT, true},
    {"event_count", "events", UNIT_COUNT, true},
    {"peak_bytes", "peak", UNIT_BYTES, true},
    {"peak_at_ps", "at", UNIT_PS, true},
    {"peak_allocated_bytes", "peak allocated", UNIT_BYTES, true},
    {"lifetime_peak_bytes", "lifetime peak allocated", UNIT_BYTES, true},
    {"capacity_bytes", "limit", UNIT_BYTES, true},
    {"pool_bytes", "pool", UNIT_BYTES, false},
    {"before_bytes", "before", UNIT_BYTES, true},
    {"fragmentation", "fragmentation", UNIT_SHARE, true},
};

static struct cell known_cell(int64_t value, const char *reason)
{
    if (value < 0)
        return (struct cell){.kind = CELL_NULL, .of.text = str_of(reason)};
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}

struct table memory_allocators_table(struct arena *arena, const struct memory_timeline *timeline)
{
    struct cell *cells =
        arena_array(arena, struct cell, (size_t)timeline->allocator_count * COUNT(columns));

    for (uint32_t i = 0; i < timeline->allocator_count; i++) {
        const struct memory_allocator *allocator = &timeline->allocators[i];
        struct cell *row = &cells[(size_t)i * COUNT(columns)];

        row[0] = (struct cell){.kind = CELL_TEXT, .of.text = allocator->name};
        row[1] = (struct cell){.kind = CELL_TEXT, .of.text = allocator->host};
        row[2] = (struct cell){.kind = CELL_UNSIGNED, .of.uint = allocator->event_count};
        row[3] = known_cell(allocator->peak_bytes, "");
        row[4] = (struct cell){.kind = CELL_INTEGER, .of.integer = allocator->peak_at_ps};
        row[5] = known_cell(allocator->peak_allocated_bytes, "");
        row[6] = known_cell(allocator->lifetime_peak_bytes, NO_LIFETIME);
        row[7] = known_cell(allocator->capacity_bytes, NO_CAPACITY);
        row[8] = known_cell(allocator->pool_bytes, NO_POOL);
        row[9] = known_cell(allocator->before_bytes, "");
        row[10] = (struct cell){.kind = CELL_NULL, .of.text = STR(NO_FRAGMENTATION)};
        if (allocator->fragmentation >= 0)
            row[10] = (struct cell){.kind = CELL_REAL, .of.real = allocator->fragmentation};
    }
    return (struct table){.columns = columns,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = timeline->allocator_count,
                          .row_count_all = timeline->allocator_count};
}

/* What other views alone understand would be ignored, and whoever wrote it would not know. */
static const struct {
    const char *name, *views;
} owned[] = {
    {"snapshot", "pprof"},
    {"base", "pprof"},
    {"type", "pprof"},
    {"by", "peak layers pprof"},
    {"sort", "peak heap pprof"},
    {"limit", "peak heap pprof"},
    {"cursor", "peak heap pprof"},
    {"allocator", "timeline peak layers"},
    {"at_ps", "peak"},
    {"module", "heap"},
    {"space", "heap"},
    {"position", "heap"},
    {"buffers", "heap"},
};

static bool has_word(const char *words, struct str word)
{
    struct str rest = str_of(words);

    for (; rest.count > 0; rest = str_skip(rest, 1)) {
        size_t count = 0;

        while (count < rest.count && rest.at[count] != ' ')
            count++;
        if (count == word.count && memcmp(rest.at, word.at, count) == 0)
            return true;
        rest = str_skip(rest, count < rest.count ? count : count - 1);
    }
    return false;
}

static enum status refuse_foreign(const struct request *req, struct str view, struct error *err)
{
    for (size_t i = 0; i < COUNT(owned); i++) {
        if (request_has(req, owned[i].name) && !has_word(owned[i].views, view))
            return fail(err, ERR_INVALID, "%s= is for view=%s", owned[i].name, owned[i].views);
    }
    return OK;
}

static void keep_allocator(struct memory_timeline *timeline, struct str name, struct arena *arena)
{
    struct memory_allocator *kept =
        arena_array(arena, struct memory_allocator, timeline->allocator_count + 1u);
    uint32_t count = 0;

    for (uint32_t i = 0; i < timeline->allocator_count; i++)
        if (str_equal(timeline->allocators[i].name, name))
            kept[count++] = timeline->allocators[i];
    timeline->allocators = kept;
    timeline->allocator_count = count;
    if (count == 0 && timeline->reason.count == 0)
        timeline->reason = STR("no allocator of the run has this name");
}

static enum status reply_timeline(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct memory_timeline timeline;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(memory_timeline(run, &restriction, req->arena, &timeline, err));
    if (request_has(req, "allocator"))
        keep_allocator(&timeline, request_text(req, "allocator"), req->arena);
    struct table table = memory_allocators_table(req->arena, &timeline);
    if (timeline.allocator_count == 0)
        table_tell_missing(&table, "no-allocators", timeline.reason, req->arena);
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("timeline"));
    json_key(&json, "allocators");
    json_open(&json, '[');
    for (uint32_t i = 0; i < timeline.allocator_count; i++)
        put_samples(&json, &timeline.allocators[i]);
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

/* Asked nothing, a run that is only snapshots answers with them. */
static enum status choose_view(struct request *req, struct str *ret, struct error *err)
{
    const struct run_traces *run;

    *ret = request_text(req, "view");
    if (ret->count > 0)
        return OK;
    TRY(request_traces(req, &run, err));
    *ret = run->host_count == 0 ? STR("pprof") : STR("timeline");
    return OK;
}

static enum status get_memory(struct request *req, struct reply *reply, struct error *err)
{
    struct str view;

    TRY(choose_view(req, &view, err));
    TRY(refuse_foreign(req, view, err));
    if (str_equal(view, STR("pprof")))
        return reply_snapshots(req, reply, err);
    if (str_equal(view, STR("peak")))
        return reply_peak(req, reply, err);
    if (str_equal(view, STR("layers")))
        return reply_layers(req, reply, err);
    if (str_equal(view, STR("heap")))
        return reply_heap(req, reply, err);
    return reply_timeline(req, reply, err);
}

static const struct restriction whole = {0};

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    struct memory_timeline timeline;

    (void)page;
    TRY(memory_timeline(run, &whole, arena, &timeline, err));
    *ret = memory_allocators_table(arena, &timeline);
    return OK;
}

static const struct view views[] = {{.name = "memory",
                                     .columns =
                                         "name host #event_count #peak_bytes #peak_at_ps "
                                         "#peak_allocated_bytes #lifetime_peak_bytes "
                                         "#capacity_bytes #pool_bytes #before_bytes %fragmentation",
                                     .make = make_view_of_run},
                                    {.name = NULL}};

static const struct verb verb = {
    .name = "memory", .summary = "allocators over time, or snapshots", .operands = "RUN"};

const struct route route_memory = {.method = "GET",
                                   .path = "/api/memory",
                                   .handle = get_memory,
                                   .params = params,
                                   .heavy = true,
                                   .views = views,
                                   .verb = &verb};
