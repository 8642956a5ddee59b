/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: takes the most wanted file, has it read, and brings back what came of it.
 *
 *   queued -> indexing -> ready | partial | failed | ignored
 *                      -> writing, when it changed meanwhile: later again
 */
#include "ingest/ingest_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/pack/pack_cold.h"
#include "decode/decode.h"
#include "discover/session.h"
#include "serve/bundle/bundled.h"

#define MS INT64_C(1000000)

enum { RETRY_MS = 500, TRANSIENT_MS = 5000, DOUBLINGS_MAX = 4, RETRY_FACTOR = 10, TELL_MS = 250 };

struct work { /* one file on its way */
    struct ingest *ingest;
    struct arena *arena;
    struct child_job job;
    char directory[4096], segment[4200], attribution[4200]; /* to be made */
    char unless[33], key[33];                               /* key: of the object; "" it is none */
    int64_t started_ns, told_ns, fetch_told_ns;
    bool only_asked;
    char *untold;  /* a run that the catalog is to be told of before the worker rests; "" none */
    bool is_other; /* what the file holds may make it part of another run */
    struct bucket *place; /* it is downloaded first, which is half of the way; NULL: it is here */
    bool was_fetched;
};

static void begin(struct work *work, struct ingest_run *run, struct ingest_file *file)
{
    struct ingest *ingest = work->ingest;

    memcpy(work->job.run, run->id, sizeof work->job.run);
    work->job.root = str_copy(work->arena, str_of(run->root->path));
    work->job.path = str_copy(work->arena, file->path);
    work->place = run->root->place;
    work->job.stamp = file->stamp;
    work->job.growing = file->growing;
    work->job.follow_symlinks = ingest->options.follow_symlinks;
    work->job.convert = ingest->options.convert;
    work->started_ns = clock_monotonic_ns();
    file_set_state(file, FILE_INDEXING, STR(""));
}

/* What was left untold, where work goes on with another run, or with none. */
static void tell_untold(struct work *work)
{
    if (work->untold[0] == '\0')
        return;
    run_publish(work->ingest, work->untold);
    work->untold[0] = '\0';
}

static void publish_run(struct work *work)
{
    if (strcmp(work->untold, work->job.run) != 0)
        tell_untold(work);
    if (run_publish_at_times(work->ingest, work->job.run))
        work->untold[0] = '\0';
    else
        memcpy(work->untold, work->job.run, sizeof work->job.run);
}

/* Waits for work; false when the ingest ends. */
static bool take(struct work *work)
{
    struct ingest *ingest = work->ingest;
    struct ingest_run *run = NULL;
    struct ingest_file *file = NULL;

    pthread_mutex_lock(&ingest->lock);
    while (!ingest->stopping && (file = ingest_next(ingest, work->only_asked, &run)) == NULL) {
        if (work->untold[0] == '\0') {
            pthread_cond_wait(&ingest->changed, &ingest->lock);
            continue;
        }
        pthread_mutex_unlock(&ingest->lock);
        tell_untold(work);
        pthread_mutex_lock(&ingest->lock);
    }
    if (!ingest->stopping)
        begin(work, run, file);
    bool stopping = ingest->stopping;
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
    return !stopping;
}

/* The file this work is about, as it is now; NULL when a scan took it away. Lock held. */
static struct ingest_file *look_up(struct work *work, struct ingest_run **ret)
{
    return run_file_search(work->ingest, str_of(work->job.run), work->job.path, ret);
}

static void on_start(void *data, pid_t pid)
{
    struct work *work = data;
    struct ingest_run *run;

    pthread_mutex_lock(&work->ingest->lock);
    struct ingest_file *file = look_up(work, &run);
    if (file != NULL)
        file->pid = pid;
    if (pid > 0 && work->ingest->stopping)
        kill(pid, SIGKILL);
    pthread_mutex_unlock(&work->ingest->lock);
}

