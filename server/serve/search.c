/* GET /api/search?run=&q=: slices whose name holds a text (ASCII case aside), or whose args hold
 * `key=value`; how many there are in all, on each track, and over time.
 */
#include <stdlib.h>

#include "serve/pick.h"
#include "serve/routes.h"
#include "serve/search_args.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "q", .kind = PARAM_TEXT, .required = true, .min = 1, .max = 1024},
    {.name = NULL},
};

static uint8_t lower(char c)
{
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* `part` is in small letters already. */
static bool holds(struct str text, struct str part)
{
    for (size_t at = 0; at + part.count <= text.count; at++) {
        size_t same = 0;

        while (same < part.count && lower(text.at[at + same]) == (uint8_t)part.at[same])
            same++;
        if (same == part.count)
            return true;
    }
    return false;
}

static struct str in_small_letters(struct arena *arena, struct str text)
{
    char *copy = str_c(arena, text);

    for (size_t i = 0; i < text.count; i++)
        copy[i] = (char)lower(copy[i]);
    return (struct str){.at = copy, .count = text.count};
}

static void search_names(struct pick *pick, uint32_t host, struct str part)
{
    const struct trace *trace = pick->run->hosts[host].trace;
    bool *names = arena_array(pick->arena, bool, (size_t)trace->name_count + 1);
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++)
        names[stats[i].name] = holds(trace_name(trace, stats[i].name), part);
    pick_names(pick, host, names);
}

static void put_tracks(struct json *json, struct arena *arena, const struct pick *pick)
{
    size_t ordinal = 0;

    json_key(json, "tracks");
    json_open(json, '[');
    for (uint32_t i = 0; i < pick->run->host_count; i++) {
        const struct host_trace *host = &pick->run->hosts[i];

        for (track_id track = 0; track < host->trace->track_count; track++, ordinal++) {
            if (pick->track_counts[ordinal] == 0)
                continue;
            json_open(json, '{');
            json_put_text(json, "track", track_text(arena, host, track));
            json_put_unsigned(json, "count", pick->track_counts[ordinal]);
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

static void put_density(struct json *json, const struct pick *pick)
{
    json_key(json, "density");
    json_open(json, '{');
    json_put_integer(json, "start_ps", pick->filter.start_ps);
    json_put_unsigned(json, "bucket_ps", pick_density_width_ps(&pick->filter));
    json_key(json, "counts");
    json_open(json, '[');
    for (uint32_t i = 0; i < PICK_DENSITY_BUCKETS; i++)
        json_add_unsigned(json, pick->density[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void search_run(struct pick *pick, struct request *req)
{
    struct str q = request_text(req, "q"), part = in_small_letters(req->arena, q), key, value;
    size_t track_count = 0;

    for (uint32_t i = 0; i < pick->run->host_count; i++)
        track_count += pick->run->hosts[i].trace->track_count;
    pick->track_counts = arena_array(req->arena, uint64_t, track_count);
    pick->density = arena_array(req->arena, uint64_t, PICK_DENSITY_BUCKETS);
    for (uint32_t i = 0; i < pick->run->host_count; i++) {
        if (search_split(q, &key, &value))
            search_args(pick, i, key, value, req->arena);
        else
            search_names(pick, i, part);
    }
}

static enum status get_search(struct request *req, struct reply *reply, struct error *err)
{
    struct page page;
    struct pick pick;
    struct slice_place *places;

    TRY(request_page(req, &page, err));
    TRY(request_pick(req, &page, &pick, err));
    search_run(&pick, req);
    uint32_t count = pick_end(&pick, (uint32_t)page.offset, req->arena, &places);
    uint64_t next = page.offset + count < pick.total && count > 0 ? page.offset + count : 0;
    bool flat = request_is(req, "format", "csv") || request_is(req, "format", "md");
    struct table table = slice_table(req->arena, pick.run, places, flat ? count : 0);

    table.row_count_all = pick.total;
    table.next = next;
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, pick.run);
    json_put_text(&json, "q", request_text(req, "q"));
    json_put_unsigned(&json, "row_count", pick.total);
    json_put_next(&json, next);
    json_put_places(&json, req->arena, pick.run, places, count);
    put_tracks(&json, req->arena, &pick);
    put_density(&json, &pick);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

const struct route route_search = {
    .method = "GET", .path = "/api/search", .handle = get_search, .params = params, .heavy = true};
