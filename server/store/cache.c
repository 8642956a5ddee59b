/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped: one entry a content, shared by all who ask, closed some time after the last one
 * lets go.
 *
 *   entries -> [ content, segment, attribution, holders 2 ] -> [ ..., holders 0 ] -> ...
 *
 * Most recently asked for first. Opening happens outside the lock; two who open the same content at
 * once find out afterwards, and the second closes its own. An attribution is opened, and read once
 * to check it, when the first asks who needs it.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lost.h"
#include "store/cache_parts.h"
#include "store/segment.h"

enum { IDLE_MAX = 64 };

struct cache_entry {
    char content[33];
    struct segment *segment;
    struct attribution_file *attribution; /* NULL: not made */
    struct trace named;                   /* with the attribution's own names, once it is there */
    struct str *names;                    /* those */
    uint32_t holders;
    bool forgotten;      /* in no list: closed by the last who holds it */
    atomic_bool damaged; /* found by a check */
    struct cache_entry *next;
};

enum status cache_open(const char *dir, uint64_t bytes_max, struct arena *arena, struct cache **ret,
                       struct str *ret_reason, struct error *err)
{
    struct cache *cache = memory_resize(NULL, 1, sizeof *cache);

    memset(cache, 0, sizeof *cache);
    cache->bytes_max = bytes_max;
    pthread_mutex_init(&cache->lock, NULL);
    enum status status = cache_dir_open(cache, dir, arena, ret_reason, err);
    if (status != OK) {
        pthread_mutex_destroy(&cache->lock);
        free(cache);
        return status;
    }
    *ret = cache;
    return OK;
}

static void entry_close(struct cache_entry *entry)
{
    segment_close(entry->segment);
    attribution_close(entry->attribution);
    free(entry->names);
    free(entry);
}

