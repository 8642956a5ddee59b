/* SPDX-License-Identifier: Apache-2.0 */
/* A root that is not a directory: a bucket, or a file behind https.
 *
 *   list -> objects: path, size, time, version        kept by path until the next list
 *   an object that is wanted -> <cache>/downloads/<hash of place, path, version>/<name>
 *
 * From there it is read as any file is. A version that was downloaded once is not asked for again,
 * by no process that shares the cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "discover/session.h"
#include "ingest/ingest_parts.h"
#include "remote/remote.h"
#include "serve/bundle/about.h"

#define MS INT64_C(1000000)

enum {
    SHORTEST_MS = 5000, /* after a change, or a failure, */
    REQUEST_MS = 30000, /* and twice as long each time, up to this for each request of a list:
                         * 120 requests an hour at most */
    NAME_BYTES_MAX = 200,
    ABOUT_BYTES_MAX = 65536,
    FETCHING_COUNT = 16,
};

struct objects { /* of one list, by path; of its own arena */
    struct arena *arena;
    struct remote_object *at;
    uint32_t count, capacity;
    struct hash128 sum; /* of all */
};

struct bucket {
    struct remote *remote;
    struct cache *cache;
    struct str name;
    uint64_t device; /* of stamps: this place's */
    atomic_bool is_file;
    pthread_mutex_t lock; /* of what follows */
    struct objects objects;
    int64_t pause_ns, silent_since_ns;
    pthread_mutex_t fetching[FETCHING_COUNT]; /* one download of one object */
};

static struct bytes bytes_of(struct str text)
{
    return (struct bytes){(const uint8_t *)text.at, text.count};
}

enum status bucket_open(struct str text, struct cache *cache, struct bucket **ret,
                        struct error *err)
{
    struct remote *remote;

    TRY(remote_open(text, &remote, err));
    struct bucket *place = memory_zeroed(1, sizeof *place);

    place->remote = remote;
    place->cache = cache;
    place->name = remote_name(remote);
    place->device = hash64(bytes_of(place->name)) >> 1 | 1;
    place->objects.arena = arena_create();
    place->pause_ns = SHORTEST_MS * MS;
    pthread_mutex_init(&place->lock, NULL);
    for (size_t i = 0; i < FETCHING_COUNT; i++)
        pthread_mutex_init(&place->fetching[i], NULL);
    *ret = place;
    return OK;
}

void bucket_close(struct bucket *place)
{
    if (place == NULL)
        return;
    for (size_t i = 0; i < FETCHING_COUNT; i++)
        pthread_mutex_destroy(&place->fetching[i]);
    pthread_mutex_destroy(&place->lock);
    arena_destroy(place->objects.arena);
    remote_close(place->remote);
    free(place);
}

void bucket_cancel(struct bucket *place)
{
    if (place != NULL)
        remote_cancel(place->remote);
}

int64_t bucket_pause_ns(const struct bucket *place)
{
    struct bucket *open = (struct bucket *)(uintptr_t)place;

    pthread_mutex_lock(&open->lock);
    int64_t ret = open->pause_ns;
    pthread_mutex_unlock(&open->lock);
    return ret;
}

bool bucket_is_file(const struct bucket *place)
{
    return atomic_load(&place->is_file);
}

/* Another version is another file. */
static struct file_stamp stamp_of(const struct bucket *place, const struct remote_object *object)
{
    return (struct file_stamp){.device = place->device,
                               .inode = hash64(bytes_of(object->version)) >> 1 | 1,
                               .size = object->bytes,
                               .modified_ns = object->modified_ns,
                               .changed_ns = object->modified_ns};
}

struct reading { /* a list on its way into a scan */
    struct bucket *place;
    const struct scan_options *options;
    struct scan_objects *scan;
    struct objects objects;
    struct hasher *hasher;
};

