/* SPDX-License-Identifier: Apache-2.0 */
/* An object into a file: ranges of 8 MiB, eight at a time, each of the same version.
 *
 *   file   |0-------|1-------|2-------|3--...      a thread takes the next range that nobody has,
 *                                                  and goes on where a broken transfer ended
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "remote/remote_parts.h"

enum { THREADS = 8, BROKEN_MAX = 6 };
#define RANGE_BYTES (UINT64_C(8) << 20)

struct fetch {
    struct remote *remote;
    const struct remote_object *object;
    struct str key;
    int fd;
    struct remote_progress progress;
    uint64_t range_bytes, total;
    _Atomic uint64_t next, done;
    pthread_mutex_t lock; /* of err */
    struct error err;
    atomic_bool failed;
};

struct part { /* of a file, by one thread */
    struct fetch *fetch;
    uint64_t at, end;
    bool was_checked;
    struct error err;
};

static struct str unquoted(struct str version)
{
    if (str_starts(version, STR("W/")))
        version = str_skip(version, 2);
    if (version.count >= 2 && version.at[0] == '"' && version.at[version.count - 1] == '"')
        return (struct str){version.at + 1, version.count - 2};
    return version;
}

/* "bytes 0-9/100" */
static bool range_read(struct str text, unsigned long long *ret_start, unsigned long long *ret_end,
                       unsigned long long *ret_total)
{
    char line[128];

    if (text.count >= sizeof line)
        return false;
    snprintf(line, sizeof line, "%.*s", STR_ARG(text));
    return sscanf(line, "bytes %llu-%llu/%llu", ret_start, ret_end, ret_total) == 3;
}

/* Is the answer the range that was asked, of the version that was asked? */
static enum status check(struct part *part, const struct wire_said *said)
{
    const struct fetch *fetch = part->fetch;
    struct str wanted = fetch->object->version, version = wire_said_header(said, "etag");
    struct str name = fetch->remote->name;
    unsigned long long start, end, total;

    if (said->status == 200) {
        uint64_t length;

        if (part->at != 0 || part->end != fetch->total ||
            (str_to_u64(wire_said_header(said, "content-length"), &length) &&
             length != fetch->total))
            return fail(&part->err, ERR_CONFLICT,
                        "%.*s: the store sent a part of %.*s with another length than requested",
                        STR_ARG(name), STR_ARG(fetch->key));
    } else if (!range_read(wire_said_header(said, "content-range"), &start, &end, &total) ||
               start != part->at || end >= part->end) {
        return fail(&part->err, ERR_IO, "%.*s: the store sent another part of %.*s than requested",
                    STR_ARG(name), STR_ARG(fetch->key));
    } else if (total != fetch->total) {
        return fail(&part->err, ERR_CONFLICT,
                    "%.*s: %.*s has %llu bytes, but the list says %llu: it was replaced",
                    STR_ARG(name), STR_ARG(fetch->key), total, (unsigned long long)fetch->total);
    }
    if (fetch->remote->provider->version_header != NULL)
        version = wire_said_header(said, fetch->remote->provider->version_header);
    if (wanted.count > 0 && version.count > 0 && !str_equal(unquoted(version), unquoted(wanted)))
        return fail(&part->err, ERR_CONFLICT, "%.*s: %.*s was replaced while it was read",
                    STR_ARG(name), STR_ARG(fetch->key));
    return OK;
}

static bool take(void *data, const struct wire_said *said, struct bytes bytes)
{
    struct part *part = data;
    struct fetch *fetch = part->fetch;

    if (!part->was_checked && check(part, said) != OK)
        return false;
    part->was_checked = true;
    if (bytes.count > part->end - part->at) {
        fail(&part->err, ERR_IO, "%.*s: the store sent more bytes of %.*s than requested",
             STR_ARG(fetch->remote->name), STR_ARG(fetch->key));
        return false;
    }
    if (file_write_all(fetch->fd, bytes.at, bytes.count, part->at, &part->err) != OK)
        return false;
    part->at += bytes.count;
    uint64_t done = atomic_fetch_add(&fetch->done, bytes.count) + bytes.count;

    if (fetch->progress.tell != NULL)
        fetch->progress.tell(fetch->progress.data, done, fetch->total);
    return !atomic_load(&fetch->failed);
}

