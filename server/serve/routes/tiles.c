/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/tiles?run=&level=&from=&to=&rows=: windows of rows at a level of detail, as columns.
 *
 *   head  names  part part part ...      row by row, its tiles one after another
 *
 * The bytes are specified in api/tile.md.
 */
#include <stdlib.h>

#include "serve/answer/slice_out.h"
#include "serve/routes.h"
#include "trace/levels/tile.h"

enum {
    TILES_MAX = 64,
    ROWS_MAX = 256,
    NARROW_NAMES_MAX = 65535,
};

static const struct param params[] = {
    PARAMS_RUN,
    {.name = "content", .kind = PARAM_TEXT, .max = 64},
    {.name = "level", .kind = PARAM_INTEGER, .required = true, .min = 0, .max = TILE_LEVEL_MAX},
    {.name = "from", .kind = PARAM_INTEGER, .required = true, .min = INT64_MIN, .max = INT64_MAX},
    {.name = "to", .kind = PARAM_INTEGER, .required = true, .min = INT64_MIN, .max = INT64_MAX},
    {.name = "rows", .kind = PARAM_TEXT, .required = true, .max = 8192},
    {.name = NULL},
};

struct wanted_row {
    track_id track;
    row_id row;   /* NO_ROW: the track has no such depth */
    bool summary; /* of the track's subtree */
};

struct wanted {
    const struct host_trace *host;
    uint32_t host_index;
    int level;
    int64_t from, to; /* tile indexes */
    struct wanted_row rows[ROWS_MAX];
    uint32_t row_count;
};

struct local_names { /* ids of the trace -> ids of this reply */
    uint32_t *of;    /* local id + 1; 0: not there yet */
    name_id *list;
    uint32_t count, capacity;
};

static uint32_t local_name(struct local_names *names, name_id name)
{
    if (names->of[name] == 0) {
        if (names->count == names->capacity) {
            names->capacity = names->capacity > 0 ? 2 * names->capacity : 256;
            names->list = memory_resize(names->list, names->capacity, sizeof *names->list);
        }
        names->list[names->count++] = name;
        names->of[name] = names->count;
    }
    return names->of[name] - 1;
}

static void put(struct text *out, const void *at, size_t count)
{
    text_put(out, at, count);
}

static void put_u32(struct text *out, uint32_t value)
{
    put(out, &value, sizeof value);
}

static void pad(struct text *out)
{
    static const char zeros[4];

    put(out, zeros, (4 - out->count % 4) % 4);
}

static void put_cells(struct text *out, const struct trace *trace, const struct tile *tile,
                      struct local_names *names, bool wide)
{
    uint16_t narrow[TILE_QUANTA];
    uint8_t slices[TILE_QUANTA];

    put_u32(out, 0);
    put_u32(out, tile->count);
    for (uint32_t i = 0; i < tile->count; i++)
        narrow[i] = (uint16_t)(tile->offset[i] - (i > 0 ? tile->offset[i - 1] : 0));
    put(out, narrow, tile->count * sizeof *narrow);
    pad(out);
    put(out, tile->width, tile->count * sizeof *tile->width);
    pad(out);
    for (uint32_t i = 0; i < tile->count; i++) {
        name_id name = tile->name[i] < trace->name_count ? tile->name[i] : 0;
        uint32_t local = local_name(names, name);

        if (wide)
            put_u32(out, local);
        else
            narrow[i] = (uint16_t)local;
        slices[i] = tile->slices[i] > 255 ? 255 : (uint8_t)tile->slices[i];
    }
    if (!wide)
        put(out, narrow, tile->count * sizeof *narrow);
    pad(out);
    put(out, tile->busy, tile->count * sizeof *tile->busy);
    pad(out);
    put(out, tile->kind, tile->count);
    pad(out);
    put(out, tile->flags, tile->count);
    pad(out);
    put(out, slices, tile->count);
    pad(out);
}

