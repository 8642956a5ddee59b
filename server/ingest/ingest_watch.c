/* SPDX-License-Identifier: Apache-2.0 */
/* Between two scans: waiting for news, and looking alone at the files that are being written or
 * are to be tried again. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "ingest/ingest_parts.h"

#define MS INT64_C(1000000)

enum { WAIT_LONGEST_MS = 60000, LOOK_MS = 500, WRITTEN_MAX = 256, REST_FACTOR = 4 };

struct written { /* a file that is being written, or is to be tried again, and when */
    char run[RUN_ID_SIZE];
    struct str path;
    int64_t due_ns;
    bool seen;
    struct file_stamp stamp;
};

static uint32_t find_written(struct ingest_root *root, struct arena *arena,
                             struct written ret[WRITTEN_MAX])
{
    uint32_t count = 0;

    pthread_mutex_lock(&root->ingest->lock);
    for (uint32_t i = 0; i < root->run_count; i++) {
        for (uint32_t j = 0; j < root->runs[i]->file_count && count < WRITTEN_MAX; j++) {
            const struct ingest_file *file = &root->runs[i]->files[j];

            if (file->state != FILE_WRITING && !file->transient)
                continue;
            struct written *written = &ret[count++];
            *written =
                (struct written){.path = str_copy(arena, file->path), .due_ns = file->due_ns};
            memcpy(written->run, root->runs[i]->id, sizeof written->run);
        }
    }
    pthread_mutex_unlock(&root->ingest->lock);
    return count;
}

static void look(const struct ingest_root *root, struct written *written)
{
    if (root->place != NULL) {
        written->seen = bucket_look(root->place, written->path, &written->stamp);
        return;
    }
    char path[8192];
    struct stat seen;
    int flags = root->ingest->options.follow_symlinks ? 0 : AT_SYMLINK_NOFOLLOW;

    if (snprintf(path, sizeof path, "%s/%.*s", root->path, STR_ARG(written->path)) >=
            (int)sizeof path ||
        fstatat(AT_FDCWD, path, &seen, flags) != 0 || !S_ISREG(seen.st_mode))
        return;
    written->seen = true;
    written->stamp = (struct file_stamp){
        .device = seen.st_dev,
        .inode = seen.st_ino,
        .size = (uint64_t)seen.st_size,
        .modified_ns = (int64_t)seen.st_mtim.tv_sec * 1000000000 + seen.st_mtim.tv_nsec,
        .changed_ns = (int64_t)seen.st_ctim.tv_sec * 1000000000 + seen.st_ctim.tv_nsec,
    };
}

/* True when the run's state is another than before. */
static bool take_look(struct ingest *ingest, const struct written *written, int64_t now_ns)
{
    bool changed = false;

    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, str_of(written->run));
    struct ingest_file *file = run == NULL ? NULL : run_file_find(run, written->path);
    if (file != NULL && (file->state == FILE_WRITING || file->transient)) {
        enum file_state before = file->state;

        struct ingest_file *with = run_file_with(run, written->path);

        if (written->seen && with != NULL && !file_stamp_equal(&file->stamp, &written->stamp))
            file_read_again(with, now_ns);
        if (written->seen)
            file_changed(file, &written->stamp, now_ns);
        run_plan(run, now_ns);
        changed = file->state != before;
    }
    if (changed)
        pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
    return changed;
}

/* Looks at files that are due; the time in ms until the next one is. */
static int look_at_written(struct ingest_root *root)
{
    struct arena *arena = arena_create();
    struct written *written = arena_array(arena, struct written, WRITTEN_MAX);
    uint32_t count = find_written(root, arena, written);
    int64_t now_ns = clock_monotonic_ns(), wait_ms = WAIT_LONGEST_MS;

    for (uint32_t i = 0; i < count; i++) {
        if (written[i].due_ns <= now_ns) {
            look(root, &written[i]);
            if (take_look(root->ingest, &written[i], now_ns))
                run_publish(root->ingest, written[i].run);
            else
                wait_ms = LOOK_MS < wait_ms ? LOOK_MS : wait_ms;
        } else if ((written[i].due_ns - now_ns) / MS + 1 < wait_ms) {
            wait_ms = (written[i].due_ns - now_ns) / MS + 1;
        }
    }
    arena_destroy(arena);
    return (int)wait_ms;
}

