/* Looking: a directory becomes runs, and what changed in it becomes work.
 *
 *   scan -> group -> compare with what was known -> publish what is new, changed or gone
 *
 * Between two scans the files that are being written are looked at alone.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "ingest_parts.h"

#define MS INT64_C(1000000)

enum { WAIT_LONGEST_MS = 60000, LOOK_MS = 500, WRITTEN_MAX = 256, REST_FACTOR = 4 };

struct news { /* runs to be told about, by id */
    char (*ids)[RUN_ID_SIZE];
    uint32_t count, capacity;
};

static void add_news(struct news *news, const char *id)
{
    if (news->count == news->capacity) {
        news->capacity = news->capacity == 0 ? 64 : 2 * news->capacity;
        news->ids = memory_resize(news->ids, news->capacity, RUN_ID_SIZE);
    }
    memcpy(news->ids[news->count++], id, RUN_ID_SIZE);
}

static void tell_news(struct ingest *ingest, struct news *news)
{
    for (uint32_t i = 0; i < news->count; i++)
        run_publish(ingest, news->ids[i]);
    free(news->ids);
}

static int by_id(const void *a, const void *b)
{
    const struct ingest_run *const *left = a, *const *right = b;

    return strcmp((*left)->id, (*right)->id);
}

static struct ingest_run **sorted(struct ingest_run **runs, uint32_t count)
{
    struct ingest_run **copy = memory_resize(NULL, count + 1, sizeof(struct ingest_run *));

    if (count > 0)
        memcpy(copy, runs, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, by_id);
    return copy;
}

static struct ingest_run **find_sorted(struct ingest_run **runs, uint32_t count,
                                       struct ingest_run *run)
{
    return bsearch(&run, runs, count, sizeof *runs, by_id);
}

/* Two runs of one directory would share an id; the second is known by its name as well. */
static void make_ids_differ(struct ingest_run **runs, uint32_t count)
{
    struct ingest_run **order = sorted(runs, count);

    for (uint32_t i = 1; i < count; i++) {
        struct ingest_run *run = order[i];

        if (strcmp(order[i - 1]->id, run->id) == 0)
            run_id_of(run->dir, run->name, run->id);
    }
    free(order);
}

static struct ingest_run **runs_of_scan(const struct ingest_root *root, const struct scan *scan,
                                        struct arena *arena, uint32_t *ret_count)
{
    int64_t now_ns = clock_monotonic_ns();
    struct scan_run *found;

    scan_group(scan->root, scan->files, scan->file_count, arena, &found, ret_count);
    struct ingest_run **runs = memory_resize(NULL, *ret_count + 1, sizeof(struct ingest_run *));
    for (uint32_t i = 0; i < *ret_count; i++)
        runs[i] = run_of_scan(root, scan, &found[i], now_ns);
    make_ids_differ(runs, *ret_count);
    return runs;
}

/* Runs that this process did not know take up what the catalog remembers, and need no telling when
 * it remembers all. They are still ours alone, so no lock is held. */
static void load_new(struct ingest_root *root, struct ingest_run **older, uint32_t older_count,
                     struct ingest_run **runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (find_sorted(older, older_count, runs[i]) == NULL)
            runs[i]->told = run_load(root->ingest, runs[i]);
    }
}

/* Puts the new runs in place of the old; those that are the same stay, and their new forms go. */
static void exchange(struct ingest_root *root, struct ingest_run **runs, uint32_t count,
                     struct ingest_run **older, uint32_t older_count, struct news *news)
{
    int64_t now_ns = clock_monotonic_ns();

    pthread_mutex_lock(&root->ingest->lock);
    for (uint32_t i = 0; i < count; i++) {
        struct ingest_run **before = find_sorted(older, older_count, runs[i]);

        if (before != NULL && run_equal(runs[i], *before)) {
            struct ingest_run *kept = *before;

            *before = runs[i];
            runs[i] = kept;
            continue;
        }
        if (before != NULL)
            run_inherit(runs[i], *before);
        run_plan(runs[i], now_ns);
        if (!runs[i]->told)
            add_news(news, runs[i]->id);
        runs[i]->told = true;
    }
    free(root->runs);
    root->runs = runs;
    root->run_count = count;
    pthread_cond_broadcast(&root->ingest->changed);
    pthread_mutex_unlock(&root->ingest->lock);
}

static void tell_gone(struct ingest *ingest, struct str id, bool has_segment)
{
    struct error err = {0};
    enum status status = has_segment ? catalog_set_state(ingest->catalog, id, RUN_GONE, 0,
                                                         STR("the files are no longer there"), &err)
                                     : catalog_forget(ingest->catalog, id, &err);

    if (status != OK)
        log_error("run %.*s: %s", STR_ARG(id), err.message);
}

/* Runs of this process that the scan did not find. */
static void retire(struct ingest_root *root, struct ingest_run **older, uint32_t older_count)
{
    struct ingest_run **now = sorted(root->runs, root->run_count);

    for (uint32_t i = 0; i < older_count; i++) {
        if (find_sorted(now, root->run_count, older[i]) == NULL && older[i]->listed)
            tell_gone(root->ingest, str_of(older[i]->id), run_has_segment(older[i]));
        run_free(older[i]);
    }
    free(now);
}

