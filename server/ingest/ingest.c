/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the scanners and workers of ingest, reopens what the catalog lost, and stops them. */
#include "ingest/ingest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "ingest/ingest_parts.h"

/* The catalog keeps under this key which version of the program made it. */
static const char version_key[33] = "00000000000000000000000000000000";

static unsigned usual_workers(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 4 ? 1 : (unsigned)cores / 2;
}

/* What an older program could not read, this one may. */
static void compare_versions(struct ingest *ingest)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct str known = STR("");

    if (catalog_facts(ingest->catalog, version_key, arena, &known, &err) == OK)
        ingest->remembers_ignored =
            !ingest->options.convert && str_equal(known, STR(JVIEWD_VERSION));
    if (!ingest->remembers_ignored &&
        catalog_put_facts(ingest->catalog, version_key, STR(JVIEWD_VERSION), &err) != OK)
        log_warning("%s", err.message);
    arena_destroy(arena);
}

static enum status start_thread(pthread_t *ret, void *(*run)(void *), void *data, struct error *err)
{
    int error = pthread_create(ret, NULL, run, data);

    if (error != 0)
        return fail(err, ERR_LIMIT, "no thread for indexing: %s", strerror(error));
    return OK;
}

static struct ingest *create(const struct ingest_options *options, struct catalog *catalog,
                             struct cache *cache)
{
    struct ingest *ingest = memory_resize(NULL, 1, sizeof *ingest);

    *ingest = (struct ingest){.options = *options, .catalog = catalog, .cache = cache};
    pthread_mutex_init(&ingest->lock, NULL);
    pthread_mutex_init(&ingest->telling, NULL);
    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_init(&ingest->publishing[i], NULL);
    pthread_cond_init(&ingest->changed, NULL);
    if (ingest->options.workers == 0)
        ingest->options.workers = usual_workers();
    ingest->roots = memory_resize(NULL, options->root_count + 1, sizeof *ingest->roots);
    ingest->workers = memory_resize(NULL, ingest->options.workers + 1, sizeof *ingest->workers);
    for (uint32_t i = 0; i < options->root_count; i++)
        ingest->roots[i] = (struct ingest_root){.ingest = ingest, .given = options->roots[i]};
    return ingest;
}

/* Those roots that are no directories. */
static enum status open_places(struct ingest *ingest, struct error *err)
{
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        const struct str *places = ingest->options.places;

        if (places != NULL && places[i].count > 0)
            TRY(bucket_open(places[i], ingest->cache, &ingest->roots[i].place, err));
    }
    return OK;
}

static enum status start_all(struct ingest *ingest, struct error *err)
{
    TRY(open_places(ingest, err));
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        struct ingest_root *root = &ingest->roots[i];

        if (ingest->options.on_demand)
            ingest_scan_once(root);
        if (ingest->options.on_demand && ingest->options.root_count == 1 &&
            root->silence.code != OK) /* there is nothing else to answer from */
            return fail(err, root->silence.code, "%s", root->silence.message);
        TRY(start_thread(&root->thread, ingest_scanner, root, err));
        root->has_thread = true;
    }
    while (ingest->worker_count < ingest->options.workers) {
        TRY(start_thread(&ingest->workers[ingest->worker_count], ingest_worker, ingest, err));
        ingest->worker_count++;
    }
    /* Files that take long hold all of these: what somebody waits for has a place of its own. */
    if (!ingest->options.on_demand) {
        TRY(start_thread(&ingest->workers[ingest->worker_count], ingest_worker_asked, ingest, err));
        ingest->worker_count++;
    }
    return OK;
}

enum status ingest_start(const struct ingest_options *options, struct catalog *catalog,
                         struct cache *cache, struct ingest **ret, struct error *err)
{
    struct ingest *ingest = create(options, catalog, cache);

    compare_versions(ingest);
    ingest_tell_scan(ingest, false);
    enum status status = start_all(ingest, err);
    if (status != OK) {
        ingest_stop(ingest);
        return status;
    }
    *ret = ingest;
    return OK;
}

/* Nobody waits for a process that will not be needed. */
static void end_children(struct ingest *ingest)
{
    pthread_mutex_lock(&ingest->lock);
    ingest->stopping = true;
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        for (uint32_t j = 0; j < ingest->roots[i].run_count; j++) {
            const struct ingest_run *run = ingest->roots[i].runs[j];

            for (uint32_t k = 0; k < run->file_count; k++) {
                if (run->files[k].pid > 0)
                    kill(run->files[k].pid, SIGKILL);
            }
        }
    }
    pthread_mutex_unlock(&ingest->lock);
    for (uint32_t i = 0; i < ingest->options.root_count; i++)
        bucket_cancel(ingest->roots[i].place);
    ingest_wake(ingest);
}