/* Pages that are not in memory are asked for all at once, before the first is waited for. */
static void will_need(const struct wanted *wanted)
{
    for (uint32_t i = 0; i < wanted->row_count; i++) {
        for (int64_t index = wanted->from; index < wanted->to; index++) {
            if (wanted->rows[i].row != NO_ROW)
                tile_will_need(wanted->host->trace, wanted->rows[i].row, wanted->level, index);
        }
    }
}

static void put_parts(struct text *out, const struct wanted *wanted, struct arena *arena,
                      struct local_names *names, bool wide)
{
    const struct trace *trace = wanted->host->trace;
    struct tile *tile = arena_new(arena, struct tile);
    struct tile_summary *summary = arena_new(arena, struct tile_summary);

    for (uint32_t i = 0; i < wanted->row_count; i++) {
        const struct wanted_row *row = &wanted->rows[i];

        for (int64_t index = wanted->from; index < wanted->to; index++) {
            if (row->summary) {
                tile_summary(trace, row->track, wanted->level, index, summary);
                put_u32(out, 1);
                put_u32(out, TILE_QUANTA);
                put(out, summary->share, sizeof summary->share);
                continue;
            }
            tile->count = 0;
            if (row->row != NO_ROW)
                tile_fold(trace, row->row, wanted->level, index, tile);
            put_cells(out, trace, tile, names, wide);
        }
    }
}

static void put_names(struct text *out, const struct trace *trace, const struct local_names *names,
                      struct arena *arena)
{
    uint32_t offset = 0;
    struct str *texts = arena_array(arena, struct str, names->count);

    for (uint32_t i = 0; i < names->count; i++) {
        texts[i] = str_utf8(arena, trace_name(trace, names->list[i]));
        put_u32(out, offset);
        offset += (uint32_t)texts[i].count;
    }
    put_u32(out, offset);
    for (uint32_t i = 0; i < names->count; i++)
        put(out, texts[i].at, texts[i].count);
    pad(out);
}

static void put_head(struct text *out, const struct wanted *wanted, uint32_t name_count)
{
    put(out, "JVT1", 4);
    put_u32(out, (uint32_t)wanted->level);
    put(out, &wanted->from, sizeof wanted->from);
    put_u32(out, (uint32_t)(wanted->to - wanted->from));
    put_u32(out, wanted->row_count);
    put_u32(out, name_count);
    put_u32(out, 0);
    put(out, &wanted->host->offset_ps, sizeof wanted->host->offset_ps);
}

/* Ids of names take two bytes; where a reply has more names than that, it is made again. */
static void encode(struct reply *reply, const struct wanted *wanted, struct arena *arena)
{
    const struct trace *trace = wanted->host->trace;
    struct local_names names = {.of = arena_array(arena, uint32_t, trace->name_count + 1)};
    struct text parts = {0};

    will_need(wanted);
    put_parts(&parts, wanted, arena, &names, false);
    if (names.count > NARROW_NAMES_MAX) {
        text_free(&parts);
        put_parts(&parts, wanted, arena, &names, true);
    }
    put_head(&reply->body, wanted, names.count);
    put_names(&reply->body, trace, &names, arena);
    put(&reply->body, parts.at, parts.count);
    text_free(&parts);
    free(names.list);
}

static enum status bad_row(struct str part, struct error *err)
{
    return fail(err, ERR_INVALID,
                "rows holds \"%.*s\"; it takes TRACK:DEPTH, TRACK:FIRST-LAST or TRACK:s",
                part.count > 64 ? 64 : (int)part.count, part.at);
}

static enum status add_row(struct wanted *wanted, struct wanted_row row, struct error *err)
{
    if (wanted->row_count == ROWS_MAX)
        return fail(err, ERR_INVALID, "rows asks for more than %d rows", ROWS_MAX);
    wanted->rows[wanted->row_count++] = row;
    return OK;
}

static enum status add_depths(struct wanted *wanted, track_id id, struct str depths,
                              struct str part, struct error *err)
{
    const struct track *track = &wanted->host->trace->tracks[id];
    int64_t range[2];

