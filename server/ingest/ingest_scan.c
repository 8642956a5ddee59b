/* SPDX-License-Identifier: Apache-2.0 */
/* Looking: a directory becomes runs, and what changed in it becomes work.
 *
 *   scan -> group -> compare with what was known -> publish what is new, changed or gone
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/shell.h"
#include "discover/session.h"
#include "ingest/ingest_parts.h"
#include "serve/bundle/about.h"

struct news { /* runs to be told about, by id */
    char (*ids)[RUN_ID_SIZE];
    uint32_t count, capacity;
};

struct change { /* from what was known of a root to what a scan found */
    struct ingest_root *root;
    struct arena *arena;
    bool is_first;
    struct ingest_run **older,
        **runs; /* by id; newest first, one of the older where it is so still */
    uint32_t older_count, count;
    struct file_index index;
    struct news news;
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
    runs_publish(ingest, news->ids, news->count);
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

static int by_key(const void *id, const void *run)
{
    return strcmp(id, (*(const struct ingest_run *const *)run)->id);
}

static struct ingest_run **find_by_id(struct ingest_run **runs, uint32_t count, const char *id)
{
    return bsearch(id, runs, count, sizeof *runs, by_key);
}

/* Does a run of this id exist, in this process or in the catalog? */
static bool is_known_run(const struct change *change, const char *id)
{
    struct run_record record;
    struct error unknown = {0};

    if (find_by_id(change->older, change->older_count, id) != NULL)
        return true;
    return change->is_first && catalog_run(change->root->ingest->catalog, str_of(id), change->arena,
                                           &record, &unknown) == OK;
}

/* What its runs' ids are made of. Of a single file it is the file: those beside it are others. */
static struct str place_of_ids(const struct change *change, const struct scan *scan)
{
    struct str given = change->root->given;

    return str_equal(path_dir(given), scan->root) ? given : scan->root;
}

/* A run that was joined keeps the id under which one of its parts is known already. */
static void choose_home(const struct change *change, const struct scan *scan,
                        struct scan_run *found)
{
    char id[RUN_ID_SIZE];

    for (uint32_t i = 0; found->home_count > 1 && i < found->home_count; i++) {
        run_id_of(place_of_ids(change, scan), found->homes[i], id);
        if (is_known_run(change, id)) {
            found->dir = found->homes[i];
            return;
        }
    }
}

static int by_sighted_id(const void *a, const void *b)
{
    const struct sighting *const *left = a, *const *right = b;

    return strcmp((*left)->id, (*right)->id);
}

/* Two runs of one directory would share an id; the second is known by its name as well. */
static void make_ids_differ(struct sighting *seen, uint32_t count, struct arena *arena)
{
    struct sighting **order = arena_array(arena, struct sighting *, count);

    for (uint32_t i = 0; i < count; i++)
        order[i] = &seen[i];
    qsort(order, count, sizeof *order, by_sighted_id);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(order[i - 1]->id, order[i]->id) == 0)
            run_id_of(order[i]->run->dir, order[i]->run->name, order[i]->id);
}

static uint64_t stamp_about(const struct ingest_root *root, struct str dir)
{
    return root->place != NULL ? bucket_about(root->place, root->ingest->catalog, dir)
                               : about_stamp(root->given, dir);
}

static struct sighting *sight_runs(struct change *change, struct scan *scan)
{
    struct scan_run *found;

    scan_group(scan->root, scan->files, scan->file_count, change->arena, &found, &change->count);
    struct sighting *seen = arena_array(change->arena, struct sighting, change->count);

    for (uint32_t i = 0; i < change->count; i++) {
        choose_home(change, scan, &found[i]);
        seen[i].run = &found[i];
        run_id_of(place_of_ids(change, scan), found[i].dir, seen[i].id);
        if (scan->may_say)
            seen[i].about_stamp = stamp_about(change->root, found[i].dir);
    }
    make_ids_differ(seen, change->count, change->arena);
    return seen;
}

/* Runs that are what they were stay. */
static void keep_same(struct change *change, const struct scan *scan, const struct sighting *seen)
{
    pthread_mutex_lock(&change->root->ingest->lock);
    for (uint32_t i = 0; i < change->count; i++) {
        struct ingest_run **before = find_by_id(change->older, change->older_count, seen[i].id);

        if (before == NULL || !run_is(*before, scan, &seen[i]))
            continue;
        change->runs[i] = *before;
        change->runs[i]->joinable = seen[i].run->joinable;
    }
    pthread_mutex_unlock(&change->root->ingest->lock);
}

/* Runs that this process did not know take up what the catalog remembers, and need no telling when
 * it remembers all. They are still ours alone, so no lock is held. */
