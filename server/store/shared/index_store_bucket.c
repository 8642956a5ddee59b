/* SPDX-License-Identifier: Apache-2.0 */
/* A bucket as a store of indexes. A file is put where there is none of its name, by a condition of
 * the request; of two writers the store takes the first. */
#include <stdlib.h>

#include "base/memory.h"
#include "remote/remote.h"
#include "store/shared/index_store_parts.h"

struct stored_at {
    struct remote *remote;
};

static enum status bucket_open(const char *place, struct stored_at **ret, struct error *err)
{
    struct remote *remote;

    TRY(remote_open(str_of(place), &remote, err));
    if (str_starts(remote_name(remote), STR("http"))) {
        remote_close(remote);
        return fail(err, ERR_INVALID,
                    "--index-store takes a directory or a bucket, not the web address %s", place);
    }
    *ret = memory_zeroed(1, sizeof **ret);
    (*ret)->remote = remote;
    return OK;
}

static void bucket_close(struct stored_at *at)
{
    remote_close(at->remote);
    free(at);
}

static void bucket_cancel(struct stored_at *at)
{
    remote_cancel(at->remote);
}

struct taking {
    stored_take *take;
    void *data;
};

static bool take_object(void *data, const struct remote_object *object)
{
    const struct taking *taking = data;
    const struct stored_file file = {object->path, object->bytes, object->version};

    return taking->take(taking->data, &file);
}

/* That the bucket is not there is another thing than that it holds nothing. */
static enum status told(enum status status, const struct error *why, struct error *err)
{
    if (status == OK)
        return OK;
    return fail(err, status == ERR_NOT_FOUND ? ERR_IO : status, "%s", why->message);
}

static enum status bucket_each(struct stored_at *at, struct str beginning, stored_take *take,
                               void *data, struct error *err)
{
    struct taking taking = {take, data};
    struct error why = {0};
    enum status status = remote_list_beginning(at->remote, beginning, take_object, &taking, &why);

    return told(status, &why, err);
}

static struct remote_object object_of(const struct stored_file *file)
{
    return (struct remote_object){
        .path = file->name, .bytes = file->bytes, .version = file->version};
}

static enum status bucket_fetch(struct stored_at *at, const struct stored_file *file, int to,
                                struct error *err)
{
    const struct remote_object object = object_of(file);

    return remote_fetch(at->remote, &object, to, (struct remote_progress){0}, err);
}

static enum status bucket_put(struct stored_at *at, struct str name, int from, uint64_t bytes,
                              struct error *err)
{
    struct error why = {0};
    enum status status =
        remote_put(at->remote, name, from, bytes, true, (struct remote_progress){0}, &why);

    return status == ERR_CONFLICT ? OK : told(status, &why, err);
}

static enum status bucket_remove(struct stored_at *at, const struct stored_file *file,
                                 struct error *err)
{
    const struct remote_object object = object_of(file);

    return remote_remove(at->remote, &object, err);
}

const struct stored_way stored_in_bucket = {
    .open = bucket_open,
    .close = bucket_close,
    .cancel = bucket_cancel,
    .each = bucket_each,
    .fetch = bucket_fetch,
    .put = bucket_put,
    .remove = bucket_remove,
};
