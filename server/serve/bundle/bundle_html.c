/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the endpoints that a page needs, and writes their answers into bundle.html within a limit
 * of size. */
#include "serve/bundle/bundle_html.h"

#include <jansson.h>

#include "base/human.h"
#include "serve/answer/file_name.h"
#include "serve/answer/reply.h"
#include "serve/answer/route_table.h"
#include "serve/assets.h"
#include "serve/dispatch/dispatch.h"
#include "serve/server.h"
#include "trace/levels/tile.h"

enum {
    ANSWERS_BYTES_MAX = 2200 << 10,
    ANSWER_BYTES_MAX = 500 << 10,
    TILES_BYTES_MAX = 1500 << 10, /* before base64 */
    ROWS_PER_REQUEST = 90,
    ROWS_TEXT_MAX = 8000,
    FINER_LEVELS = 4,
};

struct writing {
    struct request *req;
    const struct run_record *run;
    struct text *out;
    struct json json;
    size_t answers_begin;
    struct text reduced; /* sentences as JSON texts, by comma */
};

static void say(struct writing *writing, struct str sentence)
{
    struct json json = json_into(&writing->reduced);

    json.after_value = writing->reduced.count > 0;
    json_add_text(&json, sentence);
}

/* Inside a script element: nothing that ends it, and no line that some readers take for an end. */
static void put_inside(struct text *out, struct str json)
{
    for (size_t i = 0; i < json.count; i++) {
        const char *at = json.at + i;

        if (*at == '<')
            text_puts(out, "\\u003c");
        else if (json.count - i >= 3 && memcmp(at, "\xe2\x80", 2) == 0 &&
                 (at[2] == '\xa8' || at[2] == '\xa9')) {
            text_puts(out, at[2] == '\xa8' ? "\\u2028" : "\\u2029");
            i += 2;
        } else {
            text_put(out, at, 1);
        }
    }
}

/* Another endpoint's reply, as the page's own server would give it. The caller frees it. */
static void ask(struct writing *writing, const char *path, struct str params, struct reply *ret)
{
    struct request *req = arena_new(writing->req->arena, struct request);

    *req = (struct request){
        .method = STR("GET"),
        .path = str_format(writing->req->arena, "/%s", path),
        .query = str_format(writing->req->arena, "run=%.*s%s%.*s", STR_ARG(writing->run->id),
                            params.count > 0 ? "&" : "", STR_ARG(params)),
        .arena = writing->req->arena,
        .services = writing->req->services,
        .whole = true,
    };
    serve_request(req, ret);
}

static bool fits(const struct writing *writing, size_t count)
{
    size_t used = writing->out->count - writing->answers_begin;

    return count <= ANSWER_BYTES_MAX && used + count <= ANSWERS_BYTES_MAX;
}

static void put_answer(struct writing *writing, const char *path, const char *params,
                       const struct reply *reply)
{
    struct arena *arena = writing->req->arena;
    struct bytes body = reply_bytes(reply);

    json_key_text(&writing->json,
                  str_format(arena, "%s%s%s", path, params[0] != '\0' ? "?" : "", params));
    json_open(&writing->json, '{');
    json_put_integer(&writing->json, "status", reply->status);
    json_key(&writing->json, "body");
    put_inside(writing->out, (struct str){(const char *)body.at, body.count});
    writing->json.after_value = true;
    json_close(&writing->json, '}');
}

/* A table has another page; a tree has nodes beyond those that stand in it. */
static bool has_more(const struct reply *reply)
{
    struct bytes body = reply_bytes(reply);
    json_t *object = json_loadb((const char *)body.at, body.count, 0, NULL);
    json_int_t nodes = json_integer_value(json_object_get(object, "node_count"));
    bool more = json_is_string(json_object_get(object, "next")) ||
                nodes < json_integer_value(json_object_get(object, "node_count_all"));

    json_decref(object);
    return more;
}

static bool is_stopping(const struct writing *writing)
{
    const struct server *server = writing->req->server;

    return server != NULL && atomic_load(&server->stopping);
}