static void find_runs(struct change *change, struct scan *scan)
{
    const struct sighting *seen = sight_runs(change, scan);
    int64_t now_ns = clock_monotonic_ns();

    change->runs = memory_resize(NULL, change->count + 1, sizeof(struct ingest_run *));
    memset(change->runs, 0, (change->count + 1) * sizeof(struct ingest_run *));
    keep_same(change, scan, seen);
    for (uint32_t i = 0; i < change->count; i++) {
        if (change->runs[i] != NULL)
            continue;
        change->runs[i] = run_of_scan(change->root, scan, &seen[i], now_ns);
        if (find_by_id(change->older, change->older_count, seen[i].id) == NULL)
            change->runs[i]->told = run_load(change->root->ingest, change->runs[i], &change->index);
    }
}

/* The most urgent question that was asked for a part of it stands for the whole. */
static void inherit(const struct change *change, struct ingest_run *run,
                    const struct ingest_run *before)
{
    if (before != NULL) {
        run->urgency = before->urgency;
        run->listed = before->listed;
    }
    run_inherit(run, &change->index);
}

/* Puts the new runs in place of the old. */
static void exchange(struct change *change)
{
    struct ingest_root *root = change->root;
    int64_t now_ns = clock_monotonic_ns();

    pthread_mutex_lock(&root->ingest->lock);
    for (uint32_t i = 0; i < change->count; i++) {
        struct ingest_run *run = change->runs[i];
        struct ingest_run **before = find_by_id(change->older, change->older_count, run->id);

        if (before != NULL && *before == run)
            continue;
        inherit(change, run, before == NULL ? NULL : *before);
        run_plan(run, now_ns);
        if (!run->told)
            add_news(&change->news, run->id);
        run->told = true;
    }
    free(root->runs);
    root->runs = change->runs;
    root->run_count = change->count;
    free(root->by_id);
    root->by_id = sorted(change->runs, change->count);
    pthread_cond_broadcast(&root->ingest->changed);
    pthread_mutex_unlock(&root->ingest->lock);
}

static bool keeps_gone(const struct ingest_root *root)
{
    const char *uploads = root->ingest->options.uploads;

    return uploads == NULL || !str_equal(root->given, str_of(uploads));
}

static void tell_gone(struct ingest_root *root, struct str id, bool has_segment)
{
    struct ingest *ingest = root->ingest;
    struct error err = {0};

    has_segment = has_segment && keeps_gone(root);
    enum status status = has_segment ? catalog_set_state(ingest->catalog, id, RUN_GONE, 0,
                                                         STR("the files are no longer there"), &err)
                                     : catalog_forget(ingest->catalog, id, &err);

    if (status != OK)
        log_error("run %.*s: %s", STR_ARG(id), err.message);
}

/* Runs of this process that the scan did not find, and those that became others. */
static void retire(struct ingest_root *root, struct ingest_run **older, uint32_t older_count)
{
    for (uint32_t i = 0; i < older_count; i++) {
        struct ingest_run **now = find_by_id(root->by_id, root->run_count, older[i]->id);

        if (now != NULL && *now == older[i])
            continue;
        if (now == NULL && older[i]->listed)
            tell_gone(root, str_of(older[i]->id), run_has_segment(older[i]));
        run_free(older[i]);
    }
}

/* Is what the run consisted of part of another run now? */
static bool lives_on(const struct ingest_root *root, const struct run_record *record)
{
    for (uint32_t i = 0; i < root->run_count; i++) {
        const struct ingest_run *run = root->runs[i];

        for (uint32_t k = 0; k < run->dir_count && run->dir_count > 1; k++) {
            if (str_equal(run->dirs[k], record->dir))
                return true;
        }
    }
    return false;
}

/* Runs of earlier processes that the first scan did not find. */
static void retire_remembered(struct ingest_root *root, struct arena *arena)
{
    struct run_query all = {.limit = UINT32_MAX};
    struct run_record *records = NULL;
    struct error err = {0};
    uint32_t count = 0;
    uint64_t unused;

    if (catalog_runs(root->ingest->catalog, &all, arena, &records, &count, &unused, &err) != OK)
        log_error("%s", err.message);
    for (uint32_t i = 0; i < count; i++) {
        if (!str_equal(records[i].root, root->given) || records[i].state == RUN_GONE)
            continue;
        if (find_by_id(root->by_id, root->run_count, str_c(arena, records[i].id)) == NULL)
            tell_gone(root, records[i].id,
                      records[i].host_count > 0 && !lives_on(root, &records[i]));
    }
}

bool ingest_is_stopping(void *data)
{
    struct ingest *ingest = data;

    pthread_mutex_lock(&ingest->lock);
    bool stopping = ingest->stopping;
    pthread_mutex_unlock(&ingest->lock);
    return stopping;
}

/* The state of all roots together. */
void ingest_tell_scan(struct ingest *ingest, bool active)
{
    struct scan_state state = {.active = active, .done_once = true};

    pthread_mutex_lock(&ingest->telling);
    pthread_mutex_lock(&ingest->lock);
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        state.directories += ingest->roots[i].directories;
        state.files += ingest->roots[i].files;
        state.done_once = state.done_once && ingest->roots[i].scanned;
    }
    pthread_mutex_unlock(&ingest->lock);
    state.active |= !state.done_once; /* a root that nobody looked at yet is no idle one */
    catalog_set_scan(ingest->catalog, state);
    if (state.done_once) {
        pthread_mutex_lock(&ingest->lock);
        ingest->scan_told = true;
        pthread_cond_broadcast(&ingest->changed);
        pthread_mutex_unlock(&ingest->lock);
    }
    pthread_mutex_unlock(&ingest->telling);
}

