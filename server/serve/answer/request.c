/* SPDX-License-Identifier: Apache-2.0 */
/* Typed parameters of a request, its run, and the traces of its hosts. */
#include "serve/answer/request.h"

#include "analyse/hlo/hlo.h"
#include "analyse/hlo/hlo_backfill.h"
#include "analyse/steps/align.h"
#include "serve/answer/header.h"

enum {
    HOSTS_MAX = 4096,
    NOTES_MAX = 8,
    WAITS_MAX = 3, /* what a small cache brought back may be gone again before it is held */
    LOOKS_MAX = 3, /* a run may be joined to another between its name and its record */
};

struct asked_run {
    struct asked_run *next;
    struct str asked;  /* as it was named */
    struct str run_id; /* resolved */
    bool has_run, has_traces, has_others, others_held;
    bool is_other;    /* run_id is that of another, which is to be read before it is known which,
                       * or "": the first scan is to end before it is known whether there is one */
    bool in_vain;     /* it was waited for, and did not become ready in time */
    bool knows_ranks; /* nothing is unread that may be of its job */
    bool remade;      /* its index was damaged when it was first read for this request */
    uint32_t wait_count;
    struct run_record run;
    struct cached *held;
    uint32_t held_count;
    struct run_traces traces;
    const struct host_trace *others; /* once they are held */
    uint32_t other_count;
    const struct alignment *alignments; /* NULL: not measured */
    struct answer_note notes[NOTES_MAX];
    uint32_t note_count;
};

struct request_state {
    const struct route *route;
    struct query query;
    struct cache *cache;
    struct run_candidates candidates; /* of the last name that was no run's */
    struct asked_run first;           /* the one that run= names, unless the path does */
    struct asked_run *at;             /* the chosen one */
};

enum status request_open(struct request *req, const struct route *route, struct error *err)
{
    struct request_state *state = arena_new(req->arena, struct request_state);

    state->route = route;
    state->cache = req->services->cache;
    state->at = &state->first;
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

const struct query *request_query(const struct request *req)
{
    return &req->state->query;
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
    req->state->at->asked = run;
}

void request_choose(struct request *req, struct str run)
{
    struct request_state *state = req->state;
    struct asked_run *at = state->first.next;

    while (at != NULL && !str_equal(at->asked, run))
        at = at->next;
    if (at == NULL) {
        at = arena_new(req->arena, struct asked_run);
        *at = (struct asked_run){.next = state->first.next, .asked = run};
        state->first.next = at;
    }
    state->at = at;
}

/* What is not found while the first scan is under way may yet be. */
static enum status found_later(struct catalog *catalog, struct str asked, struct error *err)
{
    if (catalog_scan(catalog).done_once)
        return err->code;
    *err = (struct error){0};
    return fail(err, ERR_NOT_READY,
                "the first scan is under way and has not found run \"%.*s\" so far: try again",
                STR_ARG(asked));
}

/* The id of the run that is asked for, unless it is known. */
static enum status resolve_run(struct request *req, struct error *err)
{
    struct request_state *state = req->state;
    struct catalog *catalog = req->services->catalog;

    if (state->at->run_id.count > 0)
        return OK;

    struct str asked = state->at->asked.count > 0 ? state->at->asked : request_text(req, "run");
    enum status status =
        catalog_resolve(catalog, asked, req->arena, &state->at->run_id, &state->candidates, err);

    if (status == ERR_NOT_FOUND)
        status = found_later(catalog, asked, err);
    state->at->is_other = status == ERR_NOT_READY;
    return status;
}

enum status request_run(struct request *req, const struct run_record **ret, struct error *err)
{
    struct asked_run *at = req->state->at;