/* Fewer rows until they fit; none where even few do not, which is said. */
static void put_question(struct writing *writing, const struct offer *offer)
{
    const struct in_bundle *question = offer->what;
    const char *path = offer->route->path + 1; /* as the page keys it */

    for (int limit = question->limit; !is_stopping(writing); limit /= 4) {
        struct str params = str_of(question->params);
        struct reply reply = {0};

        if (limit > 0)
            params = str_format(writing->req->arena, "%s%slimit=%d", question->params,
                                params.count > 0 ? "&" : "", limit);
        ask(writing, path, params, &reply);
        bool put = reply.stream == NULL && fits(writing, reply_bytes(&reply).count);
        bool more = put && has_more(&reply);
        if (put)
            put_answer(writing, path, question->params, &reply);
        reply_free(&reply);
        if (more)
            say(writing, str_format(writing->req->arena, "Of the %s, the first %d are here.",
                                    question->what, limit));
        if (!put && limit < 8)
            say(writing, str_format(writing->req->arena, "The %s are not here: they are too large.",
                                    question->what));
        if (put || limit < 8)
            return;
    }
}

static void put_base64(struct text *out, struct bytes bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < bytes.count; i += 3) {
        size_t left = bytes.count - i;
        uint32_t three = (uint32_t)bytes.at[i] << 16 |
                         (left > 1 ? (uint32_t)bytes.at[i + 1] << 8 : 0) |
                         (left > 2 ? bytes.at[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        left > 1 ? digits[three >> 6 & 63] : '=',
                        left > 2 ? digits[three & 63] : '='};

        text_put(out, four, sizeof four);
    }
}

struct tiles { /* of one level */
    struct writing *writing;
    const struct host_trace *host;
    int level;
    int64_t from, to;
    struct text rows; /* of the next request */
    uint32_t row_count;
    struct text *out; /* JSON objects, by comma */
    uint64_t bytes, bytes_max;
    bool is_full;
};

static void flush_tiles(struct tiles *tiles)
{
    struct reply reply;

    if (tiles->row_count == 0 || tiles->is_full)
        return;
    struct str params =
        str_format(tiles->writing->req->arena, "level=%d&from=%lld&to=%lld&rows=%.*s", tiles->level,
                   (long long)tiles->from, (long long)tiles->to, STR_ARG(text_str(&tiles->rows)));
    ask(tiles->writing, "api/tiles", params, &reply);
    struct bytes body = reply_bytes(&reply);
    tiles->is_full = reply.status != 200 || tiles->bytes + body.count > tiles->bytes_max;
    if (!tiles->is_full) {
        tiles->bytes += body.count;
        text_putf(tiles->out,
                  "%s{\"level\":%d,\"from\":%lld,\"to\":%lld,\"rows\":\"%.*s\",\"bytes\":\"",
                  tiles->out->count > 0 ? "," : "", tiles->level, (long long)tiles->from,
                  (long long)tiles->to, STR_ARG(text_str(&tiles->rows)));
        put_base64(tiles->out, body);
        text_puts(tiles->out, "\"}");
    }
    reply_free(&reply);
    tiles->rows.count = 0;
    tiles->row_count = 0;
}

static void add_rows(struct tiles *tiles, track_id track, uint32_t first, uint32_t count)
{
    struct str key = tiles->host->key;

    if (tiles->row_count + count > ROWS_PER_REQUEST || tiles->rows.count > ROWS_TEXT_MAX)
        flush_tiles(tiles);
    if (count == 0)
        text_putf(&tiles->rows, "%s%.*s.%u:s", tiles->row_count > 0 ? "," : "", STR_ARG(key),
                  track);
    else
        text_putf(&tiles->rows, "%s%.*s.%u:%u-%u", tiles->row_count > 0 ? "," : "", STR_ARG(key),
                  track, first, first + count - 1);
    tiles->row_count += count == 0 ? 1 : count;
}

static void put_track(struct tiles *tiles, track_id id)
{
    const struct track *track = &tiles->host->trace->tracks[id];

    add_rows(tiles, id, 0, 0);
    for (uint32_t first = 0; first < track->row_count; first += ROWS_PER_REQUEST / 2) {
        uint32_t left = track->row_count - first;

        add_rows(tiles, id, first, left < ROWS_PER_REQUEST / 2 ? left : ROWS_PER_REQUEST / 2);
    }
}

static int64_t tile_of(int64_t at_ps, int level)
{
    int64_t quanta = at_ps >> level;

    return quanta / TILE_QUANTA - (quanta % TILE_QUANTA < 0);
}

static void put_host(struct tiles *tiles)
{
    const struct trace *trace = tiles->host->trace;

    tiles->from = tile_of(trace->start_ps, tiles->level);
    tiles->to = tile_of(trace->end_ps, tiles->level) + 1;
    for (track_id id = 0; id < trace->track_count && !tiles->is_full; id++)
        put_track(tiles, id);
    flush_tiles(tiles);
}