static void on_progress(void *data, double share)
{
    struct work *work = data;
    struct ingest *ingest = work->ingest;
    int64_t now_ns = clock_monotonic_ns();
    struct error err = {0};
    struct ingest_run *run;
    double progress = -1;

    if (work->was_fetched)
        share = 0.5 + share / 2;
    pthread_mutex_lock(&ingest->lock);
    struct ingest_file *file = look_up(work, &run);
    if (file != NULL && file->state == FILE_INDEXING) {
        file->progress = share;
        if (run_is_shown(run))
            progress = run_progress(run);
    }
    pthread_mutex_unlock(&ingest->lock);
    if (progress < 0 || now_ns - work->told_ns < TELL_MS * MS)
        return;
    work->told_ns = now_ns;
    if (catalog_set_state(ingest->catalog, str_of(work->job.run), RUN_INDEXING, progress, STR(""),
                          &err) != OK)
        log_error("%s", err.message);
}

static enum status prepare(struct work *work, struct error *err)
{
    struct ingest *ingest = work->ingest;

    TRY(cache_job_dir(ingest->cache, work->directory, err));
    snprintf(work->segment, sizeof work->segment, "%s/1.seg", work->directory);
    snprintf(work->attribution, sizeof work->attribution, "%s/1.attr", work->directory);
    work->job.segment = work->segment;
    work->job.on_start = on_start;
    work->job.on_progress = on_progress;
    work->job.data = work;
    if (work->place == NULL || decode_reads_beside(work->job.path) ||
        !bucket_key(work->place, work->job.path, &work->job.stamp, work->key))
        work->key[0] = '\0';
    return OK;
}

/* What the file says that it was before it was put away packed; the child checks it. */
static bool find_unpacked(struct work *work, char ret[33])
{
    struct error ignored = {0};
    struct cold cold = {0};
    uint64_t bytes;
    int fd;

    if (!str_ends(work->job.path, STR(COLD_SUFFIX)) ||
        ingest_open_file(work->ingest, str_of(work->job.run), work->job.path, &fd, &bytes,
                         &ignored) != OK)
        return false;
    bool found = cold_of(fd, &cold);
    file_close(fd);
    memcpy(ret, cold.content, sizeof cold.content);
    return found;
}

/* A content of this size whose segment is at hand: then a hash is enough to know the file. */
static void find_twin(struct work *work)
{
    struct ingest *ingest = work->ingest;
    struct error unknown = {0};
    char twin[33];

    if (find_unpacked(work, twin) && cache_has(ingest->cache, twin))
        memcpy(work->unless, twin, sizeof work->unless);
    else if (catalog_content_of_size(ingest->catalog, work->job.stamp.size, twin, &unknown) == OK &&
             cache_has(ingest->cache, twin))
        memcpy(work->unless, twin, sizeof work->unless);
}

/* What was learned when this content was read the first time. */
static enum status recall(struct work *work, struct index_result *result, struct error *err)
{
    struct str line;

    TRY(catalog_facts(work->ingest->catalog, result->content, work->arena, &line, err));
    return index_result_parse(line, work->arena, result, err);
}

/* Of a bundle: those beside its first member. */
static enum status adopt_members(struct work *work, const struct index_result *result,
                                 struct error *err)
{
    struct ingest *ingest = work->ingest;

    for (uint32_t i = 0; i < result->member_count; i++) {
        char segment[4300], attribution[4300];
        struct index_result member;

        snprintf(segment, sizeof segment, "%s/1-%u.seg", work->directory, i + 1);
        snprintf(attribution, sizeof attribution, "%s/1-%u.attr", work->directory, i + 1);
        TRY(index_result_parse(result->members[i], work->arena, &member, err));
        TRY(catalog_put_facts(ingest->catalog, member.content, member.line, err));
        TRY(cache_adopt(ingest->cache, member.content, segment, attribution, err));
    }
    return OK;
}

static enum status adopt(struct work *work, struct index_result *result, struct error *err)
{
    struct ingest *ingest = work->ingest;

