/* SPDX-License-Identifier: Apache-2.0 */
/* A bucket as the place of a warehouse.
 *
 *   one list of "_jviewd..."  which runs were written; asked for once
 *   PUT, If-None-Match: *     a file that is new; of two writers of one content the first one wins
 *   PUT                       a note, or a file that replaces another
 *
 * Files are whole when they are put, so nobody reads a half; several go at a time, for each waits
 * longer for the store than it takes to be sent.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "remote/remote.h"
#include "warehouse/warehouse_parts.h"

enum { SMALL_BYTES_MAX = 1 << 20, THREADS = 8 };

struct place_bucket {
    struct remote *remote;
    struct arena *arena; /* of the list */
    struct remote_object *notes;
    uint32_t count, capacity;
    bool is_listed;
};

enum status place_bucket_open(const char *to, struct place_bucket **ret, struct error *err)
{
    struct remote *remote;

    TRY(remote_open(str_of(to), &remote, err));
    if (remote_is_read_only(remote)) {
        remote_close(remote);
        return fail(err, ERR_INVALID,
                    "--to takes a directory or a bucket; %s is a web address, or a bucket with "
                    "HMAC keys of Google, and is only read",
                    to);
    }
    struct place_bucket *bucket = memory_zeroed(1, sizeof *bucket);
    bucket->remote = remote;
    bucket->arena = arena_create();
    *ret = bucket;
    return OK;
}

void place_bucket_close(struct place_bucket *bucket)
{
    if (bucket == NULL)
        return;
    remote_close(bucket->remote);
    arena_destroy(bucket->arena);
    free(bucket);
}

static bool take_note(void *data, const struct remote_object *object)
{
    struct place_bucket *bucket = data;

    if (bucket->count == bucket->capacity) {
        struct remote_object *more;

        bucket->capacity = 2 * bucket->capacity + 64;
        more = arena_array(bucket->arena, struct remote_object, bucket->capacity);
        if (bucket->count > 0)
            memcpy(more, bucket->notes, bucket->count * sizeof *more);
        bucket->notes = more;
    }
    struct remote_object *note = &bucket->notes[bucket->count++];

    *note = *object;
    note->path = str_copy(bucket->arena, object->path);
    note->version = str_copy(bucket->arena, object->version);
    return true;
}

static int by_path(const void *a, const void *b)
{
    return str_compare(((const struct remote_object *)a)->path,
                       ((const struct remote_object *)b)->path);
}

static enum status list_notes(struct place_bucket *bucket, struct error *err)
{
    if (bucket->is_listed)
        return OK;
    arena_reset(bucket->arena);
    bucket->notes = NULL;
    bucket->count = bucket->capacity = 0;
    TRY(remote_list_beginning(bucket->remote, STR("_jviewd"), take_note, bucket, err));
    if (bucket->count > 1)
        qsort(bucket->notes, bucket->count, sizeof *bucket->notes, by_path);
    bucket->is_listed = true;
    return OK;
}

enum status place_bucket_get(struct place_bucket *bucket, const char *name, struct arena *arena,
                             struct bytes *ret, struct error *err)
{
    const struct remote_object key = {.path = str_of(name)};

    *ret = (struct bytes){0};
    TRY(list_notes(bucket, err));
    const struct remote_object *note =
        bucket->count == 0 ? NULL
                           : bsearch(&key, bucket->notes, bucket->count, sizeof key, by_path);
    if (note == NULL || note->bytes == 0)
        return OK;
    if (note->bytes > SMALL_BYTES_MAX)
        return fail(err, ERR_LIMIT, "%s has %llu bytes and is no note of jviewd", name,
                    (unsigned long long)note->bytes);
    int fd = memfd_create("jviewd", MFD_CLOEXEC);
    uint8_t *at = arena_alloc(arena, note->bytes, 1);
    enum status status =
        fd < 0 ? fail(err, ERR_IO, "there is no memory for %s", name)
               : remote_fetch(bucket->remote, note, fd, (struct remote_progress){0}, err);

    if (status == OK && pread(fd, at, note->bytes, 0) != (ssize_t)note->bytes)
        status = fail(err, ERR_IO, "%s cannot be read", name);
    file_close(fd);
    if (status == OK)
        *ret = (struct bytes){at, note->bytes};
    return status;
}

struct putting { /* several files, by several threads */
    struct place_bucket *bucket;
    const struct place_put *puts;
    uint32_t count;
    _Atomic uint32_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* of err */
    struct error err;
};

static enum status put_one(struct putting *all, const struct place_put *put, struct error *err)
{
    struct stat info;

    if (fstat(put->file.fd, &info) != 0)
        return fail(err, ERR_IO, "%s cannot be read", put->name);
    return remote_put(all->bucket->remote, str_of(put->name), put->file.fd, (uint64_t)info.st_size,
                      !put->replaces, (struct remote_progress){0}, err);
}

static void *put_some(void *data)
{
    struct putting *all = data;

    for (uint32_t i;
         !atomic_load(&all->failed) && (i = atomic_fetch_add(&all->next, 1)) < all->count;) {
        struct error err = {0};
        enum status status = put_one(all, &all->puts[i], &err);

        if (status == OK || (status == ERR_CONFLICT && !all->puts[i].replaces))
            continue;
        pthread_mutex_lock(&all->lock);
        if (all->err.code == OK)
            all->err = err;
        pthread_mutex_unlock(&all->lock);
        atomic_store(&all->failed, true);
    }
    return NULL;
}

enum status place_bucket_put(struct place_bucket *bucket, const struct place_put *puts,
                             uint32_t count, struct error *err)
{
    struct putting all = {.bucket = bucket, .puts = puts, .count = count};
    pthread_t threads[THREADS];
    unsigned started = 0;

    pthread_mutex_init(&all.lock, NULL);
    while (started + 1 < THREADS && started + 1 < count &&
           pthread_create(&threads[started], NULL, put_some, &all) == 0)
        started++;
    put_some(&all);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&all.lock);
    for (uint32_t i = 0; i < count; i++) { /* whether ours is there, or another one was first */
        if (!puts[i].replaces && str_starts(str_of(puts[i].name), STR("_jviewd")))
            bucket->is_listed = false;
    }
    return all.err.code == OK ? OK : fail(err, all.err.code, "%s", all.err.message);
}

void place_bucket_remove(struct place_bucket *bucket, const char *name)
{
    const struct remote_object object = {.path = str_of(name), .version = STR("")};
    struct error ignored = {0};

    (void)(remote_remove(bucket->remote, &object, &ignored) == OK);
}
