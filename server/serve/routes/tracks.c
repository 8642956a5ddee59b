/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/tracks?run=: the tree of tracks of every host. */
#include "analyse/table.h"
#include "serve/answer/slice_out.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"

static const struct param params[] = {PARAMS_RUN, PARAMS_PAGE, PARAMS_FORMAT, {.name = NULL}};

static const char *track_kind_word(uint8_t kind)
{
    static const char *const words[] = {
        [TRACK_PROCESS] = "process", [TRACK_DEVICE] = "device", [TRACK_STREAM] = "stream",
        [TRACK_THREAD] = "thread",   [TRACK_ASYNC] = "async",   [TRACK_COUNTER] = "counter",
    };

    return kind < COUNT(words) ? words[kind] : "thread";
}

static const char *track_role_word(uint8_t role)
{
    static const char *const words[] = {
        [ROLE_NONE] = NULL,   [ROLE_STEPS] = "steps",         [ROLE_MODULES] = "modules",
        [ROLE_OPS] = "ops",   [ROLE_ASYNC_OPS] = "async_ops", [ROLE_SCOPES] = "scopes",
        [ROLE_HOST] = "host",
    };

    return role < COUNT(words) ? words[role] : NULL;
}

/* Where the file wants its tracks, among their siblings: its property sort_index. */
static const struct property **orders_of(const struct trace *trace, struct arena *arena)
{
    const struct property **orders =
        arena_array(arena, const struct property *, (size_t)trace->track_count + 1);
    name_id key;

    if (!trace_find_name(trace, STR("sort_index"), &key))
        return orders;
    for (uint32_t i = 0; i < trace->property_count; i++) {
        const struct property *property = &trace->properties[i];

        if (property->arg.key == key && property->arg.type == ARG_INT64 &&
            property->track < trace->track_count)
            orders[property->track] = property;
    }
    return orders;
}

static void put_track(struct json *json, struct arena *arena, const struct host_trace *host,
                      track_id id, const struct property *order)
{
    const struct track *track = &host->trace->tracks[id];

    json_open(json, '{');
    json_put_text(json, "id", track_text(arena, host, id));
    json_put_text_or_null(json, "parent",
                          track->parent == NO_TRACK ? STR("")
                                                    : track_text(arena, host, track->parent));
    json_put_text(json, "host", host->name);
    json_put_text(json, "name", trace_name(host->trace, track->name));
    json_put_text(json, "kind", str_of(track_kind_word(track->kind)));
    json_put_text_or_null(json, "role", str_of(track_role_word(track->role)));
    json_key(json, "device");
    if (track->device >= 0)
        json_add_integer(json, track->device);
    else
        json_add_null(json);
    json_put_bool(json, "derived", track->derived);
    if (order != NULL)
        json_put_integer(json, "order", (int64_t)order->arg.bits);
    else
        json_put_null(json, "order");
    json_put_unsigned(json, "depth_count", track->row_count);
    json_put_unsigned(json, "slice_count", track->slice_count);
    json_put_integer(json, "duration_sum_ps", track->duration_sum_ps);
    if (track->slice_count > 0) {
        json_put_integer(json, "start_ps", run_time(host, track->start_ps));
        json_put_integer(json, "end_ps", run_time(host, track->end_ps));
    } else {
        json_put_null(json, "start_ps");
        json_put_null(json, "end_ps");
    }
    json_close(json, '}');
}

static const struct column columns[] = {
    {"id", "track", UNIT_TEXT, true},
    {"host", "host", UNIT_TEXT, true},
    {"name", "name", UNIT_TEXT, true},
    {"kind", "kind", UNIT_TEXT, true},
    {"depth_count", "rows", UNIT_COUNT, false},
    {"slice_count", "slices", UNIT_COUNT, true},
    {"duration_sum_ps", "sum", UNIT_PS, true},
    {"start_ps", "from", UNIT_PS, true},
    {"end_ps", "to", UNIT_PS, true},
};

static void fill_row(struct arena *arena, const struct host_trace *host, track_id id,
                     struct cell *ret)
{
    const struct track *track = &host->trace->tracks[id];
    bool timed = track->slice_count > 0;
    struct str why = STR("the track holds no slice");
    const struct cell row[COUNT(columns)] = {
        cell_text(track_text(arena, host, id)),
        cell_text(host->name),
        cell_text(trace_name(host->trace, track->name)),
        cell_text(str_of(track_kind_word(track->kind))),
        cell_integer((int64_t)track->row_count),
        cell_integer((int64_t)track->slice_count),
        cell_integer(track->duration_sum_ps),
        timed ? cell_integer(run_time(host, track->start_ps)) : cell_null(why),
        timed ? cell_integer(run_time(host, track->end_ps)) : cell_null(why),
    };

    memcpy(ret, row, sizeof row);
}