    if (result->outcome == OUTCOME_SAME)
        return recall(work, result, err);
    if (result->outcome != OUTCOME_INDEXED)
        return OK;
    TRY(catalog_put_facts(ingest->catalog, result->content, result->line, err));
    TRY(adopt_members(work, result, err));
    TRY(cache_adopt(ingest->cache, result->content, work->segment, work->attribution, err));
    if (cache_bytes(ingest->cache) > cache_bytes_max(ingest->cache))
        cache_evict(ingest->cache);
    return OK;
}

/* From any thread that downloads; one of them tells. */
static void on_fetched(void *data, uint64_t done, uint64_t total)
{
    struct work *work = data;
    int64_t now_ns = clock_monotonic_ns();

    pthread_mutex_lock(&work->ingest->lock);
    bool due = now_ns - work->fetch_told_ns >= TELL_MS * MS;
    if (due)
        work->fetch_told_ns = now_ns;
    pthread_mutex_unlock(&work->ingest->lock);
    if (due && total > 0)
        on_progress(work, (double)done / (double)total / 2);
}

/* What lies in a bucket is brought into the cache, and read from there. */
static enum status bring(struct work *work, struct error *err)
{
    struct str file;

    if (work->place == NULL)
        return OK;
    TRY(bucket_fetch(work->place, work->job.path, &work->job.stamp, on_fetched, work, work->arena,
                     &file, err));
    work->was_fetched = true;
    work->job.read_root = path_dir(file);
    work->job.read_path = path_base(file);
    return OK;
}

/* The whole way of one file, up to a segment in the cache. */
static enum status produce(struct work *work, struct index_result *ret, bool *ret_transient,
                           struct error *err)
{
    *ret_transient = false;
    TRY(prepare(work, err));
    if (shared_get_unread(work->ingest, &work->job, work->key, work->arena, work->segment,
                          work->attribution, ret))
        return adopt(work, ret, err);
    TRY(bring(work, err));
    find_twin(work);
    work->job.unless = work->unless[0] != '\0' ? work->unless : NULL;
    bool was_shared = work->unless[0] == '\0' && shared_get(work->ingest, &work->job, work->arena,
                                                            work->segment, work->attribution, ret);
    if (!was_shared)
        TRY(child_index(&work->job, work->arena, ret, ret_transient, err));
    if (!was_shared || work->key[0] != '\0')
        shared_put(work->ingest, ret, work->key, work->segment, work->attribution);
    return adopt(work, ret, err);
}

static void conclude_segment(struct work *work, struct ingest_file *file,
                             const struct index_result *result)
{
    memcpy(file->content, result->content, sizeof file->content);
    file->part = result->part;
    /* A bundle is whole: it joins no other. */
    work->is_other = result->said.count == 0 && file_set_known(file, result);
    file->attempts = 0;
    file_set_format(file, result->said.count > 0 ? STR(BUNDLE_FORMAT) : result->format);
    file_set_state(file, result->partial ? FILE_PARTIAL : FILE_READY, STR(""));
    if (file_stamp_equal(&file->stamp, &work->job.stamp) && !work->job.growing)
        return;
    file_set_state(file, FILE_WRITING, STR("the file is growing"));
    file->due_ns = file->ended_ns + RETRY_MS * MS;
}

/* Twice as long after each attempt, up to a limit. */
static int64_t pause_of(const struct ingest_file *file, int64_t first_ms)
{
    uint32_t doublings = file->attempts == 0 ? 0 : file->attempts - 1;

    return first_ms * MS << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
}

/* ... and longer where a try takes long: what is tried in vain takes a small part of the time. */
static int64_t retry_pause_of(const struct ingest_file *file, int64_t took_ns)
{
    int64_t pause = pause_of(file, TRANSIENT_MS), by_cost = RETRY_FACTOR * took_ns;

    return by_cost > pause ? by_cost : pause;
}