static void keep(struct reading *reading, const struct remote_object *object)
{
    struct objects *objects = &reading->objects;

    if (objects->count == objects->capacity) {
        uint32_t capacity = objects->capacity == 0 ? 256 : 2 * objects->capacity;
        struct remote_object *more = arena_array(objects->arena, struct remote_object, capacity);

        if (objects->count > 0)
            memcpy(more, objects->at, objects->count * sizeof *more);
        objects->at = more;
        objects->capacity = capacity;
    }
    struct remote_object *kept = &objects->at[objects->count++];

    *kept = *object;
    kept->path = str_copy(objects->arena, object->path);
    kept->version = str_copy(objects->arena, object->version);
    hasher_put(reading->hasher, bytes_of(object->path));
    hasher_put(reading->hasher, bytes_of(object->version));
    hasher_put(reading->hasher, (struct bytes){(const uint8_t *)&object->bytes, 8});
}

/* What a program says of its run, and no profile. */
static bool is_about(const struct remote_object *object)
{
    return object->bytes <= ABOUT_BYTES_MAX &&
           str_equal(path_base(object->path), STR("jview.json"));
}

static bool take(void *data, const struct remote_object *object)
{
    struct reading *reading = data;
    const struct file_stamp stamp = stamp_of(reading->place, object);
    const struct scan_file file = {.path = object->path,
                                   .bytes = stamp.size,
                                   .device = stamp.device,
                                   .inode = stamp.inode,
                                   .modified_ns = stamp.modified_ns,
                                   .changed_ns = stamp.changed_ns};

    if (!scan_objects_add(reading->scan, &file))
        return false;
    if (scan_objects_took(reading->scan) || is_about(object))
        keep(reading, object);
    return !reading->options->cancelled(reading->options->data);
}

static int by_path(const void *a, const void *b)
{
    return str_compare(((const struct remote_object *)a)->path,
                       ((const struct remote_object *)b)->path);
}

static int64_t longer(int64_t pause_ns, uint64_t requests)
{
    int64_t most_ns = REQUEST_MS * MS * (int64_t)(requests > 0 ? requests : 1);

    return 2 * pause_ns < most_ns ? 2 * pause_ns : most_ns;
}

/* The list replaces the one before. */
static void conclude(struct reading *reading, uint64_t requests)
{
    struct bucket *place = reading->place;
    struct objects *objects = &reading->objects;

    if (objects->count > 1)
        qsort(objects->at, objects->count, sizeof *objects->at, by_path);
    objects->sum = hasher_end(reading->hasher);
    pthread_mutex_lock(&place->lock);
    bool same = objects->count == place->objects.count &&
                memcmp(&objects->sum, &place->objects.sum, sizeof objects->sum) == 0;
    place->pause_ns = same ? longer(place->pause_ns, requests) : SHORTEST_MS * MS;
    place->silent_since_ns = 0;
    arena_destroy(place->objects.arena);
    place->objects = *objects;
    pthread_mutex_unlock(&place->lock);
}

/* What was listed before stays; the sentence says since when it is all there is. */
static enum status tell_silence(struct bucket *place, const struct error *why, struct arena *arena,
                                struct error *err)
{
    char since[16] = "";

    pthread_mutex_lock(&place->lock);
    place->pause_ns = longer(place->pause_ns, 2);
    if (place->silent_since_ns == 0)
        place->silent_since_ns = clock_unix_ns();
    time_t seconds = (time_t)(place->silent_since_ns / 1000000000);
    bool had = place->objects.count > 0;
    pthread_mutex_unlock(&place->lock);
    struct tm parts;

    strftime(since, sizeof since, "%H:%M", localtime_r(&seconds, &parts));
    if (!had)
        return fail(err, why->code, "%s", why->message);
    return fail(err, why->code, "%.*s",
                STR_ARG(str_format(arena, "%s (since %s; runs listed before stay listed)",
                                   why->message, since)));
}

