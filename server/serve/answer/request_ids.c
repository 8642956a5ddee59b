/* SPDX-License-Identifier: Apache-2.0 */
/* What a request says about a run's inside: tracks, slices, hosts, windows, pages. */
#include "serve/answer/request.h"

#include <limits.h>

#include "analyse/steps/steps.h"

struct str track_text(struct arena *arena, const struct host_trace *host, track_id track)
{
    return str_format(arena, "%.*s.%u", STR_ARG(host->key), track);
}

struct str slice_text(struct arena *arena, const struct host_trace *host, slice_id slice)
{
    return str_format(arena, "%.*s-%u", STR_ARG(host->key), slice);
}

/* "1a2b3c4d.17": the host with that key and the number; the number is bounded by its caller. */
static bool split_id(const struct run_traces *run, struct str id, char between, uint32_t *ret_host,
                     uint64_t *ret_number)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        struct str key = run->hosts[i].key;

        if (str_starts(id, key) && id.count > key.count && id.at[key.count] == between &&
            str_to_u64(str_skip(id, key.count + 1), ret_number)) {
            *ret_host = i;
            return true;
        }
    }
    return false;
}

static int shown(struct str text)
{
    return text.count > 64 ? 64 : (int)text.count;
}

enum status request_track(struct request *req, struct str id, struct track_ref *ret,
                          struct error *err)
{
    const struct run_traces *run;
    uint64_t number;

    TRY(request_traces(req, &run, err));
    if (!split_id(run, id, '.', &ret->host, &number) ||
        number >= run->hosts[ret->host].trace->track_count)
        return fail(err, ERR_NOT_FOUND,
                    "run \"%.*s\" has no track \"%.*s\"; /api/tracks lists them",
                    STR_ARG(run->name), shown(id), id.at);
    ret->track = (track_id)number;
    return OK;
}

enum status request_slice(struct request *req, struct str id, uint32_t *ret_host, slice_id *ret,
                          struct error *err)
{
    const struct run_traces *run;
    uint64_t number;

    TRY(request_traces(req, &run, err));
    if (!split_id(run, id, '-', ret_host, &number) ||
        number >= run->hosts[*ret_host].trace->slice_count)
        return fail(err, ERR_NOT_FOUND,
                    "run \"%.*s\" has no slice \"%.*s\"; /api/slices lists them",
                    STR_ARG(run->name), shown(id), id.at);
    *ret = (slice_id)number;
    return OK;
}

static enum status known_host(const struct run_traces *run, struct str name, struct error *err)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        if (str_equal(run->hosts[i].name, name))
            return OK;
    }
    if (run->host_count == 0)
        return fail(err, ERR_NOT_FOUND, "run \"%.*s\" has no host \"%.*s\", and no timeline",
                    STR_ARG(run->name), shown(name), name.at);
    return fail(err, ERR_NOT_FOUND,
                "run \"%.*s\" has no host \"%.*s\"; the first of its %u is "
                "\"%.*s\"",
                STR_ARG(run->name), shown(name), name.at, run->host_count,
                STR_ARG(run->hosts[0].name));
}

static uint32_t list_count(struct str list)
{
    struct str part;
    uint32_t count = 0;

    while (list_next(&list, &part))
        count++;
    return count;
}

static enum status read_hosts(struct request *req, struct restriction *ret, struct error *err)
{
    const struct run_traces *run;
    struct str list = request_text(req, "host"), part;
    struct str *hosts = arena_array(req->arena, struct str, list_count(list));

    TRY(request_traces(req, &run, err));
    while (list_next(&list, &part)) {
        TRY(known_host(run, part, err));
        hosts[ret->host_count++] = part;
    }
    ret->hosts = hosts;
    return OK;
}

enum status request_tracks(struct request *req, const char *param, struct restriction *ret,
                           struct error *err)
{
    struct str list = request_text(req, param), part;
    struct track_ref *tracks = arena_array(req->arena, struct track_ref, list_count(list));

    while (list_next(&list, &part)) {
        struct track_ref track;
        bool again = false;

        TRY(request_track(req, part, &track, err));
        for (uint32_t i = 0; i < ret->track_count; i++)
            again = again || (tracks[i].host == track.host && tracks[i].track == track.track);
        if (!again)
            tracks[ret->track_count++] = track;
    }
    ret->tracks = tracks;
    return OK;
}

static void read_numbers(struct request *req, struct restriction *ret)
{
    struct str devices = request_text(req, "device"), steps = request_text(req, "step"), part;
    int64_t *ordinals = arena_array(req->arena, int64_t, list_count(devices));
    int64_t *ranges = arena_array(req->arena, int64_t, 2 * (size_t)list_count(steps));

    while (list_next(&devices, &part)) {
        if (str_to_i64(part, &ordinals[ret->device_count]))
            ret->device_count++;
    }
    while (list_next(&steps, &part)) {
        if (range_parse(part, &ranges[2 * ret->step_range_count]))
            ret->step_range_count++;
    }
    ret->devices = ordinals;
    ret->steps = ranges;
}