/* Runs of earlier processes that the first scan did not find. */
static void retire_remembered(struct ingest_root *root, struct arena *arena)
{
    struct run_query all = {.limit = UINT32_MAX};
    struct ingest_run **now = sorted(root->runs, root->run_count);
    struct run_record *records = NULL;
    struct error err = {0};
    uint32_t count = 0;
    uint64_t unused;

    if (catalog_runs(root->ingest->catalog, &all, arena, &records, &count, &unused, &err) != OK)
        log_error("%s", err.message);
    for (uint32_t i = 0; i < count; i++) {
        struct ingest_run key = {0};

        if (!str_equal(records[i].root, root->given) || records[i].state == RUN_GONE)
            continue;
        snprintf(key.id, sizeof key.id, "%.*s", STR_ARG(records[i].id));
        if (find_sorted(now, root->run_count, &key) == NULL)
            tell_gone(root->ingest, records[i].id, records[i].host_count > 0);
    }
    free(now);
}

static bool is_cancelled(void *data)
{
    struct ingest *ingest = data;

    pthread_mutex_lock(&ingest->lock);
    bool stopping = ingest->stopping;
    pthread_mutex_unlock(&ingest->lock);
    return stopping;
}

/* The state of all roots together. */
static void tell_scan(struct ingest *ingest, bool active)
{
    struct scan_state state = {.active = active, .done_once = true};

    pthread_mutex_lock(&ingest->lock);
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        state.directories += ingest->roots[i].directories;
        state.files += ingest->roots[i].files;
        state.done_once = state.done_once && ingest->roots[i].scanned;
    }
    pthread_mutex_unlock(&ingest->lock);
    catalog_set_scan(ingest->catalog, state);
}

/* What the scan could not look at, and why there is nothing when it failed altogether. */
static void tell_troubles(struct ingest_root *root, const struct scan *scan, const char *failure,
                          struct arena *arena)
{
    struct scan_trouble *troubles = arena_array(arena, struct scan_trouble, scan->note_count + 1);
    uint32_t count = 0;

    if (failure != NULL)
        troubles[count++] = (struct scan_trouble){.path = STR(""), .reason = str_of(failure)};
    for (uint32_t i = 0; i < scan->note_count; i++)
        troubles[count++] =
            (struct scan_trouble){.path = scan->notes[i].path, .reason = scan->notes[i].reason};
    catalog_set_troubles(root->ingest->catalog, root->given, troubles, count);
}

static void take_scan(struct ingest_root *root, const struct scan *scan, struct arena *arena)
{
    struct news news = {0};
    struct ingest_run **older = sorted(root->runs, root->run_count);
    uint32_t older_count = root->run_count, count;
    bool first = root->path == NULL;

    if (first) {
        root->path = memory_resize(NULL, scan->root.count + 1, 1);
        memcpy(root->path, scan->root.at, scan->root.count);
        root->path[scan->root.count] = '\0';
    }
    struct ingest_run **runs = runs_of_scan(root, scan, arena, &count);
    load_new(root, older, older_count, runs, count);
    exchange(root, runs, count, older, older_count, &news);
    retire(root, older, older_count);
    if (first)
        retire_remembered(root, arena);
    tell_news(root->ingest, &news);
    free(older);
}

void ingest_scan_once(struct ingest_root *root)
{
    struct ingest *ingest = root->ingest;
    struct arena *arena = arena_create();
    struct scan_options options = {.follow_symlinks = ingest->options.follow_symlinks,
                                   .cancelled = is_cancelled,
                                   .data = ingest};
    struct scan scan = {.root = root->given};
    struct error err = {0};

    if (catalog_promote(ingest->catalog))
        log_info("the catalog of runs is kept on disk from now on");
    tell_scan(ingest, true);
    enum status status = scan_walk(str_c(arena, root->given), &options, arena, &scan, &err);
    if (status == ERR_NOT_FOUND)
        scan = (struct scan){.root = root->given};
    if (status == OK || status == ERR_NOT_FOUND)
        take_scan(root, &scan, arena);
    tell_troubles(root, &scan, status == OK ? NULL : err.message, arena);
    pthread_mutex_lock(&ingest->lock);
    root->scanned = root->scanned || status != ERR_CANCELLED;
    root->directories = scan.directories;
    root->files = scan.file_count;
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
    tell_scan(ingest, false);
    arena_destroy(arena);
}

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
    struct timespec until;

    if (root->watch != NULL)
        return watch_wait(root->watch, wait_ms, directory);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * MS;
    if (until.tv_nsec >= 1000 * MS) {
        until.tv_sec++;
        until.tv_nsec -= 1000 * MS;
    }
    pthread_mutex_lock(&ingest->lock);
    if (!ingest->stopping)
        pthread_cond_timedwait(&ingest->changed, &ingest->lock, &until);
    pthread_mutex_unlock(&ingest->lock);
    return WATCH_NOTHING;
}

/* Until something below the root changed; a tree that never rests is looked at a fifth of the
 * time at most. */
static void watch_until_news(struct ingest_root *root, int64_t scan_took_ns)
{
    int64_t rest_until_ns = clock_monotonic_ns() + REST_FACTOR * scan_took_ns;
    bool news = false;
    struct text directory = {0};

    while (!is_cancelled(root->ingest)) {
        int64_t rest_ms = (rest_until_ns - clock_monotonic_ns()) / MS;
        int wait_ms = look_at_written(root);

        if (news && rest_ms <= 0)
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
        log_info("%.*s is looked at from time to time: %s", STR_ARG(root->given),
                 watch_poll_reason(watch));
    pthread_mutex_lock(&root->ingest->lock);
    root->watch = watch;
    pthread_mutex_unlock(&root->ingest->lock);
    arena_destroy(arena);
}

void *ingest_scanner(void *data)
{
    struct ingest_root *root = data;
    bool once = root->ingest->options.on_demand;
    int64_t took_ns = 0;

    if (!once) {
        tell_scan(root->ingest, true);
        open_watch(root); /* before the first look, so that nothing falls between */
    }
    while (!is_cancelled(root->ingest)) {
        int64_t start_ns = clock_monotonic_ns();

        if (!once)
            ingest_scan_once(root);
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
