/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded file on its way into a bucket. */
#include "app/capture_bucket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "remote/remote.h"
#include "store/cache.h"

struct capture_bucket {
    struct remote *remote;
    struct arena *arena;
    char directory[4096];
};

enum status capture_bucket_open(struct str place, const char *cache_dir,
                                struct capture_bucket **ret, struct error *err)
{
    struct capture_bucket *bucket;
    struct remote *remote;
    char cache[3072], captures[3200];

    TRY(remote_open(place, &remote, err));
    bucket = memory_zeroed(1, sizeof *bucket);
    bucket->remote = remote;
    bucket->arena = arena_create();
    enum status status =
        remote_is_read_only(remote)
            ? fail(err, ERR_INVALID,
                   "%.*s is a web address, or a bucket with HMAC keys of Google, and is only read",
                   STR_ARG(remote_name(remote)))
            : cache_place(cache_dir, cache, err);
    if (status == OK) {
        snprintf(captures, sizeof captures, "%s/captures", cache);
        snprintf(bucket->directory, sizeof bucket->directory, "%s/XXXXXX", captures);
        status = directory_make(captures, err);
    }
    if (status == OK && mkdtemp(bucket->directory) == NULL)
        status = fail(err, ERR_IO, "%s cannot be made: %s", bucket->directory, strerror(errno));
    if (status != OK) {
        bucket->directory[0] = '\0';
        capture_bucket_close(bucket);
        return status;
    }
    *ret = bucket;
    return OK;
}

/* What was put is not there any more; what was not stays. */
static void remove_empty(const char *directory)
{
    static const char *const parts[] = {"/plugins/profile", "/plugins", ""};
    char path[4200];

    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(path, sizeof path, "%s%s", directory, parts[i]);
        (void)rmdir(path);
    }
}

void capture_bucket_close(struct capture_bucket *bucket)
{
    if (bucket == NULL)
        return;
    if (bucket->directory[0] != '\0')
        remove_empty(bucket->directory);
    remote_close(bucket->remote);
    arena_destroy(bucket->arena);
    free(bucket);
}

void capture_bucket_cancel(struct capture_bucket *bucket)
{
    if (bucket != NULL)
        remote_cancel(bucket->remote);
}

const char *capture_bucket_directory(const struct capture_bucket *bucket)
{
    return bucket->directory;
}

static enum status take(void *data, const char *session, const char *name, int fd, uint64_t bytes,
                        struct error *err)
{
    struct capture_bucket *bucket = data;
    struct arena *arena = arena_create();
    enum status status =
        remote_put(bucket->remote, str_format(arena, "plugins/profile/%s/%s", session, name), fd,
                   bytes, true, (struct remote_progress){0}, err);

    arena_destroy(arena);
    return status;
}

struct capture_delivery capture_bucket_delivery(struct capture_bucket *bucket)
{
    return (struct capture_delivery){
        .place = str_c(bucket->arena, remote_name(bucket->remote)), .take = take, .data = bucket};
}

struct removal { /* of a session */
    struct capture_bucket *bucket;
    struct error err;
};

static bool remove_object(void *data, const struct remote_object *object)
{
    struct removal *removal = data;

    return remote_remove(removal->bucket->remote, object, &removal->err) == OK;
}

enum status capture_bucket_remove(struct capture_bucket *bucket, const char *directory,
                                  struct error *err)
{
    struct removal removal = {.bucket = bucket};
    const char *slash = strrchr(directory, '/');
    struct arena *arena = arena_create();
    struct str session = str_format(arena, "plugins/profile/%s", slash == NULL ? "" : slash + 1);
    enum status status = remote_list_below(bucket->remote, session, remove_object, &removal, err);

    arena_destroy(arena);
    if (status == OK && removal.err.code != OK)
        return fail(err, removal.err.code, "%s", removal.err.message);
    return status;
}