/* From the first to the last of the steps that count; where none do, the whole run. */
static enum status read_counted(struct request *req, struct restriction *ret, struct error *err)
{
    int64_t *range = arena_array(req->arena, int64_t, 2);
    const struct run_traces *run;
    struct steps steps;

    if (!request_is(req, "step", "counted"))
        return OK;
    TRY(request_traces(req, &run, err));
    TRY(steps_find(run, ret, req->arena, &steps, err));
    range[0] = INT64_MAX, range[1] = INT64_MIN;
    for (uint32_t i = 0; i < steps.count && steps.doubt.count == 0; i++) {
        int64_t number = steps.items[i].number;

        if (!step_counts(&steps, &steps.items[i]))
            continue;
        range[0] = number < range[0] ? number : range[0];
        range[1] = number > range[1] ? number : range[1];
    }
    ret->steps = range;
    ret->step_range_count = range[0] >= 0 && range[0] <= range[1];
    return OK;
}

/* The step that begins last; of its number there may be one a host. */
static enum status read_last(struct request *req, struct restriction *ret, struct error *err)
{
    int64_t *range = arena_array(req->arena, int64_t, 2);
    const struct run_traces *run;
    struct steps steps;

    if (!request_is(req, "step", "last"))
        return OK;
    TRY(request_traces(req, &run, err));
    TRY(steps_find(run, ret, req->arena, &steps, err));
    if (steps.count == 0)
        return fail(err, ERR_NOT_FOUND, "the run has no last step, for it has no steps");
    range[0] = range[1] = steps.items[steps.count - 1].number;
    ret->steps = range;
    ret->step_range_count = 1;
    return OK;
}

enum status request_window(struct request *req, int64_t *ret_start_ps, int64_t *ret_end_ps,
                           struct error *err)
{
    const struct run_traces *run;
    int64_t start_ps = INT64_MAX, end_ps = INT64_MIN;

    TRY(request_traces(req, &run, err));
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];
        int64_t from, to;

        if (__builtin_add_overflow(host->trace->start_ps, host->offset_ps, &from) ||
            __builtin_add_overflow(host->trace->end_ps, host->offset_ps, &to))
            continue;
        start_ps = from < start_ps ? from : start_ps;
        end_ps = to > end_ps ? to : end_ps;
    }
    if (start_ps > end_ps)
        start_ps = end_ps = 0;
    /* Instants at the very end count too: a window is half open. */
    *ret_start_ps = request_integer(req, "start_ps", start_ps);
    *ret_end_ps = request_integer(req, "end_ps", end_ps < INT64_MAX ? end_ps + 1 : end_ps);
    if (*ret_start_ps >= *ret_end_ps)
        return fail(err, ERR_INVALID,
                    "the window is empty: start_ps %lld is not before end_ps %lld",
                    (long long)*ret_start_ps, (long long)*ret_end_ps);
    return OK;
}

bool host_is_asked(const struct restriction *asked, struct str host)
{
    for (uint32_t i = 0; i < asked->host_count; i++) {
        if (str_equal(asked->hosts[i], host))
            return true;
    }
    return asked->host_count == 0;
}

enum status request_restriction(struct request *req, struct restriction *ret, struct error *err)
{
    *ret = (struct restriction){
        .has_window = request_has(req, "start_ps") || request_has(req, "end_ps"),
        .module = request_text(req, "module"),
        .scope = request_text(req, "scope"),
        .name = request_text(req, "name"),
        .q = request_text(req, "q"),
        .family = request_text(req, "family"),
        .step_regex = request_text(req, "step_regex"),
    };
    if (ret->has_window)
        TRY(request_window(req, &ret->start_ps, &ret->end_ps, err));
    TRY(read_hosts(req, ret, err));
    TRY(request_tracks(req, "track", ret, err));
    read_numbers(req, ret);
    TRY(read_counted(req, ret, err));
    return read_last(req, ret, err);
}

enum status request_page(struct request *req, struct page *ret, struct error *err)
{
    struct str cursor = request_text(req, "cursor");

    *ret = (struct page){.limit = (uint64_t)request_integer(req, "limit", PAGE_LIMIT_DEFAULT),
                         .sort = request_text(req, "sort")};
    if (cursor.count > 0 &&
        (cursor.at[0] != 'n' || !str_to_u64(str_skip(cursor, 1), &ret->offset) ||
         ret->offset > INT64_MAX))
        return fail(err, ERR_INVALID,
                    "cursor is \"%.*s\"; it must be the `next` of the previous reply",
                    shown(cursor), cursor.at);
    if (req->keeping != NULL)
        *ret = (struct page){.limit = PAGE_LIMIT_MAX};
    return OK;
}