void ingest_stop(struct ingest *ingest)
{
    if (ingest == NULL)
        return;
    end_children(ingest);
    for (unsigned i = 0; i < ingest->worker_count; i++)
        pthread_join(ingest->workers[i], NULL);
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        struct ingest_root *root = &ingest->roots[i];

        if (root->has_thread)
            pthread_join(root->thread, NULL);
        watch_close(root->watch);
        for (uint32_t j = 0; j < root->run_count; j++)
            run_free(root->runs[j]);
        free(root->runs);
        free(root->by_id);
        free(root->path);
        bucket_close(root->place);
    }
    pthread_cond_destroy(&ingest->changed);
    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_destroy(&ingest->publishing[i]);
    pthread_mutex_destroy(&ingest->telling);
    pthread_mutex_destroy(&ingest->lock);
    free(ingest->roots);
    free(ingest->workers);
    free(ingest);
}

/* In the cache, with all that came with it in a bundle. */
static bool is_kept(struct ingest *ingest, const char content[33])
{
    struct arena *arena = arena_create();
    struct error unknown = {0};
    struct index_result result, member;
    struct str line;
    bool kept = cache_has(ingest->cache, content);

    if (kept && catalog_facts(ingest->catalog, content, arena, &line, &unknown) == OK &&
        index_result_parse(line, arena, &result, &unknown) == OK)
        for (uint32_t i = 0; kept && i < result.member_count; i++)
            kept = index_result_parse(result.members[i], arena, &member, &unknown) == OK &&
                   cache_has(ingest->cache, member.content);
    arena_destroy(arena);
    return kept;
}

/* Contents that the cache has lost are made again. The copies of the contents need no lock. */
static void reopen_lost(struct ingest *ingest, struct str run_id)
{
    enum { CONTENTS_MAX = 4096 };
    struct arena *arena = arena_create();
    char(*contents)[33] = arena_alloc(arena, CONTENTS_MAX, 33);
    uint32_t count = 0;

    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, run_id);
    for (uint32_t i = 0; run != NULL && i < run->file_count && count < CONTENTS_MAX; i++) {
        if (run->files[i].content[0] != '\0')
            memcpy(contents[count++], run->files[i].content, 33);
    }
    pthread_mutex_unlock(&ingest->lock);
    for (uint32_t i = 0; i < count; i++) {
        if (is_kept(ingest, contents[i]))
            contents[i][0] = '\0';
    }
    pthread_mutex_lock(&ingest->lock);
    run = run_find(ingest, run_id);
    for (uint32_t i = 0; run != NULL && i < run->file_count; i++) {
        struct ingest_file *file = &run->files[i];
        bool reopen = false;

        for (uint32_t j = 0; j < count; j++)
            reopen = reopen || (contents[j][0] != '\0' && strcmp(file->content, contents[j]) == 0 &&
                                (file->state == FILE_READY || file->state == FILE_PARTIAL));
        if (reopen)
            file_set_state(file, FILE_QUEUED, STR(""));
    }
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
    arena_destroy(arena);
}

/* Something can be said of the run: it is done, or was read before and is read again. */
static bool is_settled(const struct ingest_run *run)
{
    enum run_state state = run_state_of(run);

    if ((run->root->regroup || run->root->regrouping) &&
        run_may_change(run)) /* it may turn out to be more, or less */
        return false;
    return state == RUN_READY || state == RUN_PARTIAL || state == RUN_FAILED ||
           (state == RUN_WRITING && run_has_segment(run));
}

/* Is something of it still to be read, and will be? */
static bool is_unread(const struct ingest_run *run, int64_t now_ns)
{
    const int64_t rest_ns =
        INT64_C(30) * 1000000000; /* who waits for a file to rest waits so long */

    for (uint32_t i = 0; i < run->file_count; i++) {
        const struct ingest_file *file = &run->files[i];

        if (file->role != SCAN_TRACE || file->content[0] != '\0')
            continue;
        if (file->state == FILE_QUEUED || file->state == FILE_INDEXING ||
            (file->state == FILE_WRITING && now_ns - file->first_seen_ns < rest_ns))
            return true;
    }
    return false;
}

static bool is_of_job(const struct ingest_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        if (run->files[i].group != NULL)
            return true;
    }
    return false;
}

static bool are_near(const struct ingest_run *a, const struct ingest_run *b)
{
    const int64_t apart_ns = INT64_C(3600) * 1000000000; /* ranks write their files within it */
    int64_t delta;

    return !__builtin_sub_overflow(a->modified_ns, b->modified_ns, &delta) && delta <= apart_ns &&
           delta >= -apart_ns;
}