/* One try of what is left of the part. */
static enum status try_part(struct part *part, bool *ret_again, struct error *err)
{
    const struct fetch *fetch = part->fetch;
    struct ask ask = {.method = "GET",
                      .key = fetch->key,
                      .query = STR(""),
                      .version = fetch->object->version,
                      .has_range =
                          fetch->remote->provider != &provider_web || fetch->remote->has_ranges,
                      .start = part->at,
                      .count = part->end - part->at};
    struct wire_said said;
    uint64_t before = part->at;

    part->was_checked = false;
    enum status status = remote_ask_once(fetch->remote, &ask, take, part, &said, ret_again, err);

    wire_said_free(&said);
    if (part->err.code != OK) {
        *ret_again = false;
        *err = part->err;
        return part->err.code;
    }
    if (status == OK && part->at < part->end && !atomic_load(&fetch->failed)) {
        *ret_again = true;
        status = fail(err, ERR_IO, "%.*s: the transfer of %.*s ends after %llu of %llu bytes",
                      STR_ARG(fetch->remote->name), STR_ARG(fetch->key),
                      (unsigned long long)part->at, (unsigned long long)part->end);
    }
    if (status != OK && *ret_again && part->at > before && !ask.has_range)
        part->at = before; /* from the beginning: it knows no ranges */
    return status;
}

static enum status fetch_part(struct part *part, struct error *err)
{
    for (unsigned broken = 0; part->at < part->end;) {
        struct error why = {0};
        bool again = false;
        uint64_t before = part->at;
        enum status status = try_part(part, &again, &why);

        if (status == OK)
            return OK;
        broken = part->at > before ? 0 : broken + 1;
        if (!again || broken >= BROKEN_MAX || !remote_pause(part->fetch->remote, broken, NULL))
            return fail(err, why.code, "%s", why.message);
    }
    return OK;
}

static void *fetch_parts(void *data)
{
    struct fetch *fetch = data;

    while (!atomic_load(&fetch->failed)) {
        uint64_t at = atomic_fetch_add(&fetch->next, fetch->range_bytes);
        struct error err = {0};

        if (at >= fetch->total)
            break;
        struct part part = {
            .fetch = fetch,
            .at = at,
            .end = fetch->total - at < fetch->range_bytes ? fetch->total : at + fetch->range_bytes};
        if (fetch_part(&part, &err) == OK)
            continue;
        pthread_mutex_lock(&fetch->lock);
        if (fetch->err.code == OK)
            fetch->err = err;
        pthread_mutex_unlock(&fetch->lock);
        atomic_store(&fetch->failed, true);
    }
    return NULL;
}

/* "prefix/path"; of a place that is one object, the prefix. */
static struct str key_of(const struct remote *remote, const struct remote_object *object,
                         struct arena *arena, bool is_file)
{
    struct str prefix = remote->address.prefix;

    return is_file ? prefix
                   : str_format(arena, "%.*s%s%.*s", STR_ARG(prefix), prefix.count > 0 ? "/" : "",
                                STR_ARG(object->path));
}

static void run(struct fetch *fetch)
{
    pthread_t threads[THREADS];
    uint64_t parts = (fetch->total + fetch->range_bytes - 1) / fetch->range_bytes;
    unsigned count = 0;

    while (count + 1 < THREADS && count + 1 < parts &&
           pthread_create(&threads[count], NULL, fetch_parts, fetch) == 0)
        count++;
    fetch_parts(fetch);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

enum status remote_fetch(struct remote *remote, const struct remote_object *object, int fd,
                         struct remote_progress progress, struct error *err)
{
    struct arena *arena = arena_create();
    bool is_whole = remote->provider == &provider_web && !remote->has_ranges;
    struct fetch fetch = {.remote = remote,
                          .object = object,
                          .key = key_of(remote, object, arena, object->is_place),
                          .fd = fd,
                          .progress = progress,
                          .total = object->bytes,
                          .range_bytes = is_whole ? object->bytes + 1 : RANGE_BYTES};

    pthread_mutex_init(&fetch.lock, NULL);
    run(&fetch);
    pthread_mutex_destroy(&fetch.lock);
    arena_destroy(arena);
    return fetch.err.code == OK ? OK : fail(err, fetch.err.code, "%s", fetch.err.message);
}