/* One level of every host; false: it did not fit. */
static bool put_level(struct writing *writing, const struct run_traces *traces, int level,
                      uint64_t *left, struct text *out)
{
    struct tiles tiles = {.writing = writing, .level = level, .out = out, .bytes_max = *left};

    for (uint32_t i = 0; i < traces->host_count && !tiles.is_full; i++) {
        tiles.host = &traces->hosts[i];
        put_host(&tiles);
    }
    text_free(&tiles.rows);
    *left -= tiles.bytes;
    return !tiles.is_full;
}

/* The level at which the whole run is one tile. */
static int coarsest(const struct run_record *run)
{
    int level = 0;

    while (level < TILE_LEVEL_MAX && run->duration_ps >> level > TILE_QUANTA)
        level++;
    return level;
}

static void put_tiles(struct writing *writing, const struct run_traces *traces)
{
    const int top = coarsest(writing->run);
    uint64_t left = TILES_BYTES_MAX;
    struct text all = {0};
    int level = top;

    if (!put_level(writing, traces, level, &left, &all))
        say(writing, STR("The timeline shows the first tracks only."));
    for (; level > 0 && top - level < FINER_LEVELS; level--) {
        struct text finer = {0};
        bool whole = put_level(writing, traces, level - 1, &left, &finer);

        if (whole && finer.count > 0)
            text_putf(&all, "%s%.*s", all.count > 0 ? "," : "", STR_ARG(text_str(&finer)));
        text_free(&finer);
        if (!whole)
            break;
    }
    if (traces->host_count > 0)
        say(writing, str_format(writing->req->arena,
                                "The timeline is reduced: slices shorter than %s are merged.",
                                human_ps(INT64_C(1) << level).text));
    json_key(&writing->json, "tiles");
    json_open(&writing->json, '[');
    text_put(writing->out, all.at == NULL ? "" : all.at, all.count);
    json_close(&writing->json, ']');
    text_free(&all);
}

static void put_contents(struct writing *writing, const struct run_traces *traces)
{
    struct arena *arena = writing->req->arena;
    struct json *json = &writing->json;
    struct offers questions;

    route_in_bundle(writing->req->services->routes, &questions);
    json_open(json, '{');
    json_put_text(json, "run", writing->run->id);
    json_put_text(json, "program", STR("jviewd " JVIEWD_VERSION));
    json_key(json, "answers");
    json_open(json, '{');
    writing->answers_begin = writing->out->count;
    for (uint32_t i = 0; i < questions.count; i++)
        put_question(writing, &questions.items[i]);
    json_close(json, '}');
    put_tiles(writing, traces);
    json_key(json, "reduced");
    struct str sentences = text_str(&writing->reduced);
    put_inside(writing->out, str_format(arena, "[%.*s]", STR_ARG(sentences)));
    json->after_value = true;
    json_close(json, '}');
    text_free(&writing->reduced);
}

static const struct asset *find_page(void)
{
    for (uint32_t i = 0; i < asset_count; i++)
        if (strcmp(assets[i].path, "/bundle.html") == 0)
            return &assets[i];
    return NULL;
}

enum status bundle_html(struct request *req, const struct run_record *run,
                        const struct run_traces *traces, struct reply *reply, struct error *err)
{
    static const char mark[] = "<!--answers-->";
    const struct asset *asset = find_page();
    struct text text = {0};
    struct writing writing = {.req = req, .run = run, .out = &reply->body};

    enum status status = asset == NULL ? OK : asset_put(asset, &text, err);
    struct str page = str_copy(req->arena, text_str(&text));
    text_free(&text);
    TRY(status);
    const char *at = page.count == 0 ? NULL : memmem(page.at, page.count, mark, sizeof mark - 1);
    if (at == NULL)
        return fail(err, ERR_UNSUPPORTED, "this program was built without the standalone page");
    size_t before = (size_t)(at - page.at), after = before + sizeof mark - 1;
    reply->status = 200;
    reply->type = "text/html; charset=utf-8";
    reply_header(reply, STR("Content-Disposition"), attachment(req->arena, run->name, ".html"));
    text_put(writing.out, page.at, before);
    text_puts(writing.out, "<script type=\"application/json\" id=\"answers\">");
    writing.json = json_into(writing.out);
    put_contents(&writing, traces);
    text_puts(writing.out, "</script>");
    text_put(writing.out, page.at + after, page.count - after);
    if (is_stopping(&writing))
        return fail(err, ERR_CANCELLED, "the server is stopping");
    return OK;
}