enum status bucket_scan(struct bucket *place, const struct scan_options *options,
                        struct arena *arena, struct scan *ret, struct error *err)
{
    struct reading reading = {.place = place, .options = options, .hasher = hasher_create()};
    uint64_t before = remote_requests(place->remote);
    struct error why = {0};
    bool is_file = false;

    reading.objects.arena = arena_create();
    reading.scan = scan_objects_begin(place->name, options, arena, ret);
    enum status status = remote_list(place->remote, take, &reading, &is_file, &why);

    if (status == OK && options->cancelled(options->data))
        status = fail(&why, ERR_CANCELLED, "the scan was stopped");
    scan_objects_end(reading.scan);
    atomic_store(&place->is_file, is_file);
    if (is_file)
        ret->root = path_dir(place->name);
    if (status == OK || status == ERR_NOT_FOUND) {
        conclude(&reading, remote_requests(place->remote) - before);
        return status == OK ? OK : fail(err, status, "%s", why.message);
    }
    hasher_end(reading.hasher);
    arena_destroy(reading.objects.arena);
    return tell_silence(place, &why, arena, err);
}

/* Copied into the arena; false: it is not of the last list. */
static bool find(struct bucket *place, struct str path, struct arena *arena,
                 struct remote_object *ret)
{
    const struct remote_object key = {.path = path};

    pthread_mutex_lock(&place->lock);
    const struct remote_object *found =
        place->objects.count == 0
            ? NULL
            : bsearch(&key, place->objects.at, place->objects.count, sizeof key, by_path);
    if (found != NULL) {
        *ret = *found;
        ret->path = str_copy(arena, found->path);
        ret->version = str_copy(arena, found->version);
    }
    pthread_mutex_unlock(&place->lock);
    return found != NULL;
}

bool bucket_look(struct bucket *place, struct str path, struct file_stamp *ret)
{
    struct arena *arena = arena_create();
    struct remote_object object;
    bool found = find(place, path, arena, &object);

    if (found)
        *ret = stamp_of(place, &object);
    arena_destroy(arena);
    return found;
}

static void key_of(const struct bucket *place, const struct remote_object *object,
                   struct arena *arena, char ret[33])
{
    struct str who = str_format(arena, "%.*s\n%.*s\n%llu",
                                STR_ARG(remote_object_name(place->remote, object, arena)),
                                STR_ARG(object->version), (unsigned long long)object->bytes);

    if (object->version.count == 0)
        who = str_format(arena, "%.*s\n%lld", STR_ARG(who), (long long)object->modified_ns);
    hash128_hex(hash128(bytes_of(who)), ret);
}

bool bucket_key(struct bucket *place, struct str path, const struct file_stamp *stamp, char ret[33])
{
    struct arena *arena = arena_create();
    struct remote_object object;
    bool found = find(place, path, arena, &object) && object.version.count > 0;

    if (found) {
        const struct file_stamp now = stamp_of(place, &object);

        found = file_stamp_equal(&now, stamp);
        key_of(place, &object, arena, ret);
    }
    arena_destroy(arena);
    return found;
}

/* Where this version is or will be, named as the object is: decoders look at names. */
static void find_path(const struct bucket *place, const struct remote_object *object,
                      struct arena *arena, char ret[4096])
{
    struct str name = path_base(object->path);
    char key[33];

    key_of(place, object, arena, key);
    if (name.count > NAME_BYTES_MAX)
        name = str_skip(name, name.count - NAME_BYTES_MAX);
    cache_download_path(place->cache, key, name, ret);
}

static bool is_there(const char *path, const struct remote_object *object)
{
    struct stat info;

    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint64_t)info.st_size != object->bytes)
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now */
    return true;
}

static enum status download(struct bucket *place, const struct remote_object *object,
                            struct remote_progress progress, const char *path, struct error *err)
{
    char directory[4096], making[4200];