    *ret = &at->run;
    for (uint32_t looks = 1; !at->has_run; looks++) {
        TRY(resolve_run(req, err));
        enum status status =
            catalog_run(req->services->catalog, at->run_id, req->arena, &at->run, err);

        if (status == ERR_NOT_FOUND && looks < LOOKS_MAX) {
            at->run_id = STR(""); /* since it was resolved, its files came to be of another run */
            *err = (struct error){0};
            continue;
        }
        TRY(status);
        at->has_run = true;
    }
    return OK;
}

/* Nobody reads again what is gone: to wait for it would be to wait for ever. */
static enum status not_ready(const struct run_record *run, struct error *err)
{
    if (run->state == RUN_GONE)
        return fail(err, ERR_NOT_FOUND,
                    "the files of run \"%.*s\" no longer exist, and their index has been removed",
                    STR_ARG(run->name));
    return fail(err, ERR_NOT_READY, "run \"%.*s\" is %s (%.0f %%): ask again", STR_ARG(run->name),
                run_state_word(run->state), 100 * run->progress);
}

static void add_note(struct request_state *state, const char *kind, enum note_severity severity,
                     struct str message)
{
    state->at->notes[state->at->note_count++] =
        (struct answer_note){.kind = kind, .severity = severity, .message = message, .count = 1};
}

/* What a run without hosts holds instead, in words. */
static struct str contents_of(const struct run_record *run, struct arena *arena)
{
    uint32_t programs = 0, snapshots = 0;

    for (uint32_t i = 0; i < run->run_file_count; i++) {
        if (run->files[i].content[0] == '\0')
            continue;
        programs += run->files[i].part == PART_PROGRAMS;
        snapshots += run->files[i].part == PART_SNAPSHOT;
    }
    struct str first = programs == 0 ? STR("")
                                     : str_format(arena, "%u file%s of compiled programs", programs,
                                                  programs == 1 ? "" : "s");
    struct str second =
        snapshots == 0 ? STR("")
                       : str_format(arena, "%u snapshot%s", snapshots, snapshots == 1 ? "" : "s");

    return str_format(arena, "%.*s%s%.*s", STR_ARG(first),
                      programs > 0 && snapshots > 0 ? " and " : "", STR_ARG(second));
}

struct str run_no_timeline(const struct run_record *run, struct arena *arena)
{
    return str_format(arena, "The run holds no timeline, but %.*s.",
                      STR_ARG(contents_of(run, arena)));
}

/* The first names, and how many more. */
static struct str failed_files(const struct run_record *run, struct arena *arena)
{
    enum { NAMED = 3 };
    struct str names = STR("");
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->run_file_count; i++) {
        struct str path = run->files[i].path;

        if (run->files[i].state != FILE_FAILED || count++ >= NAMED)
            continue;
        names =
            str_format(arena, "%.*s%s%.*s", STR_ARG(names), count > 1 ? ", " : "", STR_ARG(path));
    }
    if (count > NAMED)
        names = str_format(arena, "%.*s and %u more", STR_ARG(names), count - NAMED);
    return names.count > 0 ? names : STR("/api/run tells which");
}

static void note_state(struct request *req)
{
    struct request_state *state = req->state;
    enum run_state at = state->at->run.state;

    if (state->at->remade)
        add_note(state, "index-remade", NOTE_WARNING,
                 STR("Part of this run's index was damaged on disk. It was rebuilt from the run's "
                     "files, and this answer comes from the new index."));
    if (at == RUN_WRITING || at == RUN_QUEUED || at == RUN_INDEXING)
        add_note(state, "stale", NOTE_INFO,
                 STR("The run's files have changed since they were indexed; this answer comes from "
                     "the last index."));
    if (at == RUN_GONE)
        add_note(state, "gone", NOTE_WARNING,
                 STR("The run's files no longer exist; this answer comes from the index."));
    if (at == RUN_PARTIAL)
        add_note(
            state, "partial", NOTE_WARNING,
            str_format(
                req->arena,
                "Some files of the run could not be read (%.*s): this answer covers %u host(s).",
                STR_ARG(failed_files(&state->at->run, req->arena)), state->at->run.host_count));
    if (state->at->run.host_count == 0)
        add_note(state, "no-timeline", NOTE_INFO, run_no_timeline(&state->at->run, req->arena));
}

static void release_traces(const struct request_state *state, struct asked_run *at)
{
    for (uint32_t i = 0; i < at->held_count; i++)
        cache_release(state->cache, at->held[i]);
    at->held_count = 0;
    at->note_count = 0;
    at->has_traces = at->has_others = at->others_held = false;
    at->alignments = NULL;
}

static bool needs_attributions(struct request *req)
{
    const struct route *route = req->state->route;

    if (route->skews)
        return req->state->at->run.host_count > 1;
    return !route->slices || request_is(req, "align", "collectives");
}

