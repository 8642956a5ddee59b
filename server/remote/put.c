/* SPDX-License-Identifier: Apache-2.0 */
/* A file into an object: in one request, or in parts of 8 MiB by four threads.
 *
 *   begin -> part 0, part 1, ...  -> end       the object is there, whole
 *                 x a part that breaks for good
 *                 '-> give up                  the store keeps nothing of it
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "remote/remote_parts.h"

enum { THREADS = 4, PARTS_MAX = 10000 };
#define PART_BYTES (UINT64_C(8) << 20)

struct putting { /* the parts of one object, by several threads */
    struct put *put;
    struct remote_progress progress;
    _Atomic uint64_t done;
    _Atomic uint32_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* of err */
    struct error err;
};

struct bytes put_part_bytes(const struct put *put, uint32_t index, uint64_t *ret_start)
{
    uint64_t start = index * put->part_bytes, left = put->total - start;

    *ret_start = start;
    return (struct bytes){put->at + start, left < put->part_bytes ? left : put->part_bytes};
}

static void *put_parts(void *data)
{
    struct putting *all = data;
    struct put *put = all->put;

    while (!atomic_load(&all->failed)) {
        uint32_t index = atomic_fetch_add(&all->next, 1);
        struct arena *arena;
        struct error err = {0};
        uint64_t start;

        if (index >= put->part_count)
            break;
        arena = arena_create();
        enum status status = put->remote->provider->put_way->part(put, index, arena, &err);

        arena_destroy(arena);
        uint64_t count = put_part_bytes(put, index, &start).count;

        if (status == OK && all->progress.tell != NULL)
            all->progress.tell(all->progress.data, atomic_fetch_add(&all->done, count) + count,
                               put->total);
        if (status == OK)
            continue;
        pthread_mutex_lock(&all->lock);
        if (all->err.code == OK)
            all->err = err;
        pthread_mutex_unlock(&all->lock);
        atomic_store(&all->failed, true);
    }
    return NULL;
}

static enum status run(struct putting *all, struct error *err)
{
    pthread_t threads[THREADS];
    unsigned count = 0, most = all->put->remote->provider->put_way->is_in_order ? 1 : THREADS;

    pthread_mutex_init(&all->lock, NULL);
    while (count + 1 < most && count + 1 < all->put->part_count &&
           pthread_create(&threads[count], NULL, put_parts, all) == 0)
        count++;
    put_parts(all);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    pthread_mutex_destroy(&all->lock);
    return all->err.code == OK ? OK : fail(err, all->err.code, "%s", all->err.message);
}

static enum status put_in_parts(struct put *put, struct remote_progress progress, struct error *err)
{
    const struct put_way *way = put->remote->provider->put_way;
    struct putting all = {.put = put, .progress = progress};

    TRY(way->begin(put, err));
    enum status status = run(&all, err);
    if (status == OK)
        status = way->end(put, err);
    if (status != OK && way->give_up != NULL)
        way->give_up(put);
    return status;
}

/* Of a request that was repeated the first may have been carried out, unheard. */
static bool is_ours(const struct put *put)
{
    struct ask ask = {.method = "HEAD", .key = put->key, .version = STR(""), .query = STR("")};
    struct wire_said said;
    uint64_t bytes;
    bool ret = remote_ask(put->remote, &ask, NULL, NULL, &said, &(struct error){0}) == OK &&
               str_to_u64(wire_said_header(&said, "content-length"), &bytes) && bytes == put->total;

    wire_said_free(&said);
    return ret;
}

static enum status put_whole(struct put *put, struct error *err)
{
    const struct provider *provider = put->remote->provider;
    struct ask ask = {.method = provider->put_method,
                      .key = put->key,
                      .version = STR(""),
                      .query = provider->put_query != NULL ? provider->put_query(put, put->arena)
                                                           : STR(""),
                      .body = {put->at, put->total},
                      .is_new = put->is_new};
    struct error why = {0};
    struct wire_said said;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, &why);

    if (status == ERR_CONFLICT && said.was_repeated && is_ours(put))
        status = OK;
    wire_said_free(&said);
    return status == OK ? OK : fail(err, status, "%s", why.message);
}

