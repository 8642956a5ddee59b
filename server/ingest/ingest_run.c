/* SPDX-License-Identifier: Apache-2.0 */
/* A run and its files: how each state follows from the one before. */
#include "ingest/ingest_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "decode/decode.h"
#include "discover/session.h"

#define MS INT64_C(1000000)

enum {
    SETTLED_MS = 2000,   /* unchanged for so long: whoever wrote it is done */
    GROWING_MS = 10000,  /* growing for so long: what is there is shown meanwhile */
    GROWING_FACTOR = 10, /* and again after that many times what reading it cost */
    LOOK_MS = 500,       /* between two looks at a file that is being written */
    CHANGES_MAX = 5,     /* a doubling of the delay each time it changed while it was read */
};

static int by_id(const void *key, const void *item)
{
    const struct str *id = key;
    const struct ingest_run *const *run = item;

    return str_compare(*id, str_of((*run)->id));
}

struct ingest_run *run_find(const struct ingest *ingest, struct str id)
{
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        const struct ingest_root *root = &ingest->roots[i];

        if (root->by_id != NULL) {
            struct ingest_run **found =
                bsearch(&id, root->by_id, root->run_count, sizeof *root->by_id, by_id);

            if (found != NULL)
                return *found;
            continue;
        }
        for (uint32_t j = 0; j < root->run_count; j++) {
            if (str_equal(str_of(root->runs[j]->id), id))
                return root->runs[j];
        }
    }
    return NULL;
}

struct ingest_file *run_file_find(struct ingest_run *run, struct str path)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        if (str_equal(run->files[i].path, path))
            return &run->files[i];
    }
    return NULL;
}

static char *keep(char *old, struct str text)
{
    free(old);
    if (text.count == 0)
        return NULL;

    char *copy = memory_resize(NULL, text.count + 1, 1);

    memcpy(copy, text.at, text.count);
    copy[text.count] = '\0';
    return copy;
}

void file_set_state(struct ingest_file *file, enum file_state state, struct str error)
{
    file->state = state;
    file->error = keep(file->error, error);
    if (state != FILE_INDEXING)
        file->progress = 0;
}

void file_set_format(struct ingest_file *file, struct str format)
{
    file->format = keep(file->format, format);
}

/* A Unix time of file time; false where it is unknown or out of reason. */
static bool unix_of(const struct index_result *result, int64_t ps, int64_t *ret)
{
    return result->has_epoch && !__builtin_add_overflow(result->epoch_ns, ps / 1000, ret);
}

bool file_set_known(struct ingest_file *file, const struct index_result *result)
{
    struct ingest_file was = *file;
    bool timed = result->slice_count > 0 || result->part == PART_SNAPSHOT;
    bool same_group = str_equal(str_of(file->group), result->group);

    file->has_window = timed && unix_of(result, result->start_ps, &file->start_ns) &&
                       unix_of(result, result->end_ps, &file->end_ns);
    file->job_rank = result->rank;
    if (!same_group)
        file->group = keep(file->group, result->group);
    return !same_group || file->has_window != was.has_window || file->job_rank != was.job_rank ||
           (file->has_window && (file->start_ns != was.start_ns || file->end_ns != was.end_ns));
}

void file_forget(struct ingest_file *file)
{
    file->content[0] = '\0';
    file->has_window = false;
    file->group = keep(file->group, STR(""));
    file->job_rank = -1;
}

void file_changed(struct ingest_file *file, const struct file_stamp *stamp, int64_t now_ns)
{
    if (file_stamp_equal(&file->stamp, stamp))
        return;
    if (file->state != FILE_WRITING && file->state != FILE_INDEXING)
        file->first_seen_ns = now_ns;
    if (file->stamp.inode != stamp->inode || file->stamp.size > stamp->size)
        file->took_ns = 0; /* another file: it did not grow */
    file->stamp = *stamp;
    file->seen_ns = now_ns;
    file->transient = false;
    if (file->state != FILE_INDEXING)
        file_set_state(file, FILE_QUEUED, STR(""));
}

struct ingest_file *run_file_with(struct ingest_run *run, struct str path)
{
    struct arena *arena = arena_create();
    struct ingest_file *ret = NULL;
    struct str with;

    if (decode_read_with(path, arena, &with))
        ret = run_file_find(run, with);
    arena_destroy(arena);
    return ret;
}

/* One that is being read now finds, when it was, that it is not what it was asked to read. */
void file_read_again(struct ingest_file *file, int64_t now_ns)
{
    struct file_stamp stamp = file->stamp;

    file->stamp = (struct file_stamp){0};
    if (file->state != FILE_INDEXING)
        file_changed(file, &stamp, now_ns);
}