    if (str_equal(depths, STR("s")))
        return add_row(wanted, (struct wanted_row){.track = id, .row = NO_ROW, .summary = true},
                       err);
    if (!range_parse(depths, range))
        return bad_row(part, err);
    if (range[1] - range[0] >= ROWS_MAX)
        return fail(err, ERR_INVALID, "rows asks for more than %d rows", ROWS_MAX);
    for (int64_t depth = range[0]; depth <= range[1]; depth++) {
        bool there = depth < (int64_t)track->row_count;
        row_id row = there ? track->first_row + (row_id)depth : NO_ROW;

        TRY(add_row(wanted, (struct wanted_row){.track = id, .row = row}, err));
    }
    return OK;
}

static enum status read_rows(struct request *req, struct wanted *wanted, struct error *err)
{
    const struct run_traces *run;
    struct str list = request_text(req, "rows"), part;

    TRY(request_traces(req, &run, err));
    while (list_next(&list, &part)) {
        const char *colon = memchr(part.at, ':', part.count);
        struct track_ref track;

        if (colon == NULL)
            return bad_row(part, err);
        size_t length = (size_t)(colon - part.at);
        TRY(request_track(req, (struct str){.at = part.at, .count = length}, &track, err));
        if (wanted->host != NULL && wanted->host_index != track.host)
            return fail(err, ERR_INVALID,
                        "rows names tracks of two hosts; ask for each host separately");
        wanted->host_index = track.host;
        wanted->host = &run->hosts[track.host];
        TRY(add_depths(wanted, track.track, str_skip(part, length + 1), part, err));
    }
    if (wanted->row_count == 0)
        return fail(err, ERR_INVALID, "rows is empty; it takes TRACK:DEPTH, comma-separated");
    return OK;
}

static enum status read_span(struct request *req, struct wanted *wanted, struct error *err)
{
    int64_t from_ps, to_ps, tile_ps;

    wanted->level = (int)request_integer(req, "level", 0);
    wanted->from = request_integer(req, "from", 0);
    wanted->to = request_integer(req, "to", 0);
    tile_ps = (int64_t)TILE_QUANTA << wanted->level;
    if (wanted->from >= wanted->to || (uint64_t)wanted->to - (uint64_t)wanted->from > TILES_MAX)
        return fail(err, ERR_INVALID, "from %lld to %lld: a reply can have 1 to %d tiles",
                    (long long)wanted->from, (long long)wanted->to, TILES_MAX);
    if (__builtin_mul_overflow(wanted->from, tile_ps, &from_ps) ||
        __builtin_mul_overflow(wanted->to, tile_ps, &to_ps))
        return fail(err, ERR_INVALID, "tile %lld of level %d is out of range",
                    (long long)wanted->from, wanted->level);
    return OK;
}

static enum status check_content(struct request *req, struct error *err)
{
    const struct run_record *run;
    struct str content = request_text(req, "content");

    TRY(request_run(req, &run, err));
    if (content.count > 0 && !str_equal(content, run->content_id))
        return fail(err, ERR_CONFLICT,
                    "run \"%.*s\" was indexed again: its content id is now \"%.*s\"",
                    STR_ARG(run->name), STR_ARG(run->content_id));
    return OK;
}

static enum status get_tiles(struct request *req, struct reply *reply, struct error *err)
{
    struct wanted *wanted = arena_new(req->arena, struct wanted);

    TRY(check_content(req, err));
    TRY(read_span(req, wanted, err));
    TRY(read_rows(req, wanted, err));
    reply->status = 200;
    reply->type = "application/vnd.jviewd.tiles";
    encode(reply, wanted, req->arena);
    if (request_has(req, "content"))
        reply_header(reply, STR("Cache-Control"), STR("private, max-age=31536000, immutable"));
    return OK;
}

const struct route route_tiles = {
    .method = "GET", .path = "/api/tiles", .handle = get_tiles, .params = params, .slices = true};