    TRY(cache_job_dir(place->cache, directory, err));
    snprintf(making, sizeof making, "%s/download", directory);
    int fd = open(making, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = fd < 0 ? fail(err, ERR_IO, "%s: %s", making, strerror(errno))
                                : remote_fetch(place->remote, object, fd, progress, err);

    file_close(fd);
    if (status == OK)
        status = cache_adopt_download(place->cache, making, path, err);
    cache_remove_dir(directory);
    return status;
}

enum status bucket_fetch(struct bucket *place, struct str path, const struct file_stamp *stamp,
                         void (*tell)(void *data, uint64_t done, uint64_t total), void *data,
                         struct arena *arena, struct str *ret, struct error *err)
{
    struct remote_object object;
    char file[4096];

    if (!find(place, path, arena, &object))
        return fail(err, ERR_NOT_FOUND, "%.*s is no longer in %.*s", STR_ARG(path),
                    STR_ARG(place->name));
    const struct file_stamp now = stamp_of(place, &object);

    if (!file_stamp_equal(&now, stamp))
        return fail(err, ERR_CONFLICT, "%.*s was replaced in %.*s", STR_ARG(path),
                    STR_ARG(place->name));
    find_path(place, &object, arena, file);
    pthread_mutex_t *lock = &place->fetching[hash64(bytes_of(path)) % FETCHING_COUNT];
    enum status status = OK;

    pthread_mutex_lock(lock);
    if (!is_there(file, &object))
        status = download(place, &object, (struct remote_progress){tell, data}, file, err);
    pthread_mutex_unlock(lock);
    *ret = str_copy(arena, str_of(file));
    *ret = (struct str){str_c(arena, *ret), ret->count};
    return status;
}

enum status bucket_remove(struct bucket *place, struct str path, const struct file_stamp *judged,
                          struct error *err)
{
    struct arena *arena = arena_create();
    struct remote_object object;
    bool found = find(place, path, arena, &object);
    const struct file_stamp now = found ? stamp_of(place, &object) : (struct file_stamp){0};
    enum status status = !found ? OK
                         : !file_stamp_equal(&now, judged)
                             ? fail(err, ERR_CONFLICT, "%.*s stays: it was replaced", STR_ARG(path))
                             : remote_remove(place->remote, &object, err);

    arena_destroy(arena);
    return status;
}

/* The stamp, once the text is among the facts; 0: there is no such file, or it cannot be had. */
static uint64_t bring_about(struct bucket *place, struct catalog *catalog, struct str dir,
                            struct arena *arena)
{
    struct str path = str_format(arena, "%.*s%sjview.json", STR_ARG(dir), dir.count > 0 ? "/" : "");
    struct remote_object object;
    struct error ignored = {0};
    struct bytes bytes;
    struct str file, known;
    char key[33];

    if (!find(place, path, arena, &object))
        return 0;
    const struct file_stamp now = stamp_of(place, &object);
    uint64_t stamp = hash64((struct bytes){(const uint8_t *)&now, sizeof now}) | 1;

    about_key(stamp, key);
    if (catalog_facts(catalog, key, arena, &known, &ignored) == OK && known.count > 0)
        return stamp;
    if (bucket_fetch(place, path, &now, NULL, NULL, arena, &file, &ignored) != OK ||
        file_read(file.at, arena, ABOUT_BYTES_MAX, &bytes, &ignored) != OK ||
        catalog_put_facts(catalog, key, (struct str){(const char *)bytes.at, bytes.count},
                          &ignored) != OK)
        return 0;
    return stamp;
}

uint64_t bucket_about(struct bucket *place, struct catalog *catalog, struct str dir)
{
    struct arena *arena = arena_create();
    struct str above = about_above(dir);
    uint64_t ret = bring_about(place, catalog, dir, arena);

    if (ret == 0 && !str_equal(above, dir))
        ret = bring_about(place, catalog, above, arena);
    arena_destroy(arena);
    return ret;
}