struct ingest_file *run_file_search(struct ingest *ingest, struct str id, struct str path,
                                    struct ingest_run **ret)
{
    *ret = run_find(ingest, id);
    struct ingest_file *file = *ret == NULL ? NULL : run_file_find(*ret, path);

    for (uint32_t i = 0; file == NULL && i < ingest->options.root_count; i++) {
        const struct ingest_root *root = &ingest->roots[i];

        for (uint32_t j = 0; file == NULL && j < root->run_count; j++) {
            *ret = root->runs[j];
            file = run_file_find(*ret, path);
            if (file != NULL && file->state != FILE_INDEXING)
                file = NULL; /* another root's of the same name */
        }
    }
    return file;
}

static struct file_stamp stamp_of(const struct scan_file *seen)
{
    return (struct file_stamp){.device = seen->device,
                               .inode = seen->inode,
                               .size = seen->bytes,
                               .modified_ns = seen->modified_ns,
                               .changed_ns = seen->changed_ns};
}

struct ingest_run *run_of_scan(struct ingest_root *root, const struct scan *scan,
                               const struct sighting *seen, int64_t now_ns)
{
    const struct scan_run *found = seen->run;
    struct arena *arena = arena_create();
    struct ingest_run *run = arena_new(arena, struct ingest_run);
    struct str *dirs = arena_array(arena, struct str, found->dir_count);

    *run = (struct ingest_run){
        .arena = arena,
        .root = root,
        .name = str_copy(arena, found->name),
        .dir = str_copy(arena, found->dir),
        .dirs = dirs,
        .dir_count = found->dir_count,
        .files = arena_array(arena, struct ingest_file, found->file_count),
        .file_count = found->file_count,
        .modified_ns = found->modified_ns,
        .about_stamp = seen->about_stamp,
        .certain = found->certain,
        .joinable = found->joinable,
    };
    memcpy(run->id, seen->id, sizeof run->id);
    for (uint32_t i = 0; i < found->dir_count; i++)
        dirs[i] = str_copy(arena, found->dirs[i]);
    for (uint32_t i = 0; i < found->file_count; i++) {
        const struct scan_run_file *from = &found->files[i];

        run->files[i] = (struct ingest_file){
            .path = str_copy(arena, scan->files[from->file].path),
            .host = str_copy(arena, from->host),
            .role = from->role,
            .rank = from->rank,
            .stamp = stamp_of(&scan->files[from->file]),
            .state = FILE_QUEUED,
            .seen_ns = now_ns,
            .first_seen_ns = now_ns,
            .job_rank = -1,
            .is_whole = root->place != NULL,
        };
    }
    return run;
}

bool run_is(const struct ingest_run *run, const struct scan *scan, const struct sighting *seen)
{
    const struct scan_run *found = seen->run;

    if (run->file_count != found->file_count || !str_equal(run->name, found->name) ||
        run->about_stamp != seen->about_stamp)
        return false;
    for (uint32_t i = 0; i < run->file_count; i++) {
        const struct scan_file *file = &scan->files[found->files[i].file];
        const struct file_stamp stamp = stamp_of(file);

        if (!str_equal(run->files[i].path, file->path) ||
            run->files[i].role != found->files[i].role ||
            !file_stamp_equal(&run->files[i].stamp, &stamp))
            return false;
    }
    return true;
}

void run_free(struct ingest_run *run)
{
    if (run == NULL)
        return;
    for (uint32_t i = 0; i < run->file_count; i++) {
        free(run->files[i].format);
        free(run->files[i].group);
        free(run->files[i].error);
    }
    arena_destroy(run->arena);
}

static bool is_final(enum file_state state, bool remembers_ignored)
{
    return state == FILE_READY || state == FILE_PARTIAL ||
           (state == FILE_IGNORED && remembers_ignored);
}

static void load_file(struct ingest_file *file, const struct run_file *known)
{
    file_set_state(file, known->state, known->error);
    file_set_format(file, known->format);
    memcpy(file->content, known->content, sizeof file->content);
    file->part = known->part;
    file->has_window = known->has_window;
    file->start_ns = known->start_ns;
    file->end_ns = known->end_ns;
    file->group = keep(file->group, known->group);
    file->job_rank = known->rank;
}

static const struct run_file *find_recorded(const struct run_record *record,
                                            const struct ingest_file *file)
{
    for (uint32_t i = 0; i < record->run_file_count; i++) {
        const struct run_file *known = &record->files[i];

        if (str_equal(known->path, file->path) && file_stamp_equal(&file->stamp, &known->stamp))
            return known;
    }
    return NULL;
}

/* Are the files that it is read together with what they were when it was read? */
static bool has_beside(struct ingest_run *run, const struct ingest_file *file,
                       const struct run_record *record, const struct file_index *index)
{
    if (!decode_reads_beside(file->path))
        return true;
    for (uint32_t i = 0; i < run->file_count; i++) {
        const struct ingest_file *other = &run->files[i];

        if (run_file_with(run, other->path) == file &&
            (record == NULL || find_recorded(record, other) == NULL) &&
            index_remembered(index, other->path, &other->stamp) == NULL)
            return false;
    }
    return true;
}

