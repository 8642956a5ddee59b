#include "serve/request.h"

#include "serve/gate.h"

enum { HOSTS_MAX = 4096, NOTES_MAX = 2 };

struct request_state {
    const struct route *route;
    struct query query;
    struct cache *cache;
    struct str asked;  /* what the path named instead of run= */
    struct str run_id; /* resolved */
    bool has_run, has_traces, waited;
    struct run_record run;
    struct run_candidates candidates;
    struct cached *held;
    uint32_t held_count;
    struct run_traces traces;
    struct answer_note notes[NOTES_MAX];
    uint32_t note_count;
};

enum status request_open(struct request *req, const struct route *route, struct error *err)
{
    struct request_state *state = arena_new(req->arena, struct request_state);

    state->route = route;
    state->cache = req->services->cache;
    req->state = state;
    if (route->any_query)
        return OK;
    TRY(query_parse(req->query, req->arena, &state->query, err));
    return query_check(&state->query, route->params, err);
}

const struct route *request_route(const struct request *req)
{
    return req->state->route;
}

struct str request_text(const struct request *req, const char *name)
{
    const struct str *value = query_find(&req->state->query, name);

    return value == NULL ? STR("") : *value;
}

bool request_has(const struct request *req, const char *name)
{
    return request_text(req, name).count > 0;
}

int64_t request_integer(const struct request *req, const char *name, int64_t otherwise)
{
    int64_t value;

    return str_to_i64(request_text(req, name), &value) ? value : otherwise;
}

bool request_is(const struct request *req, const char *name, const char *value)
{
    return str_equal(request_text(req, name), str_of(value));
}

struct str request_header(const struct request *req, struct str name)
{
    return header_get(req->headers, req->header_count, name);
}

void request_name_run(struct request *req, struct str run)
{
    req->state->asked = run;
}

enum status request_run(struct request *req, const struct run_record **ret, struct error *err)
{
    struct request_state *state = req->state;
    struct catalog *catalog = req->services->catalog;

    *ret = &state->run;
    if (state->has_run)
        return OK;
    if (state->run_id.count == 0)
        TRY(catalog_resolve(catalog,
                            state->asked.count > 0 ? state->asked : request_text(req, "run"),
                            req->arena, &state->run_id, &state->candidates, err));
    TRY(catalog_run(catalog, state->run_id, req->arena, &state->run, err));
    state->has_run = true;
    return OK;
}

static enum status not_ready(const struct run_record *run, struct error *err)
{
    return fail(err, ERR_NOT_READY, "run \"%.*s\" is %s (%.0f %%): ask again", STR_ARG(run->name),
                run_state_word(run->state), 100 * run->progress);
}

static void add_note(struct request_state *state, const char *kind, enum note_severity severity,
                     struct str message)
{
    state->notes[state->note_count++] =
        (struct answer_note){.kind = kind, .severity = severity, .message = message, .count = 1};
}

static void note_state(struct request *req)
{
    struct request_state *state = req->state;
    enum run_state at = state->run.state;

    if (at == RUN_WRITING || at == RUN_QUEUED || at == RUN_INDEXING)
        add_note(state, "stale", NOTE_INFO,
                 STR("The run's files have changed since; this answer stands on the last state "
                     "that was indexed."));
    if (at == RUN_GONE)
        add_note(state, "gone", NOTE_WARNING,
                 STR("The run's files are no longer there; this answer stands on the index."));
    if (at == RUN_PARTIAL)
        add_note(state, "partial", NOTE_WARNING,
                 str_format(req->arena,
                            "Some files of the run could not be read: this answer stands on %u "
                            "host(s). /api/run tells which.",
                            state->run.host_count));
}

static void release_traces(struct request_state *state)
{
    for (uint32_t i = 0; i < state->held_count; i++)
        cache_release(state->cache, state->held[i]);
    state->held_count = 0;
    state->note_count = 0;
    state->has_traces = false;
}

/* Takes every host's trace, or none. */
static enum status acquire(struct request *req, struct error *err)
{
    struct request_state *state = req->state;
    const struct run_record *run = &state->run;
    struct host_trace *hosts = arena_array(req->arena, struct host_trace, run->host_count);

    state->held = arena_array(req->arena, struct cached, run->host_count);
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct run_host *host = &run->hosts[i];
        struct error missing = {0};

        if (cache_acquire(req->services->cache, host->content, &state->held[i], &missing) != OK) {
            release_traces(state);
            return not_ready(run, err);
        }
        state->held_count = i + 1;
        hosts[i] = (struct host_trace){
            .trace = state->held[i].trace,
            .attribution = state->held[i].attribution,
            .name = host->name,
            .key = {.at = host->content, .count = 8},
            .offset_ps = host->offset_ps,
        };
    }
    state->traces = (struct run_traces){.hosts = hosts,
                                        .host_count = run->host_count,
                                        .id = run->id,
                                        .name = run->name,
                                        .has_epoch = run->has_epoch,
                                        .epoch_ns = run->epoch_ns};
    return OK;
}

enum status request_traces(struct request *req, const struct run_traces **ret, struct error *err)
{
    struct request_state *state = req->state;
    const struct run_record *run;

    *ret = &state->traces;
    if (state->has_traces)
        return OK;
    TRY(request_run(req, &run, err));
    if (run->state == RUN_FAILED)
        return fail(err, ERR_FORMAT, "run \"%.*s\" cannot be read: %.*s", STR_ARG(run->name),
                    STR_ARG(run->error.count > 0 ? run->error : STR("no file of it is readable")));
    if (run->host_count == 0 && run->state == RUN_GONE)
        return fail(err, ERR_NOT_FOUND, "the files of run \"%.*s\" are no longer there",
                    STR_ARG(run->name));
    if (run->host_count == 0 || run->host_count > HOSTS_MAX)
        return not_ready(run, err);
    TRY(acquire(req, err));
    note_state(req);
    state->has_traces = true;
    return OK;
}

const struct answer_note *request_notes(const struct request *req, uint32_t *ret_count)
{
    *ret_count = req->state->note_count;
    return req->state->notes;
}

void request_release(struct request_state *state)
{
    if (state == NULL)
        return;
    release_traces(state);
    state->has_run = false;
}

const struct run_candidates *request_candidates(const struct request *req)
{
    return req->state == NULL ? NULL : &req->state->candidates;
}

const struct run_record *request_run_known(const struct request *req)
{
    return req->state != NULL && req->state->has_run ? &req->state->run : NULL;
}

void request_mark_waited(struct request *req)
{
    req->state->waited = true;
}

bool request_should_wait(const struct request *req)
{
    return req->services->wait != NULL && req->state->run_id.count > 0 && !req->state->waited;
}

void request_wait(struct request *req)
{
    const struct services *services = req->services;
    struct error ignored = {0};

    /* Whether it became ready is what the second try sees. */
    (void)services->wait(services->ingest, req->state->run_id,
                         request_integer(req, "wait_ms", WAIT_MS_DEFAULT), &ignored);
}