static bool has_certain_run(const struct ingest_root *root)
{
    for (uint32_t i = 0; i < root->run_count; i++)
        if (root->runs[i]->certain)
            return true;
    return false;
}

/* Where nothing has the name of a profile: what else lies there that may have been meant. */
static uint32_t put_remarks(const struct ingest_root *root, const struct scan *scan,
                            struct arena *arena, struct scan_trouble *ret)
{
    unsigned long long events = scan->event_files, links = scan->links_left;
    struct str place = shell_word(arena, root->given);
    uint32_t count = 0;

    if (has_certain_run(root))
        return 0;
    if (events > 0)
        ret[count++] = (struct scan_trouble){
            .reason =
                str_format(arena,
                           "%llu file%s of TensorBoard scalars (*.tfevents.*) contain%s no "
                           "profile; see them with `tensorboard --logdir %.*s`",
                           events, events == 1 ? "" : "s", events == 1 ? "s" : "", STR_ARG(place)),
            .is_remark = true};
    if (links > 0)
        ret[count++] = (struct scan_trouble){
            .reason = str_format(
                arena,
                "%llu symbolic link%s not followed, such as %.*s; --follow-symlinks follows them",
                links, links == 1 ? " was" : "s were", STR_ARG(scan->first_link)),
            .is_remark = true};
    return count;
}

/* What the scan could not look at, and why there is nothing when it failed altogether. */
static void tell_troubles(struct ingest_root *root, const struct scan *scan, const char *failure,
                          struct arena *arena)
{
    struct scan_trouble *troubles = arena_array(arena, struct scan_trouble, scan->note_count + 3);
    uint32_t count = 0;

    if (failure != NULL)
        troubles[count++] = (struct scan_trouble){.path = STR(""), .reason = str_of(failure)};
    for (uint32_t i = 0; i < scan->note_count; i++)
        troubles[count++] =
            (struct scan_trouble){.path = scan->notes[i].path, .reason = scan->notes[i].reason};
    count += put_remarks(root, scan, arena, &troubles[count]);
    catalog_set_troubles(root->ingest->catalog, root->given, troubles, count);
}

static void take_path(struct ingest_root *root, struct str path)
{
    root->path = memory_resize(NULL, path.count + 1, 1);
    memcpy(root->path, path.at, path.count);
    root->path[path.count] = '\0';
}

static void make_index(struct change *change)
{
    struct file_index *index = &change->index;
    struct error err = {0};
    struct run_file *remembered = NULL;

    index_make(change->root, change->arena, index);
    if (change->is_first &&
        catalog_files(change->root->ingest->catalog, change->root->given, change->arena,
                      &remembered, &index->remembered_count, &err) != OK)
        log_error("%s", err.message);
    index->remembered = remembered;
}

static void take_scan(struct ingest_root *root, struct scan *scan, struct arena *arena)
{
    struct change change = {.root = root,
                            .arena = arena,
                            .is_first = root->path == NULL,
                            .older = sorted(root->runs, root->run_count),
                            .older_count = root->run_count};

    if (change.is_first)
        take_path(root, scan->root);
    make_index(&change);
    pthread_mutex_lock(&root->ingest->lock);
    root->regrouping = root->regroup;
    root->regroup = false;
    index_tell(&change.index, scan, arena);
    pthread_mutex_unlock(&root->ingest->lock);
    find_runs(&change, scan);
    exchange(&change);
    tell_news(root->ingest, &change.news); /* first: there is always one of both */
    retire(root, change.older, change.older_count);
    if (change.is_first)
        retire_remembered(root, arena);
    pthread_mutex_lock(&root->ingest->lock);
    root->regrouping = false; /* the catalog knows, too */
    pthread_cond_broadcast(&root->ingest->changed);
    pthread_mutex_unlock(&root->ingest->lock);
    free(change.older);
}

void ingest_scan_once(struct ingest_root *root)
{
    struct ingest *ingest = root->ingest;
    struct arena *arena = arena_create();
    struct scan_options options = {.follow_symlinks = ingest->options.follow_symlinks,
                                   .cancelled = ingest_is_stopping,
                                   .data = ingest};
    struct scan scan = {.root = root->given};
    struct error err = {0};

    if (catalog_promote(ingest->catalog))
        log_info("the catalog of runs is kept on disk from now on");
    ingest_tell_scan(ingest, true);
    enum status status = root->place != NULL
                             ? bucket_scan(root->place, &options, arena, &scan, &err)
                             : scan_walk(str_c(arena, root->given), &options, arena, &scan, &err);
    root->silence = root->place != NULL ? err : (struct error){0};
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
    ingest_tell_scan(ingest, false);
    arena_destroy(arena);
}