/* True when the record says all of the run as it is; of a run that nobody reads now also what could
 * not be read before. */
static bool load_files(const struct ingest *ingest, struct ingest_run *run,
                       const struct run_record *record, const struct file_index *index)
{
    bool rests = !run_is_wanted(ingest, run);
    uint32_t known_count = 0;

    for (uint32_t i = 0; i < run->file_count; i++) {
        struct ingest_file *file = &run->files[i];
        const struct run_file *known = record == NULL ? NULL : find_recorded(record, file);

        known_count += known != NULL &&
                       (known->state == FILE_COVERED || (rests && known->state == FILE_FAILED) ||
                        is_final(known->state, ingest->remembers_ignored));
        if (known == NULL)
            known = index_remembered(index, file->path, &file->stamp);
        if (known != NULL && is_final(known->state, ingest->remembers_ignored) &&
            has_beside(run, file, record, index))
            load_file(file, known);
    }
    return record != NULL && known_count == run->file_count &&
           record->run_file_count == run->file_count &&
           (record->state == RUN_READY || record->state == RUN_PARTIAL ||
            (rests && record->state == RUN_FAILED)) &&
           record->about.stamp == run->about_stamp && str_equal(record->name, run->name) &&
           str_equal(record->root, run->root->given);
}

bool run_load(const struct ingest *ingest, struct ingest_run *run, const struct file_index *index)
{
    struct arena *arena = arena_create();
    struct run_record record;
    struct error unknown = {0};

    run->listed = catalog_run(ingest->catalog, str_of(run->id), arena, &record, &unknown) == OK;
    bool all = load_files(ingest, run, run->listed ? &record : NULL, index);
    arena_destroy(arena);
    return all;
}

/* What is read together with a file that is new, or another than before, is read again. */
static void read_with_again(struct ingest_run *run, const bool *is_changed)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        struct ingest_file *with = is_changed[i] ? run_file_with(run, run->files[i].path) : NULL;

        if (with != NULL)
            file_read_again(with, run->files[i].seen_ns);
    }
}

void run_inherit(struct ingest_run *run, const struct file_index *index)
{
    bool *is_changed = arena_array(run->arena, bool, run->file_count);

    for (uint32_t i = 0; i < run->file_count; i++) {
        struct ingest_file *file = &run->files[i], *before = index_find(index, file->path);

        is_changed[i] = before == NULL || !file_stamp_equal(&before->stamp, &file->stamp);
        if (before == NULL)
            continue;
        struct ingest_file now = *file;

        free(file->format);
        free(file->error);
        free(file->group);
        *file = *before;
        file->path = now.path;
        file->host = now.host;
        file->role = now.role;
        file->rank = now.rank;
        before->format = before->error = before->group = NULL;
        before->content[0] = '\0';
        file_changed(file, &now.stamp, now.seen_ns);
        if (file->state == FILE_COVERED)
            file_set_state(file, FILE_QUEUED, STR(""));
    }
    read_with_again(run, is_changed);
}

static bool is_settled(const struct ingest_file *file, int64_t now_ns)
{
    return file->is_whole || clock_unix_ns() - file->stamp.modified_ns >= SETTLED_MS * MS ||
           now_ns - file->seen_ns >= SETTLED_MS * MS;
}

/* The earliest moment to read a file that does not stop growing. */
static int64_t growing_from(const struct ingest_file *file)
{
    int64_t pause = GROWING_FACTOR * file->took_ns;

    if (file->took_ns == 0)
        return file->first_seen_ns + GROWING_MS * MS;
    return file->ended_ns + (pause > GROWING_MS * MS ? pause : GROWING_MS * MS);
}

/* XProf writes its answer down also where it found nothing: that is no failed file. */
static void take_empty(struct ingest_file *file)
{
    file_forget(file);
    if (decode_is_xprof_cache(path_base(file->path))) {
        file_set_format(file, STR("xprof-cache"));
        file_set_state(file, FILE_IGNORED,
                       STR("An empty cache of XProf: it is not needed and can be deleted."));
    } else if (decode_is_tool_output(path_base(file->path))) {
        file_set_format(file, STR("empty"));
        file_set_state(file, FILE_IGNORED,
                       STR("An empty file that TensorFlow's profiler wrote beside its profile: it "
                           "is not needed."));
    } else {
        file_set_state(file, FILE_FAILED, STR("the file is empty (0 bytes)"));
    }
}

/* An open file is read when nobody writes it any more, or when it has been growing for long. One
 * that was read before keeps its pause even when it has settled. */
