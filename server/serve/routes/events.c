/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/events: server-sent events.
 *
 *   event: run                          a run is new, or its state changed
 *   data: {"id": "...", "name": "...", "state": "ready", ...}
 *
 *   event: progress                     while something is scanned or indexed
 *   data: {"scan": {...}, "runs": [{"id": "...", "state": "indexing", "progress": 0.4}]}
 *
 *   : still here                        every 5 s, so that a lost client is noticed
 *
 * A stream sleeps on its connection's thread; what it has to say is put together on the pool.
 */
#include <time.h>

#include "base/clock.h"
#include "serve/answer/reply.h"
#include "serve/routes.h"
#include "serve/server.h"

enum { TOLD_MAX = 1000, PAUSE_MS = 200, ALIVE_MS = 5000 };

struct told { /* what the client knows of a run */
    char id[64];
    enum run_state state;
    int64_t modified_ns;
};

struct events {
    const struct services *services;
    struct server *server;
    uint64_t generation;
    struct told *told; /* TOLD_MAX */
    uint32_t told_count;
    struct text out;
};

static struct told *find_told(struct events *events, struct str id)
{
    for (uint32_t i = 0; i < events->told_count; i++) {
        if (str_equal(str_of(events->told[i].id), id))
            return &events->told[i];
    }
    return NULL;
}

static void put_run_event(struct events *events, const struct run_record *run)
{
    struct json json = json_into(&events->out);

    text_puts(&events->out, "event: run\ndata: ");
    json_open(&json, '{');
    json_put_text(&json, "id", run->id);
    json_put_text(&json, "name", run->name);
    json_put_text(&json, "state", str_of(run_state_word(run->state)));
    json_put_real(&json, "progress", run->progress);
    json_put_text_or_null(&json, "content_id", run->content_id);
    json_put_text_or_null(&json, "error", run->error);
    json_close(&json, '}');
    text_puts(&events->out, "\n\n");
}

static void put_progress_event(struct events *events, const struct run_record *runs, uint32_t count)
{
    struct scan_state scan = catalog_scan(events->services->catalog);
    struct json json = json_into(&events->out);

    text_puts(&events->out, "event: progress\ndata: ");
    json_open(&json, '{');
    json_key(&json, "scan");
    json_open(&json, '{');
    json_put_text(&json, "state", scan.active ? STR("scanning") : STR("idle"));
    json_put_unsigned(&json, "directories", scan.directories);
    json_put_unsigned(&json, "files", scan.files);
    json_close(&json, '}');
    json_key(&json, "runs");
    json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].state != RUN_INDEXING)
            continue;
        json_open(&json, '{');
        json_put_text(&json, "id", runs[i].id);
        json_put_text(&json, "state", STR("indexing"));
        json_put_real(&json, "progress", runs[i].progress);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    text_puts(&events->out, "\n\n");
}

/* Of the newest runs: an event for each that is not as it was told. */
static void put_changes(void *data)
{
    struct events *events = data;
    struct arena *arena = arena_create();
    const struct run_query query = {.limit = TOLD_MAX};
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t count;
    uint64_t all;

    if (catalog_runs(events->services->catalog, &query, arena, &runs, &count, &all, &ignored) != OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct told *told = find_told(events, runs[i].id);

        if (told != NULL && told->state == runs[i].state &&
            told->modified_ns == runs[i].modified_ns)
            continue;
        if (told == NULL && events->told_count < TOLD_MAX) {
            told = &events->told[events->told_count++];
            size_t length =
                runs[i].id.count < sizeof told->id ? runs[i].id.count : sizeof told->id - 1;
            memcpy(told->id, runs[i].id.at, length);
        }
        if (told != NULL) {
            told->state = runs[i].state;
            told->modified_ns = runs[i].modified_ns;
        }
        put_run_event(events, &runs[i]);
    }
    put_progress_event(events, runs, count);
    arena_destroy(arena);
}

static bool is_stopping(const struct events *events)
{
    return events->server != NULL && atomic_load(&events->server->stopping);
}

static void gather(struct events *events)
{
    if (events->server != NULL)
        pool_run(events->server->work, put_changes, events);
    else
        put_changes(events);
}

static enum status stream_events(void *data, pack_write *write, void *to, struct error *err)
{
    struct events *events = data;
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int64_t alive_ns = clock_monotonic_ns();

    while (!is_stopping(events)) {
        uint64_t generation = catalog_generation(events->services->catalog);
        int64_t now_ns = clock_monotonic_ns();

        events->out.count = 0;
        if (generation != events->generation)
            gather(events);
        else if (now_ns - alive_ns >= ALIVE_MS * INT64_C(1000000))
            text_puts(&events->out, ": still here\n\n");
        events->generation = generation;
        if (events->out.count > 0) {
            struct bytes piece = {.at = (const uint8_t *)events->out.at,
                                  .count = events->out.count};
            enum status status = write(to, piece, err);

            alive_ns = now_ns;
            if (status != OK) {
                text_free(&events->out);
                return status;
            }
        }
        nanosleep(&pause, NULL);
    }
    text_free(&events->out);
    return OK;
}

static enum status get_events(struct request *req, struct reply *reply, struct error *err)
{
    struct events *events = arena_new(req->arena, struct events);

    (void)err;
    events->services = req->services;
    events->server = req->server;
    events->generation = UINT64_MAX; /* the first look tells everything */
    events->told = arena_array(req->arena, struct told, TOLD_MAX);
    reply->status = 200;
    reply->type = "text/event-stream";
    reply->stream = stream_events;
    reply->stream_data = events;
    reply->stream_sleeps = true;
    reply_header(reply, STR("X-Accel-Buffering"), STR("no"));
    return OK;
}

const struct route route_events = {
    .method = "GET", .path = "/api/events", .handle = get_events, .light = true};
