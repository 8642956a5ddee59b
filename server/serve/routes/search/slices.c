/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/slices?run=: slices of tracks, of a name, of a window, in an order. */
#include "serve/routes.h"
#include "serve/routes/search/pick.h"
#include "serve/tool.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "track", .kind = PARAM_TEXTS},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "name", .kind = PARAM_TEXT},
    {.name = "min_dur_ps", .kind = PARAM_INTEGER, .min = 0, .max = INT64_MAX},
    {.name = "sort", .kind = PARAM_WORD, .words = "start_ps|-dur_ps|-self_ps"},
    {.name = NULL},
};

static enum pick_order order_of(const struct request *req)
{
    if (request_is(req, "sort", "-dur_ps"))
        return PICK_LONGEST;
    return request_is(req, "sort", "-self_ps") ? PICK_SELF : PICK_START;
}

enum status request_pick(struct request *req, const struct page *page, struct pick *ret,
                         struct error *err)
{
    const struct run_traces *run;
    struct pick_filter filter = {.name = request_text(req, "name"),
                                 .min_dur_ps = request_integer(req, "min_dur_ps", 0),
                                 .max_dur_ps = INT64_MAX};

    TRY(request_traces(req, &run, err));
    TRY(request_window(req, &filter.start_ps, &filter.end_ps, err));
    if (page->offset > PICK_MAX - page->limit)
        return fail(err, ERR_LIMIT,
                    "pages end after %d slices; narrow the window, or export the run", PICK_MAX);
    *ret =
        pick_begin(run, filter, order_of(req), (uint32_t)(page->offset + page->limit), req->arena);
    return OK;
}

/* Without tracks: by the index where a name is asked for, else every recorded track. */
static void pick_host(struct pick *pick, uint32_t host)
{
    const struct trace *trace = pick->run->hosts[host].trace;
    name_id name;

    if (pick->filter.name.count > 0) {
        bool *names = arena_array(pick->arena, bool, (size_t)trace->name_count + 1);

        if (!trace_find_name(trace, pick->filter.name, &name))
            return;
        names[name] = true;
        pick_names(pick, host, names);
        return;
    }
    for (track_id track = 0; track < trace->track_count; track++) {
        if (!trace->tracks[track].derived)
            pick_track(pick, host, track);
    }
}

static void pick_asked(struct pick *pick, const struct restriction *asked)
{
    for (uint32_t i = 0; i < asked->track_count; i++)
        pick_track(pick, asked->tracks[i].host, asked->tracks[i].track);
    for (uint32_t i = 0; asked->track_count == 0 && i < pick->run->host_count; i++) {
        if (host_is_asked(asked, pick->run->hosts[i].name))
            pick_host(pick, i);
    }
}

void json_put_places(struct json *json, struct arena *arena, const struct run_traces *run,
                     const struct slice_place *places, uint32_t count)
{
    json_key(json, "rows");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = &run->hosts[places[i].host];
        struct slice slice = trace_slice(host->trace, places[i].slice);

        json_open(json, '{');
        json_put_slice_members(json, arena, host, &slice);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static enum status get_slices(struct request *req, struct reply *reply, struct error *err)
{
    struct page page;
    struct pick pick;
    struct restriction asked;
    struct slice_place *places;

    TRY(request_page(req, &page, err));
    TRY(request_pick(req, &page, &pick, err));
    TRY(request_restriction(req, &asked, err));
    pick_asked(&pick, &asked);
    uint32_t count = pick_end(&pick, (uint32_t)page.offset, req->arena, &places);
    uint64_t next = page.offset + count < pick.total && count > 0 ? page.offset + count : 0;

    struct table table = slice_table(
        req->arena, pick.run, places,
        request_is(req, "format", "csv") || request_is(req, "format", "md") ? count : 0);
    table.row_count_all = pick.total;
    table.next = next;
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, pick.run);
    json_put_unsigned(&json, "row_count", pick.total);
    json_put_next(&json, next);
    json_put_places(&json, req->arena, pick.run, places, count);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

static const struct verb verb = {
    .name = "slices", .summary = "slices of a track in a time range", .operands = "RUN"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"track", TOOL_TEXT, false, "Only this track's id", NULL},
    {"name", TOOL_TEXT, false, "Only this exact name", NULL},
    {"min_dur_ps", TOOL_INTEGER, false, "Only slices of at least this duration", NULL},
    {"sort", TOOL_WORD, false, "Order (default start_ps)", "start_ps|-dur_ps|-self_ps"},
    TOOL_WINDOW,
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "slices",
     .title = "Slices",
     .text =
         "Events of the timeline, of a track, a name or a time range; can be ordered by duration.",
     .arguments = arguments,
     .fixed = "limit=20",
     .rank = 9},
    {.name = NULL}};

const struct route route_slices = {.method = "GET",
                                   .path = "/api/slices",
                                   .handle = get_slices,
                                   .params = params,
                                   .verb = &verb,
                                   .tools = tools};