static void plan_file(struct ingest_file *file, int64_t now_ns)
{
    int64_t from = growing_from(file);
    bool settled = is_settled(file, now_ns) && (file->took_ns == 0 || now_ns >= from);

    if (file->stamp.size == 0 && settled) {
        take_empty(file);
    } else if (file->state == FILE_WRITING && file->attempts > 0 && now_ns < file->due_ns) {
        file_set_state(file, FILE_WRITING, STR("the file changed while it was read"));
    } else if (settled || now_ns >= from) {
        file->growing = !settled;
        file_set_state(file, FILE_QUEUED, STR(""));
    } else {
        file_set_state(file, FILE_WRITING, STR("the file is being written"));
        file->due_ns = now_ns + LOOK_MS * MS;
    }
}

static bool is_readable(enum file_state state)
{
    return state != FILE_FAILED && state != FILE_IGNORED && state != FILE_COVERED;
}

/* A copy says less than the host's trace, and than the copies before it: the file that says more,
 * rather one that was read already; NULL: there is none. */
static const struct ingest_file *better_than(const struct ingest_run *run, uint32_t index)
{
    const struct ingest_file *file = &run->files[index], *ret = NULL;

    for (uint32_t i = 0; file->role == SCAN_COPY && i < run->file_count; i++) {
        const struct ingest_file *other = &run->files[i];
        bool better = other->role == SCAN_TRACE || (other->role == SCAN_COPY && i < index);

        if (better && is_readable(other->state) &&
            (other->host.count == 0 || file->host.count == 0 ||
             str_equal(other->host, file->host)) &&
            (ret == NULL || ret->content[0] == '\0'))
            ret = other;
    }
    return ret;
}

/* A copy that was read stands for its host until the better file is read, too: never both. */
static void plan_copy(struct ingest_run *run, uint32_t index)
{
    struct ingest_file *file = &run->files[index];
    const struct ingest_file *better = better_than(run, index);

    if (better != NULL && file->state != FILE_COVERED)
        file_set_state(file, FILE_COVERED, STR("another file of this host holds more"));
    else if (better == NULL && file->state == FILE_COVERED)
        file_set_state(file, FILE_QUEUED, STR(""));
    if (better != NULL && better->content[0] != '\0')
        file_forget(file);
}

void run_plan(struct ingest_run *run, int64_t now_ns)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        struct ingest_file *file = &run->files[i];

        if (file->role == SCAN_COPY && file->state != FILE_INDEXING)
            plan_copy(run, i);
        if (file->state == FILE_FAILED && file->transient && now_ns >= file->due_ns) {
            file->transient = false;
            file_set_state(file, FILE_QUEUED, STR(""));
        }
        if (file->state == FILE_QUEUED || file->state == FILE_WRITING)
            plan_file(file, now_ns);
    }
}

static uint32_t count_state(const struct ingest_run *run, enum file_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->file_count; i++)
        count += run->files[i].state == state;
    return count;
}

bool run_has_segment(const struct ingest_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        if (run->files[i].content[0] != '\0')
            return true;
    }
    return false;
}

enum run_state run_state_of(const struct ingest_run *run)
{
    if (count_state(run, FILE_INDEXING) > 0)
        return RUN_INDEXING;
    if (count_state(run, FILE_QUEUED) > 0)
        return RUN_QUEUED;
    if (count_state(run, FILE_WRITING) > 0)
        return RUN_WRITING;
    if (count_state(run, FILE_READY) + count_state(run, FILE_PARTIAL) == 0)
        return RUN_FAILED;
    return count_state(run, FILE_FAILED) > 0 ? RUN_PARTIAL : RUN_READY;
}

/* A file that another program is for, and not merely something that lies there. */
static bool holds_recording(const struct ingest_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        const struct ingest_file *file = &run->files[i];

        if (file->state == FILE_IGNORED && decode_is_recording(str_of(file->format), file->path))
            return true;
    }
    return false;
}

bool run_is_shown(const struct ingest_run *run)
{
    return run->certain || run_has_segment(run) || count_state(run, FILE_FAILED) > 0 ||
           holds_recording(run);
}

bool run_may_change(const struct ingest_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        if (run->files[i].group != NULL)
            return true;
    }
    return run->joinable;
}

double run_progress(const struct ingest_run *run)
{
    double all = 0, done = 0;

    for (uint32_t i = 0; i < run->file_count; i++) {
        const struct ingest_file *file = &run->files[i];
        bool open = file->state == FILE_QUEUED || file->state == FILE_WRITING;
        double bytes = (double)file->stamp.size;

        if (file->state == FILE_COVERED)
            continue;
        all += bytes;
        done += open ? 0 : bytes * (file->state == FILE_INDEXING ? file->progress : 1);
    }
    return all > 0 ? done / all : 0;
}