/* The same tracks as text: no tree, and what a reader needs of each. */
static void put_text(const struct request *req, struct reply *reply, const struct run_traces *run,
                     const struct page *page)
{
    uint64_t ordinal = 0, all = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        all += run->hosts[i].trace->track_count;
    uint64_t most = all < page->limit ? all : page->limit;
    struct cell *cells = arena_array(req->arena, struct cell, (size_t)most * COUNT(columns) + 1);
    struct table table = {
        .columns = columns, .column_count = COUNT(columns), .cells = cells, .row_count_all = all};
    for (uint32_t i = 0; i < run->host_count; i++) {
        for (track_id id = 0; id < run->hosts[i].trace->track_count; id++, ordinal++) {
            if (ordinal >= page->offset && table.row_count < most)
                fill_row(req->arena, &run->hosts[i], id,
                         &cells[(size_t)table.row_count++ * COUNT(columns)]);
        }
    }
    if (page->offset + table.row_count < all && table.row_count > 0)
        table.next = page->offset + table.row_count;
    (void)reply_table_text(req, reply, &table);
}

static enum status get_tracks(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct page page;
    uint64_t ordinal = 0, written = 0;

    TRY(request_traces(req, &run, err));
    TRY(request_page(req, &page, err));
    page.limit = (uint64_t)request_integer(req, "limit", PAGE_LIMIT_MAX);
    if (request_is(req, "format", "csv") || request_is(req, "format", "md")) {
        put_text(req, reply, run, &page);
        return OK;
    }
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_key(&json, "tracks");
    json_open(&json, '[');
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];
        const struct property **orders = orders_of(host->trace, req->arena);

        for (track_id id = 0; id < host->trace->track_count; id++, ordinal++) {
            if (ordinal < page.offset || written == page.limit)
                continue;
            put_track(&json, req->arena, host, id, orders[id]);
            written++;
        }
    }
    json_close(&json, ']');
    json_put_unsigned(&json, "row_count", ordinal);
    json_put_next(&json,
                  page.offset + written < ordinal && written > 0 ? page.offset + written : 0);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

static struct cell text_or_null(struct str text)
{
    return (struct cell){.kind = text.count > 0 ? CELL_TEXT : CELL_NULL, .of.text = text};
}

static struct cell integer_if(bool known, int64_t value)
{
    return (struct cell){.kind = known ? CELL_INTEGER : CELL_NULL, .of.integer = known ? value : 0};
}

static const struct column view_columns[] = {
    {"id", "", UNIT_TEXT, true},
    {"parent", "", UNIT_TEXT, true},
    {"host", "", UNIT_TEXT, true},
    {"name", "", UNIT_TEXT, true},
    {"kind", "", UNIT_TEXT, true},
    {"role", "", UNIT_TEXT, true},
    {"device", "", UNIT_NONE, true},
    {"derived", "", UNIT_NONE, true},
    {"depth_count", "", UNIT_COUNT, true},
    {"slice_count", "", UNIT_COUNT, true},
    {"duration_sum_ps", "", UNIT_PS, true},
    {"start_ps", "", UNIT_PS, true},
    {"end_ps", "", UNIT_PS, true},
};

static void fill_view_row(struct cell *ret, const struct host_trace *host, track_id id,
                          struct arena *arena)
{
    const struct track *track = &host->trace->tracks[id];
    bool timed = track->slice_count > 0;
    const struct cell cells[COUNT(view_columns)] = {
        text_or_null(track_text(arena, host, id)),
        text_or_null(track->parent == NO_TRACK ? STR("") : track_text(arena, host, track->parent)),
        text_or_null(host->name),
        {.kind = CELL_TEXT, .of.text = trace_name(host->trace, track->name)},
        text_or_null(str_of(track_kind_word(track->kind))),
        text_or_null(str_of(track_role_word(track->role))),
        integer_if(track->device >= 0, track->device),
        {.kind = CELL_BOOL, .of.boolean = track->derived},
        integer_if(true, track->row_count),
        integer_if(true, (int64_t)track->slice_count),
        integer_if(true, track->duration_sum_ps),
        integer_if(timed, run_time(host, track->start_ps)),
        integer_if(timed, run_time(host, track->end_ps)),
    };

    memcpy(ret, cells, sizeof cells);
}

static enum status make_view_of_run(const struct run_traces *run, const struct page *page,
                                    struct arena *arena, struct table *ret, struct error *err)
{
    uint32_t count = 0;

    (void)page;
    (void)err;
    for (uint32_t i = 0; i < run->host_count; i++)
        count += run->hosts[i].trace->track_count;
    struct cell *cells = arena_array(arena, struct cell, (size_t)count * COUNT(view_columns));
    *ret = (struct table){.columns = view_columns,
                          .column_count = COUNT(view_columns),
                          .cells = cells,
                          .row_count = count,
                          .row_count_all = count};
    for (uint32_t i = 0; i < run->host_count; i++) {
        for (track_id id = 0; id < run->hosts[i].trace->track_count; id++) {
            fill_view_row(cells, &run->hosts[i], id, arena);
            cells += COUNT(view_columns);
        }
    }
    return OK;
}

static const struct view views[] = {{.name = "tracks",
                                     .columns = "id parent host name kind role #device #derived "
                                                "#depth_count #slice_count #duration_sum_ps "
                                                "#start_ps #end_ps",
                                     .make = make_view_of_run,
                                     .rank = 2},
                                    {.name = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "", .limit = 4000, .what = "tracks", .rank = 6}, {.params = NULL}};

const struct route route_tracks = {.method = "GET",
                                   .path = "/api/tracks",
                                   .handle = get_tracks,
                                   .params = params,
                                   .slices = true,
                                   .views = views,
                                   .in_bundle = in_bundle};