static void conclude(struct work *work, struct ingest_file *file, const struct index_result *result,
                     bool transient)
{
    file->ended_ns = clock_monotonic_ns();
    file->took_ns = file->ended_ns - work->started_ns;
    file->transient = transient;
    switch (result->outcome) {
    case OUTCOME_INDEXED:
    case OUTCOME_SAME: /* recalled: as if it had been read */
        conclude_segment(work, file, result);
        break;
    case OUTCOME_IGNORED:
    case OUTCOME_FAILED:
        if (work->job.growing) { /* nothing is whole yet; what it is shows when it rests */
            file_set_state(file, FILE_WRITING, result->error);
            file->due_ns = file->ended_ns + RETRY_MS * MS;
            break;
        }
        file_forget(file);
        file->took_ns = 0; /* nothing to show meanwhile, so no pause */
        file->attempts = transient ? file->attempts + 1 : 0;
        file->due_ns = file->ended_ns + retry_pause_of(file, file->ended_ns - work->started_ns);
        file_set_format(file, result->format);
        file_set_state(file, result->outcome == OUTCOME_IGNORED ? FILE_IGNORED : FILE_FAILED,
                       result->error);
        if (!file_stamp_equal(&file->stamp, &work->job.stamp))
            file_set_state(file, FILE_QUEUED, STR(""));
        break;
    case OUTCOME_CHANGED:
        file->attempts++;
        file->due_ns = file->ended_ns + pause_of(file, RETRY_MS);
        file_set_state(file, FILE_WRITING, result->error);
        break;
    }
}

static void finish(struct work *work, const struct index_result *result, bool transient)
{
    struct ingest *ingest = work->ingest;
    struct ingest_run *run;

    pthread_mutex_lock(&ingest->lock);
    struct ingest_file *file = look_up(work, &run);
    bool stopping = ingest->stopping;

    if (file != NULL && file->state == FILE_INDEXING) {
        if (stopping)
            file_set_state(file, FILE_QUEUED, STR(""));
        else
            conclude(work, file, result, transient);
        if (work->is_other && run_may_change(run))
            run->root->regroup = true;
        memcpy(work->job.run, run->id, sizeof work->job.run);
        run_plan(run, clock_monotonic_ns());
    }
    pthread_mutex_unlock(&ingest->lock);
    publish_run(work);
    pthread_mutex_lock(&ingest->lock);
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
    ingest_wake(ingest);
}

static void tell(const struct work *work, const struct index_result *result)
{
    long long took_ms = (clock_monotonic_ns() - work->started_ns) / MS;

    if (result->outcome == OUTCOME_FAILED)
        log_warning("%.*s: %.*s", STR_ARG(work->job.path), STR_ARG(result->error));
    else
        log_info("%.*s: %.*s, %llu slices, %lld ms", STR_ARG(work->job.path),
                 STR_ARG(result->format), (unsigned long long)result->slice_count, took_ms);
}

static void do_work(struct work *work)
{
    struct index_result result = {0};
    struct error err = {0};
    bool transient = false;

    publish_run(work);
    if (produce(work, &result, &transient, &err) != OK) {
        result = (struct index_result){.outcome = err.code == ERR_CONFLICT ? OUTCOME_CHANGED
                                                                           : OUTCOME_FAILED,
                                       .error = str_of(err.message)};
        transient = result.outcome == OUTCOME_FAILED;
    }
    if (work->directory[0] != '\0')
        cache_remove_dir(work->directory);
    if (!ingest_is_stopping(work->ingest)) /* whose child was ended by us, and no file failed */
        tell(work, &result);
    finish(work, &result, transient);
}

static void *run_worker(struct ingest *ingest, bool only_asked)
{
    char untold[RUN_ID_SIZE] = "";

    for (bool going = true; going;) {
        struct arena *arena = arena_create();
        struct work *work = arena_new(arena, struct work);

        work->ingest = ingest;
        work->only_asked = only_asked;
        work->untold = untold;
        work->arena = arena;
        going = take(work);
        if (going)
            do_work(work);
        arena_destroy(arena);
    }
    return NULL;
}

void *ingest_worker(void *ingest)
{
    return run_worker(ingest, false);
}

void *ingest_worker_asked(void *ingest)
{
    return run_worker(ingest, true);
}