/* The trace of one content, held until the reply is sent. */
static bool hold(struct request *req, const char *content, struct host_trace *ret)
{
    struct request_state *state = req->state;
    struct cached *held = &state->at->held[state->at->held_count];
    struct error missing = {0};
    enum status status = needs_attributions(req)
                             ? cache_acquire(req->services->cache, content, held, &missing)
                             : cache_acquire_trace(req->services->cache, content, held, &missing);

    if (status != OK)
        return false;
    state->at->held_count++;
    *ret = (struct host_trace){
        .trace = held->trace, .attribution = held->attribution, .key = {.at = content, .count = 8}};
    return true;
}

/* Takes every host's trace, or none. */
static enum status acquire(struct request *req, struct error *err)
{
    struct request_state *state = req->state;
    const struct run_record *run = &state->at->run;
    struct host_trace *hosts = arena_array(req->arena, struct host_trace, run->host_count);

    state->at->held = arena_array(req->arena, struct cached, run->host_count + OTHERS_MAX);
    for (uint32_t i = 0; i < run->host_count; i++) {
        if (!hold(req, run->hosts[i].content, &hosts[i])) {
            release_traces(state, state->at);
            return not_ready(run, err);
        }
        hosts[i].name = run->hosts[i].name;
        hosts[i].offset_ps = run->hosts[i].offset_ps;
    }
    state->at->traces = (struct run_traces){.hosts = hosts,
                                            .host_count = run->host_count,
                                            .id = run->id,
                                            .name = run->name,
                                            .has_epoch = run->has_epoch,
                                            .epoch_ns = run->epoch_ns};
    return OK;
}

const struct alignment *request_alignments(struct request *req)
{
    struct request_state *state = req->state;

    if (state->at->alignments == NULL)
        state->at->alignments = align_hosts(&state->at->traces, req->arena);
    return state->at->alignments;
}

static struct str aligned_text(struct request *req, uint32_t aligned)
{
    const struct run_traces *traces = &req->state->at->traces;

    if (traces->host_count <= 1)
        return STR("Only one host was selected: there is no other clock to compare with.");
    uint32_t others = traces->host_count - 1;

    if (aligned == others)
        return str_format(req->arena,
                          "All %u hosts are aligned by shared collectives instead of by their "
                          "clocks; /api/run shows the skew of each host from %.*s.",
                          traces->host_count, STR_ARG(traces->hosts[0].name));
    return str_format(req->arena,
                      "%u of the %u hosts other than %.*s are aligned by shared collectives, the "
                      "others by their clocks; /api/run says why their skew is not known.",
                      aligned, others, STR_ARG(traces->hosts[0].name));
}

/* align=collectives: hosts are laid by what they did together, where that is known. The first is
 * the one that the others are laid by. */
static void align(struct request *req)
{
    struct request_state *state = req->state;
    const struct alignment *alignments = request_alignments(req);
    struct host_trace *hosts = (struct host_trace *)(uintptr_t)state->at->traces.hosts;
    uint32_t count = state->at->traces.host_count, aligned = 0;

    for (uint32_t i = 1; i < count; i++) {
        int64_t offset_ps;

        if (!alignments[i].known ||
            __builtin_sub_overflow(hosts[i].offset_ps, alignments[i].skew_ps, &offset_ps))
            continue;
        hosts[i].offset_ps = offset_ps;
        aligned++;
    }
    add_note(state, "aligned", aligned + 1 >= count ? NOTE_INFO : NOTE_WARNING,
             aligned_text(req, aligned));
}

static bool is_other(const struct run_file *file)
{
    return file->content[0] != '\0' && file->part != PART_TIMELINE;
}

static bool has_others(const struct run_record *run)
{
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        if (is_other(&run->files[i]))
            return true;
    }
    return false;
}

/* Some file of it was not read yet. */
static bool may_get_hosts(const struct run_record *run)
{
    return run->state == RUN_QUEUED || run->state == RUN_INDEXING;
}

/* Other ranks of its job may lie there unread, or its own files be of several captures: who rather
 * waits has that looked for once. */
static bool may_get_ranks(const struct request *req)
{
    const struct asked_run *at = req->state->at;

    if (!req->whole || req->services->wait == NULL || at->knows_ranks || at->run.state == RUN_GONE)
        return false;
    for (uint32_t i = 0; i < at->run.run_file_count; i++) {
        if (at->run.files[i].group.count > 0)
            return true;
    }
    return at->run.run_file_count > 1;
}