/* Without a watch there is no news, only time. */
static enum watch_news wait_for_news(struct ingest_root *root, int wait_ms, struct text *directory)
{
    struct ingest *ingest = root->ingest;

    if (root->watch != NULL)
        return watch_wait(root->watch, wait_ms, directory);
    pthread_mutex_lock(&ingest->lock);
    if (!ingest->stopping)
        clock_wait(&ingest->changed, &ingest->lock, clock_deadline_ns(wait_ms));
    pthread_mutex_unlock(&ingest->lock);
    return WATCH_NOTHING;
}

static bool wants_regroup(struct ingest_root *root)
{
    pthread_mutex_lock(&root->ingest->lock);
    bool wanted = root->regroup;
    pthread_mutex_unlock(&root->ingest->lock);
    return wanted;
}

/* A place tells nothing by itself: it is listed again when its pause is over. */
static bool is_due(const struct ingest_root *root, int64_t since_ns, int *wait_ms)
{
    if (root->place == NULL || root->ingest->options.on_demand)
        return false;
    int64_t left_ms = (since_ns + bucket_pause_ns(root->place) - clock_monotonic_ns()) / MS;

    if (left_ms > 0 && left_ms < *wait_ms)
        *wait_ms = (int)left_ms + 1;
    return left_ms <= 0;
}

/* Until something below the root changed, or turned out to be of another run; a tree that never
 * rests is looked at a fifth of the time at most. */
static void watch_until_news(struct ingest_root *root, int64_t scan_took_ns)
{
    int64_t since_ns = clock_monotonic_ns(), rest_until_ns = since_ns + REST_FACTOR * scan_took_ns;
    bool news = false;
    struct text directory = {0};

    while (!ingest_is_stopping(root->ingest)) {
        int64_t rest_ms = (rest_until_ns - clock_monotonic_ns()) / MS;
        int wait_ms = look_at_written(root);

        news |= wants_regroup(root) || is_due(root, since_ns, &wait_ms);
        if (news && (rest_ms <= 0 || root->watch == NULL))
            break;
        if (news && rest_ms < wait_ms)
            wait_ms = (int)rest_ms + 1;
        news |= wait_for_news(root, wait_ms, &directory) != WATCH_NOTHING;
    }
    text_free(&directory);
}

static void open_watch(struct ingest_root *root)
{
    struct watch_options options = {.follow_symlinks = root->ingest->options.follow_symlinks,
                                    .poll_only = root->ingest->options.poll};
    struct error err = {0};
    struct arena *arena = arena_create();
    struct watch *watch = NULL;

    if (watch_open(str_c(arena, root->given), &options, &watch, &err) != OK)
        log_warning("%.*s is not watched: %s", STR_ARG(root->given), err.message);
    else if (watch_poll_reason(watch) != NULL)
        log_info("%.*s is scanned every few seconds: %s", STR_ARG(root->given),
                 watch_poll_reason(watch));
    pthread_mutex_lock(&root->ingest->lock);
    root->watch = watch;
    pthread_mutex_unlock(&root->ingest->lock);
    arena_destroy(arena);
}

void *ingest_scanner(void *data)
{
    struct ingest_root *root = data;
    bool scanned = root->ingest->options.on_demand; /* before this thread began */
    int64_t took_ns = 0;

    if (!scanned) {
        ingest_tell_scan(root->ingest, true);
        if (root->place == NULL)
            open_watch(root); /* before the first look, so that nothing falls between */
    }
    while (!ingest_is_stopping(root->ingest)) {
        int64_t start_ns = clock_monotonic_ns();

        if (!scanned)
            ingest_scan_once(root);
        scanned = false;
        took_ns = clock_monotonic_ns() - start_ns;
        watch_until_news(root, took_ns);
    }
    return NULL;
}

void ingest_wake(struct ingest *ingest)
{
    pthread_mutex_lock(&ingest->lock);
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        if (ingest->roots[i].watch != NULL)
            watch_wake(ingest->roots[i].watch);
    }
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
}