void cache_close(struct cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->entries != NULL) {
        struct cache_entry *entry = cache->entries;

        cache->entries = entry->next;
        entry_close(entry);
    }
    cache_dir_close(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static bool is_content(const char content[33])
{
    return strnlen(content, 33) == 32 && strspn(content, "0123456789abcdef") == 32;
}

/* Every slice and name that the attribution speaks of is in the trace. */
static bool belongs_to(const struct attribution_file *file, const struct trace *trace)
{
    const struct attribution *attribution = attribution_of_file(file);
    uint32_t count = attribution->entry_count;

    if (attribution_segment(file) != trace->sum)
        return false;

    if (count > 0 && entry_slice(attribution, count - 1) >= trace->slice_count)
        return false;
    for (uint32_t i = 0; i < attribution->op_count; i++) {
        const struct op *op = &attribution->ops[i];
        const name_id names[] = {op->name, op->scope, op->source, op->category, op->module};

        for (size_t j = 0; j < COUNT(names); j++) {
            if (names[j] >= trace->name_count + attribution->text_count)
                return false;
        }
        if (op->caller >= trace->name_count || op->phase >= OP_PHASE_COUNT)
            return false;
        if ((op->program != NO_PROGRAM && op->program >= trace->program_count) ||
            op->kind >= KIND_COUNT)
            return false;
    }
    for (uint32_t i = 0; i < attribution->kernel_count; i++) {
        if (attribution->kernels[i].name >= trace->name_count)
            return false;
    }
    return true;
}

struct belonging {
    const struct attribution_file *file;
    const struct trace *trace;
    bool belongs;
};

static void look_guarded(void *data)
{
    struct belonging *belonging = data;

    belonging->belongs = belongs_to(belonging->file, belonging->trace);
}

static void remove_files(const struct cache *cache, const char content[33])
{
    char path[4096];

    cache_attribution_path(cache, content, path);
    unlink(path);
    cache_segment_path(cache, content, path);
    unlink(path);
}

/* Not where it could not be opened this time. One that is damaged, or not there, is removed with
 * its segment, so that both are made again: they are made and adopted together. */
static enum status open_attribution(const struct cache *cache, const char content[33],
                                    const struct trace *trace, struct attribution_file **ret,
                                    struct error *err)
{
    struct error why = {0};
    char path[4096];

    *ret = NULL;
    cache_attribution_path(cache, content, path);
    enum status status = attribution_open(path, ret, &why);
    struct belonging belonging = {.file = *ret, .trace = trace};
    if (status == OK && !(lost_guard(look_guarded, &belonging) && belonging.belongs)) {
        attribution_close(*ret);
        *ret = NULL;
        status = fail(&why, ERR_FORMAT, "%s is of another segment", path);
    }
    if (status == OK)
        return OK;
    if (status != ERR_FORMAT && status != ERR_TRUNCATED && status != ERR_NOT_FOUND)
        return fail(err, status, "%s", why.message);
    remove_files(cache, content);
    return fail(err, ERR_NOT_FOUND, "the index of this file was damaged (%s)", why.message);
}

bool cache_has_ops(const struct cache *cache, const char content[33])
{
    char path[4096];
    bool has_ops;

    cache_attribution_path(cache, content, path);
    return attribution_has_ops(path, &has_ops, &(struct error){0}) == OK && has_ops;
}

static enum status open_segment(const struct cache *cache, const char content[33],
                                struct segment **ret, struct error *err)
{
    struct error why = {0};
    char path[4096];

    cache_segment_path(cache, content, path);
    enum status status = segment_open(path, ret, &why);
    if (status == OK && strcmp(segment_kept_as(*ret), content) != 0) {
        segment_close(*ret);
        status = fail(&why, ERR_FORMAT, "%s is the segment of another file", path);
    }
    if (status == OK)
        return OK;
    if (status != ERR_NOT_FOUND && status != ERR_IO && status != ERR_PERMISSION)
        unlink(path);
    return fail(err, ERR_NOT_FOUND, "the index of this file is not in the cache (%s)", why.message);
}

bool cache_has(struct cache *cache, const char content[33])
{
    struct error why = {0};
    struct segment *segment;

    if (!is_content(content) || open_segment(cache, content, &segment, &why) != OK)
        return false;
    segment_close(segment);
    return true;
}

/* The most recently used files go last when the cache is full. */
static void touch(const struct cache *cache, const char content[33])
{
    char path[4096];

    cache_segment_path(cache, content, path);
    utimensat(AT_FDCWD, path, NULL, 0);
}

/* The entry of this content, moved to the front; NULL when there is none. Lock held. */
static struct cache_entry *find(struct cache *cache, const char content[33])
{
    for (struct cache_entry **at = &cache->entries; *at != NULL; at = &(*at)->next) {
        struct cache_entry *entry = *at;

        if (strcmp(entry->content, content) != 0)
            continue;
        *at = entry->next;
        entry->next = cache->entries;
        cache->entries = entry;
        return entry;
    }
    return NULL;
}

bool cache_holds(struct cache *cache, const char content[33])
{
    bool held = false;

    pthread_mutex_lock(&cache->lock);
    for (const struct cache_entry *entry = cache->entries; entry != NULL; entry = entry->next)
        held = held || (entry->holders > 0 && strcmp(entry->content, content) == 0);
    pthread_mutex_unlock(&cache->lock);
    return held;
}

/* Takes idle entries beyond the limit out of the list: the oldest ones. Lock held. */
static struct cache_entry *take_idle(struct cache *cache)
{
    struct cache_entry *taken = NULL;
    uint32_t idle = 0;

    for (struct cache_entry **at = &cache->entries; *at != NULL;) {
        struct cache_entry *entry = *at;

        if (entry->holders > 0 || idle++ < IDLE_MAX) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->next = taken;
        taken = entry;
        cache->idle_count--;
    }
    return taken;
}

static void close_list(struct cache_entry *list)
{
    while (list != NULL) {
        struct cache_entry *next = list->next;

        entry_close(list);
        list = next;
    }
}

/* The segment's own, unless the attribution adds names. */
static const struct trace *trace_of(const struct cache_entry *entry)
{
    return entry->attribution != NULL && entry->named.lent_name_count > 0
               ? &entry->named
               : segment_trace(entry->segment);
}

static struct cached hold(struct cache *cache, struct cache_entry *entry)
{
    if (entry->holders++ == 0)
        cache->idle_count--;
    return (struct cached){
        .trace = trace_of(entry),
        .attribution = entry->attribution == NULL ? NULL : attribution_of_file(entry->attribution),
        .entry = entry,
    };
}

static bool acquire_mapped(struct cache *cache, const char content[33], struct cached *ret)
{
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = find(cache, content);
    if (entry != NULL)
        *ret = hold(cache, entry);
    pthread_mutex_unlock(&cache->lock);
    return entry != NULL;
}

/* What is damaged is found by nobody from now on, and stays for those who hold it. Lock held. */
static void forget(struct cache *cache, struct cache_entry *forgotten)
{
    for (struct cache_entry **at = &cache->entries; *at != NULL; at = &(*at)->next) {
        if (*at != forgotten)
            continue;
        *at = forgotten->next;
        forgotten->next = NULL;
        forgotten->forgotten = true;
        return;
    }
}

static void take_attribution(struct cache_entry *entry, struct attribution_file *file)
{
    const struct attribution *of = attribution_of_file(file);

    entry->attribution = file;
    entry->names = memory_resize(NULL, (size_t)of->text_count + 1, sizeof *entry->names);
    attribution_lend(of, segment_trace(entry->segment), entry->names, &entry->named);
}

/* The attribution of what is held already, where there is one by now. */
static enum status complete(struct cache *cache, struct cached *cached, struct error *err)
{
    struct attribution_file *file;
    enum status status = open_attribution(cache, cached->entry->content, cached->trace, &file, err);

    pthread_mutex_lock(&cache->lock);
    if (status == ERR_NOT_FOUND)
        forget(cache, cached->entry);
    if (status == OK && cached->entry->attribution == NULL) {
        take_attribution(cached->entry, file);
        file = NULL;
    }
    if (cached->entry->attribution != NULL) {
        cached->attribution = attribution_of_file(cached->entry->attribution);
        cached->trace = trace_of(cached->entry);
    }
    pthread_mutex_unlock(&cache->lock);
    if (status == OK)
        attribution_close(file);
    return status;
}

/* Puts a new entry at the front, or gives way to one that another thread put meanwhile. */
static void publish(struct cache *cache, struct cache_entry *entry, struct cached *ret)
{
    struct cache_entry *ours = entry;

    pthread_mutex_lock(&cache->lock);
    entry = find(cache, ours->content);
    if (entry == NULL) {
        entry = ours;
        ours = NULL;
        entry->next = cache->entries;
        cache->entries = entry;
        cache->idle_count++;
    }
    *ret = hold(cache, entry);
    pthread_mutex_unlock(&cache->lock);
    if (ours != NULL)
        entry_close(ours);
}

enum status cache_acquire_trace(struct cache *cache, const char content[33], struct cached *ret,
                                struct error *err)
{
    struct segment *segment;
    struct cache_entry *entry;

    if (!is_content(content))
        return fail(err, ERR_NOT_FOUND, "this file was not indexed");
    if (!acquire_mapped(cache, content, ret)) {
        TRY(open_segment(cache, content, &segment, err));
        entry = memory_resize(NULL, 1, sizeof *entry);
        *entry = (struct cache_entry){.segment = segment};
        memcpy(entry->content, content, sizeof entry->content);
        publish(cache, entry, ret);
    }
    touch(cache, content);
    return OK;
}

enum status cache_acquire(struct cache *cache, const char content[33], struct cached *ret,
                          struct error *err)
{
    TRY(cache_acquire_trace(cache, content, ret, err));
    if (ret->attribution != NULL)
        return OK;

    enum status status = complete(cache, ret, err);

    if (status != OK)
        cache_release(cache, *ret);
    return status;
}

bool cache_damaged(struct cached cached)
{
    return cached.entry != NULL &&
           (atomic_load(&cached.entry->damaged) || trace_damaged(cached.trace) ||
            (cached.attribution != NULL && attribution_lost(cached.entry->attribution)));
}

static void check_guarded(void *trace)
{
    (void)trace_check(trace); /* it marks what it finds */
}

bool cache_check(struct cache *cache, struct cached cached, bool files)
{
    (void)lost_guard(check_guarded, (void *)(uintptr_t)cached.trace);
    if (files && !cache_damaged(cached)) {
        struct attribution_file *file;
        enum status status =
            open_attribution(cache, cached.entry->content, cached.trace, &file, &(struct error){0});

        if (status == OK)
            attribution_close(file);
        else if (status == ERR_NOT_FOUND)
            atomic_store(&cached.entry->damaged, true);
    }
    return !cache_damaged(cached);
}

bool cache_drop_damaged(struct cache *cache, struct cached cached)
{
    if (!cache_damaged(cached))
        return false;
    pthread_mutex_lock(&cache->lock);
    bool is_known = cached.entry->forgotten;
    if (!is_known) { /* else somebody has done it, and a new one may lie there by now */
        forget(cache, cached.entry);
        remove_files(cache, cached.entry->content);
    }
    pthread_mutex_unlock(&cache->lock);
    return true;
}

void cache_release(struct cache *cache, struct cached cached)
{
    struct cache_entry *closing = NULL;

    if (cached.entry == NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    if (--cached.entry->holders == 0) {
        if (cached.entry->forgotten)
            closing = cached.entry;
        else if (++cache->idle_count > IDLE_MAX)
            closing = take_idle(cache);
    }
    pthread_mutex_unlock(&cache->lock);
    close_list(closing);
}