/* All that is beside the hosts, held; what the analysis sees of it is another matter. */
static enum status hold_others(struct request *req, struct error *err)
{
    struct request_state *state = req->state;
    const struct run_record *run = &state->at->run;
    struct host_trace *others;
    uint32_t count = 0, left_out = 0;

    if (state->at->others_held)
        return OK;
    others = arena_array(req->arena, struct host_trace, OTHERS_MAX);
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        if (!is_other(&run->files[i]))
            continue;
        if (count == OTHERS_MAX) {
            left_out++;
            continue;
        }
        if (!hold(req, run->files[i].content, &others[count])) {
            release_traces(state, state->at);
            return not_ready(run, err);
        }
        others[count++].name = run->files[i].path;
    }
    state->at->others = others;
    state->at->other_count = count;
    state->at->others_held = true;
    if (left_out > 0)
        add_note(
            state, "files-left-out", NOTE_WARNING,
            str_format(
                req->arena,
                "The run has %u more files beside its hosts than the %d that one answer can read.",
                left_out, OTHERS_MAX));
    return OK;
}

static bool has_programs(const struct run_record *run)
{
    for (uint32_t i = 0; i < run->run_file_count; i++)
        if (is_other(&run->files[i]) && run->files[i].part == PART_PROGRAMS)
            return true;
    return false;
}

static void note_backfilled(struct request *req, const struct hlo_backfilled *sum)
{
    struct answer_note notes[LEND_NOTES_MAX];
    uint32_t count = hlo_backfill_notes(sum, req->arena, notes);

    for (uint32_t i = 0; i < count; i++)
        add_note(req->state, notes[i].kind, notes[i].severity, notes[i].message);
}

/* Where a profile holds no HLO, modules beside it tell scopes and sources of its ops. */
static enum status borrow(struct request *req, struct error *err)
{
    struct asked_run *at = req->state->at;
    struct host_trace *hosts = (struct host_trace *)(uintptr_t)at->traces.hosts;
    struct run_traces bare = at->traces; /* modules are listed, and not measured */
    struct host_trace *unmeasured = arena_array(req->arena, struct host_trace, bare.host_count + 1);
    struct hlo_modules modules = {0};
    struct hlo_backfilled sum = {0};
    uint32_t wanted = 0;

    if (!has_programs(&at->run) || may_get_hosts(&at->run))
        return OK;
    for (uint32_t i = 0; i < bare.host_count; i++) {
        unmeasured[i] = hosts[i];
        unmeasured[i].attribution = NULL;
        wanted += hlo_backfill_is_wanted(&hosts[i]);
    }
    if (wanted == 0)
        return OK;
    TRY(hold_others(req, err));
    bare.hosts = unmeasured;
    bare.others = at->others;
    bare.other_count = at->other_count;
    hlo_modules(&bare, req->arena, &modules);
    for (uint32_t i = 0; i < bare.host_count; i++)
        if (hlo_backfill_is_wanted(&hosts[i]))
            hlo_backfill_scopes(&bare, &modules, &hosts[i], req->arena, &sum);
    note_backfilled(req, &sum);
    return OK;
}

enum status request_traces(struct request *req, const struct run_traces **ret, struct error *err)
{
    struct request_state *state = req->state;
    const struct run_record *run;

    *ret = &state->at->traces;
    if (state->at->has_traces)
        return OK;
    TRY(request_run(req, &run, err));
    if (run->state == RUN_FAILED)
        return fail(err, ERR_FORMAT, "run \"%.*s\" cannot be read: %.*s", STR_ARG(run->name),
                    STR_ARG(run->error.count > 0 ? run->error : STR("no file of it is readable")));
    bool any = run->host_count > 0 || has_others(run);
    if (!any || run->host_count > HOSTS_MAX || (req->settled && run->state == RUN_WRITING) ||
        (may_get_hosts(run) && (run->host_count == 0 || req->whole)) || may_get_ranks(req))
        return not_ready(run, err);
    TRY(acquire(req, err));
    TRY(borrow(req, err));
    note_state(req);
    if (run->host_count > 1 && request_is(req, "align", "collectives"))
        align(req);
    state->at->has_traces = true;
    return OK;
}

