/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/flows?run=: the arrows of one slice, or of tracks in a window. */
#include <stdlib.h>

#include "base/bisect.h"
#include "serve/answer/flow_out.h"
#include "serve/routes.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    {.name = "slice", .kind = PARAM_TEXT, .max = 64},
    {.name = "tracks", .kind = PARAM_TEXTS},
    {.name = NULL},
};

struct range { /* slices of a row in the window */
    slice_id first, end;
};

struct ranges { /* of one host; ascending, for rows are numbered as slices are */
    struct range *items;
    uint32_t count;
};

struct listing { /* a page being filled */
    struct json *json;
    struct arena *arena;
    struct page page;
    uint64_t seen, written;
};

static void list(struct listing *listing, const struct host_trace *host, const struct flow *flow)
{
    if (listing->seen++ < listing->page.offset || listing->written == listing->page.limit)
        return;
    json_put_flow(listing->json, listing->arena, host, flow);
    listing->written++;
}

static bool holds(const struct ranges *ranges, slice_id slice)
{
    uint32_t at = BISECT(0, ranges->count, i, ranges->items[i].end <= slice);

    return at < ranges->count && ranges->items[at].first <= slice;
}

static int by_first(const void *a, const void *b)
{
    const struct range *one = a, *other = b;

    return (one->first > other->first) - (one->first < other->first);
}

/* Begins in the ranges; then ends there without beginning there: each arrow once. */
static void list_ranges(struct listing *listing, const struct host_trace *host,
                        const struct ranges *ranges)
{
    const struct trace *trace = host->trace;

    for (uint32_t k = 0; k < ranges->count; k++) {
        struct range range = ranges->items[k];

        for (uint64_t i = flow_first_from(trace, range.first);
             i < trace->flow_count && trace->flows[i].from < range.end; i++)
            list(listing, host, &trace->flows[i]);
    }
    for (uint32_t k = 0; k < ranges->count; k++) {
        struct range range = ranges->items[k];

        for (uint64_t i = flow_first_to(trace, range.first); i < trace->flow_count; i++) {
            const struct flow *flow = &trace->flows[trace->flow_by_to[i]];

            if (flow->to >= range.end)
                break;
            if (!holds(ranges, flow->from))
                list(listing, host, flow);
        }
    }
}

static void add_track(struct ranges *ranges, const struct host_trace *host, track_id id,
                      int64_t start_ps, int64_t end_ps)
{
    const struct track *track = &host->trace->tracks[id];

    for (uint32_t i = 0; i < track->row_count; i++) {
        const struct row *row = &host->trace->rows[track->first_row + i];
        uint32_t first, end;

        row_window(host->trace, row, file_time(host, start_ps), file_time(host, end_ps), &first,
                   &end);
        if (first < end)
            ranges->items[ranges->count++] =
                (struct range){row->first_slice + first, row->first_slice + end};
    }
}

/* Lists the arrows of the asked tracks of one host; all of them where none is asked for. */
static void list_host(struct listing *listing, const struct host_trace *host, uint32_t index,
                      const struct restriction *asked, const int64_t window[2])
{
    struct ranges ranges = {.items =
                                arena_array(listing->arena, struct range, host->trace->row_count)};

    for (uint32_t i = 0; i < asked->track_count; i++) {
        if (asked->tracks[i].host == index)
            add_track(&ranges, host, asked->tracks[i].track, window[0], window[1]);
    }
    for (track_id id = 0; asked->track_count == 0 && id < host->trace->track_count; id++)
        add_track(&ranges, host, id, window[0], window[1]);
    if (ranges.count > 1)
        qsort(ranges.items, ranges.count, sizeof *ranges.items, by_first);
    list_ranges(listing, host, &ranges);
}

static enum status list_asked(struct request *req, struct listing *listing,
                              const struct run_traces *run, struct error *err)
{
    struct restriction asked = {0};
    int64_t window[2];

    if (request_has(req, "slice")) {
        uint32_t host;
        struct range one;

        TRY(request_slice(req, request_text(req, "slice"), &host, &one.first, err));
        one.end = one.first + 1;
        list_ranges(listing, &run->hosts[host], &(struct ranges){.items = &one, .count = 1});
        return OK;
    }
    TRY(request_window(req, &window[0], &window[1], err));
    TRY(request_tracks(req, "tracks", &asked, err));
    for (uint32_t i = 0; i < run->host_count; i++)
        list_host(listing, &run->hosts[i], i, &asked, window);
    return OK;
}

static enum status get_flows(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct json json = reply_json(reply);
    struct listing listing = {.json = &json, .arena = req->arena};

    TRY(request_traces(req, &run, err));
    TRY(request_page(req, &listing.page, err));
    json_open(&json, '{');
    json_put_run(&json, run);
    json_key(&json, "rows");
    json_open(&json, '[');
    TRY(list_asked(req, &listing, run, err));
    json_close(&json, ']');
    json_put_unsigned(&json, "row_count", listing.seen);
    uint64_t after = listing.page.offset + listing.written;
    json_put_next(&json, after < listing.seen && listing.written > 0 ? after : 0);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

const struct route route_flows = {
    .method = "GET", .path = "/api/flows", .handle = get_flows, .params = params};