static enum status map(int fd, uint64_t bytes, const uint8_t **ret, struct error *err)
{
    static const uint8_t nothing[1];
    void *at = bytes == 0 ? NULL : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

    if (at == MAP_FAILED)
        return fail(err, ERR_IO, "the file cannot be mapped: %s", strerror(errno));
    *ret = at == NULL ? nothing : at;
    return OK;
}

static struct str key_of(const struct remote *remote, struct str path, struct arena *arena)
{
    struct str prefix = remote->address.prefix;

    return str_format(arena, "%.*s%s%.*s", STR_ARG(prefix),
                      prefix.count > 0 && path.count > 0 ? "/" : "", STR_ARG(path));
}

bool remote_is_read_only(const struct remote *remote)
{
    return remote->provider->put_way == NULL;
}

static enum status check_writable(const struct remote *remote, struct str key, struct error *err)
{
    if (remote_is_read_only(remote))
        return fail(err, ERR_UNSUPPORTED,
                    "%.*s: a web address, and a bucket with HMAC keys of Google, is read only",
                    STR_ARG(remote->name));
    return key.count > 0 ? OK
                         : fail(err, ERR_INVALID, "%.*s names a bucket and no object in it",
                                STR_ARG(remote->name));
}

enum status remote_put(struct remote *remote, struct str path, int fd, uint64_t bytes, bool is_new,
                       struct remote_progress progress, struct error *err)
{
    struct put put = {.remote = remote, .arena = arena_create(), .total = bytes, .is_new = is_new};

    put.key = key_of(remote, path, put.arena);
    put.part_bytes = PART_BYTES;
    while (put.part_bytes * PARTS_MAX < bytes)
        put.part_bytes *= 2;
    put.part_count = (uint32_t)((bytes + put.part_bytes - 1) / put.part_bytes);
    put.tags = arena_array(put.arena, struct str, put.part_count + 1);
    enum status status = check_writable(remote, put.key, err);
    if (status == OK)
        status = map(fd, bytes, &put.at, err);
    if (status == OK) {
        status = put.part_count > 1 ? put_in_parts(&put, progress, err) : put_whole(&put, err);
        if (bytes > 0)
            munmap((void *)(uintptr_t)put.at, bytes);
    }
    arena_destroy(put.arena);
    return status;
}

/* A store that removes by name alone is asked before whether it is that version still. */
static enum status check_version(struct remote *remote, struct str key, struct str version,
                                 struct error *err)
{
    struct ask ask = {.method = "HEAD", .key = key, .version = version, .query = STR("")};
    struct wire_said said;
    struct error why = {0};
    enum status status = remote_ask(remote, &ask, NULL, NULL, &said, &why);
    struct str now = wire_said_header(&said, "etag");

    if (status == ERR_CONFLICT ||
        (status == OK && version.count > 0 && now.count > 0 && !str_equal(version, now)))
        status = fail(err, ERR_CONFLICT, "%.*s: %.*s was replaced and stays", STR_ARG(remote->name),
                      STR_ARG(key));
    else if (status != OK)
        status = fail(err, status, "%s", why.message);
    wire_said_free(&said);
    return status;
}

enum status remote_remove(struct remote *remote, const struct remote_object *object,
                          struct error *err)
{
    struct arena *arena = arena_create();
    bool removes_any = remote->provider->removes_any;
    struct ask ask = {.method = "DELETE",
                      .key = key_of(remote, object->is_place ? STR("") : object->path, arena),
                      .version = removes_any ? STR("") : object->version,
                      .query = STR("")};
    struct error why = {0};
    struct wire_said said = {0};
    enum status status = check_writable(remote, ask.key, &why);

    if (status == OK && removes_any)
        status = check_version(remote, ask.key, object->version, &why);
    if (status == OK)
        status = remote_ask(remote, &ask, NULL, NULL, &said, &why);
    bool is_gone = status == ERR_NOT_FOUND || (status != OK && said.status == 404);

    wire_said_free(&said);
    arena_destroy(arena);
    return status == OK || is_gone ? OK : fail(err, status, "%s", why.message);
}