enum status request_all_traces(struct request *req, const struct run_traces **ret,
                               struct error *err)
{
    TRY(request_traces(req, ret, err));
    if (req->state->at->has_others)
        return OK;
    TRY(hold_others(req, err));
    req->state->at->traces.others = req->state->at->others;
    req->state->at->traces.other_count = req->state->at->other_count;
    req->state->at->has_others = true;
    return OK;
}

const struct answer_note *request_notes(const struct request *req, uint32_t *ret_count)
{
    *ret_count = req->state->at->note_count;
    return req->state->at->notes;
}

bool request_damaged(const struct request *req)
{
    for (const struct asked_run *at = req->state == NULL ? NULL : &req->state->first; at != NULL;
         at = at->next) {
        for (uint32_t i = 0; i < at->held_count; i++) {
            if (cache_damaged(at->held[i]))
                return true;
        }
    }
    return false;
}

void request_check_held(const struct request *req, bool files)
{
    for (const struct asked_run *at = &req->state->first; at != NULL; at = at->next) {
        for (uint32_t i = 0; i < at->held_count; i++)
            (void)cache_check(req->services->cache, at->held[i], files);
    }
}

static bool drop_damaged_of(const struct request *req, const struct asked_run *at)
{
    bool any = false;

    for (uint32_t i = 0; i < at->held_count; i++)
        any |= cache_drop_damaged(req->services->cache, at->held[i]);
    return any;
}

enum status request_drop_damaged(struct request *req, struct error *err)
{
    struct request_state *state = req->state;
    struct asked_run *damaged = NULL;

    for (struct asked_run *at = &state->first; at != NULL; at = at->next) {
        if (!drop_damaged_of(req, at))
            continue;
        at->remade = true;
        damaged = at;
    }
    if (damaged == NULL)
        return OK;
    state->at = damaged; /* the one that is waited for */
    if (damaged->run.state == RUN_GONE)
        return fail(err, ERR_FORMAT,
                    "the index of run \"%.*s\" is damaged on disk, and the files needed to rebuild "
                    "it no longer exist: restore them, or choose another run",
                    STR_ARG(damaged->run.name));
    return fail(err, ERR_NOT_READY,
                "the index of run \"%.*s\" was damaged on disk and is being rebuilt: try again",
                STR_ARG(damaged->run.name));
}

bool request_saw_remade(const struct request *req)
{
    for (const struct asked_run *at = req->state == NULL ? NULL : &req->state->first; at != NULL;
         at = at->next) {
        if (at->remade)
            return true;
    }
    return false;
}

void request_release(struct request_state *state)
{
    if (state == NULL)
        return;
    for (struct asked_run *at = &state->first; at != NULL; at = at->next) {
        release_traces(state, at);
        at->has_run = false;
    }
}

const struct run_candidates *request_candidates(const struct request *req)
{
    return req->state == NULL ? NULL : &req->state->candidates;
}

const struct run_record *request_run_known(const struct request *req)
{
    return req->state != NULL && req->state->at->has_run ? &req->state->at->run : NULL;
}

bool request_named_no_run(const struct request *req)
{
    const struct request_state *state = req->state;

    return state != NULL && !state->at->has_run &&
           (state->at != &state->first || request_has(req, "run"));
}

bool request_should_wait(const struct request *req)
{
    const struct asked_run *at = req->state->at;

    return req->services->wait != NULL && (at->run_id.count > 0 || at->is_other) && !at->in_vain &&
           at->wait_count < WAITS_MAX;
}

void request_wait_not(struct request *req)
{
    req->state->at->in_vain = true;
}

void request_wait(struct request *req)
{
    const struct services *services = req->services;
    struct asked_run *at = req->state->at;
    struct error ignored = {0}; /* what it became is what the next try sees */

    enum status status = services->wait(services->ingest, at->run_id,
                                        request_integer(req, "wait_ms", WAIT_MS_DEFAULT), &ignored);

    at->wait_count++;
    at->in_vain = status == ERR_NOT_READY || (status != OK && !at->is_other);
    /* What was found meanwhile may be another run: one that it was joined to, or a newer one. */
    if (at->is_other || status == ERR_NOT_FOUND)
        at->run_id = STR("");
    else
        at->knows_ranks = status == OK;
    at->is_other = false;
}