/* May both turn out to be of one capture, once the other was read? */
static bool may_be_one(const struct ingest_run *run, const struct ingest_run *other)
{
    if (run->file_count == 0 || other->file_count == 0 || !are_near(run, other))
        return false;
    if (run->joinable && other->joinable)
        return true;
    return is_of_job(run) && str_equal(scan_neighbourhood(run->files[0].path),
                                       scan_neighbourhood(other->files[0].path));
}

/* Other ranks of its job are read before anything is said of it; true while there are such. */
static bool wants_others(struct ingest_run *run)
{
    const struct ingest_root *root = run->root;
    int64_t now_ns = clock_monotonic_ns();
    bool any = false;

    if (!run->joinable && !is_of_job(run))
        return false;
    for (uint32_t i = 0; i < root->run_count; i++) {
        struct ingest_run *other = root->runs[i];

        if (other == run || !is_unread(other, now_ns) || !may_be_one(run, other))
            continue;
        if (other->urgency < run->urgency)
            other->urgency = run->urgency;
        any = true;
    }
    if (any)
        pthread_cond_broadcast(&root->ingest->changed);
    return any;
}

static enum status wait_for_scan(struct ingest *ingest, int64_t deadline_ns, struct error *err)
{
    bool in_time = true;

    pthread_mutex_lock(&ingest->lock);
    while (!ingest->scan_told && in_time && !ingest->stopping)
        in_time = clock_wait(&ingest->changed, &ingest->lock, deadline_ns);
    bool told = ingest->scan_told;
    pthread_mutex_unlock(&ingest->lock);
    return told ? OK : fail(err, ERR_NOT_READY, "the first scan is under way");
}

enum status ingest_wait(void *data, struct str run_id, int64_t wait_ms, struct error *err)
{
    struct ingest *ingest = data;
    int64_t deadline_ns = clock_deadline_ns(wait_ms);
    bool in_time = true;

    if (run_id.count == 0)
        return wait_for_scan(ingest, deadline_ns, err);
    reopen_lost(ingest, run_id);
    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, run_id);
    if (run != NULL)
        run->urgency = ++ingest->tickets;
    pthread_cond_broadcast(&ingest->changed);
    while (run != NULL && (!is_settled(run) || wants_others(run)) && in_time && !ingest->stopping) {
        in_time = clock_wait(&ingest->changed, &ingest->lock, deadline_ns);
        run = run_find(ingest, run_id);
    }
    bool settled = run != NULL && is_settled(run) && !wants_others(run), known = run != NULL;
    double progress = known ? run_progress(run) : 0;
    pthread_mutex_unlock(&ingest->lock);
    if (settled) { /* whoever brought the news may not have told the catalog yet */
        char id[RUN_ID_SIZE];

        snprintf(id, sizeof id, "%.*s", STR_ARG(run_id));
        run_publish(ingest, id);
    }
    if (!known)
        return fail(err, ERR_NOT_FOUND, "the files of this run no longer exist");
    return settled
               ? OK
               : fail(err, ERR_NOT_READY, "the run is being indexed: %.0f %% done", 100 * progress);
}

static void add_job(struct job *job, const struct ingest_run *run, const struct ingest_file *file,
                    struct arena *arena)
{
    *job = (struct job){
        .run = str_copy(arena, str_of(run->id)),
        .run_name = str_copy(arena, run->name),
        .file = str_copy(arena, file->path),
        .state = str_of(file_state_word(file->state)),
        .progress = file->progress,
        .bytes = file->stamp.size,
    };
}

/* Those under way first; then by age of their runs. */
enum status ingest_jobs(void *data, struct arena *arena, struct job **ret, uint32_t *ret_count)
{
    enum { JOBS_MAX = 1000 };
    struct ingest *ingest = data;
    struct job *jobs = arena_array(arena, struct job, JOBS_MAX);
    uint32_t count = 0;
    static const enum file_state states[] = {FILE_INDEXING, FILE_QUEUED};

    pthread_mutex_lock(&ingest->lock);
    for (size_t s = 0; s < COUNT(states); s++) {
        for (uint32_t i = 0; i < ingest->options.root_count; i++) {
            for (uint32_t j = 0; j < ingest->roots[i].run_count; j++) {
                const struct ingest_run *run = ingest->roots[i].runs[j];

                if (!run_is_wanted(ingest, run))
                    continue;
                for (uint32_t k = 0; k < run->file_count && count < JOBS_MAX; k++) {
                    if (run->files[k].state == states[s])
                        add_job(&jobs[count++], run, &run->files[k], arena);
                }
            }
        }
    }
    pthread_mutex_unlock(&ingest->lock);
    *ret = jobs;
    *ret_count = count;
    return OK;
}
