/* SPDX-License-Identifier: Apache-2.0 */
/* A profile file for whoever downloads it: one that a scan has found, below its directory. */
#include "ingest/ingest_parts.h"

#include <errno.h>
#include <fcntl.h>

/* Where the run lies, if the path is a file of it. The lock is held no longer than that takes. */
static bool find_directory(struct ingest *ingest, struct str run_id, struct str path,
                           struct arena *arena, char **ret, struct bucket **ret_place,
                           struct file_stamp *ret_stamp)
{
    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, run_id);
    const struct ingest_file *file = run == NULL ? NULL : run_file_find(run, path);
    bool found = file != NULL && run->root->path != NULL;
    if (found) {
        *ret = str_c(arena, str_of(run->root->path));
        *ret_place = run->root->place;
        *ret_stamp = file->stamp;
    }
    pthread_mutex_unlock(&ingest->lock);
    return found;
}

/* A link may lead elsewhere by now: then what it leads to is not the file that was found, nor
 * anything that anybody said is a profile. */
static enum status check_same(const struct file_stamp *now, const struct file_stamp *found,
                              const char *path, int *fd, struct error *err)
{
    if (now->device == found->device && now->inode == found->inode)
        return OK;
    file_close(*fd);
    return fail(err, ERR_NOT_FOUND, "%s now leads to another file", path);
}

static enum status open_below(const char *directory, const char *path, bool follow_symlinks,
                              const struct file_stamp *found, int *ret_fd, uint64_t *ret_bytes,
                              struct error *err)
{
    struct file_stamp stamp;
    int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root < 0)
        return fail(err, ERR_NOT_FOUND, "%s: %s", directory, strerror(errno));
    enum status status = file_open_beneath(root, path, follow_symlinks, ret_fd, &stamp, err);
    file_close(root);
    TRY(status);
    if (follow_symlinks)
        TRY(check_same(&stamp, found, path, ret_fd, err));
    *ret_bytes = stamp.size;
    return OK;
}

/* What was downloaded, or is now. */
static enum status open_fetched(struct bucket *place, struct str path,
                                const struct file_stamp *found, struct arena *arena, int *ret_fd,
                                uint64_t *ret_bytes, struct error *err)
{
    struct file_stamp stamp;
    struct str file;

    TRY(bucket_fetch(place, path, found, NULL, NULL, arena, &file, err));
    TRY(file_open(file.at, ret_fd, &stamp, err));
    *ret_bytes = stamp.size;
    return OK;
}

enum status ingest_remove(struct ingest *ingest, struct str run_id, struct str path,
                          const struct file_stamp *judged, struct error *err)
{
    struct arena *arena = arena_create();
    struct file_stamp found;
    struct bucket *place = NULL;
    char *directory;
    enum status status =
        find_directory(ingest, run_id, path, arena, &directory, &place, &found) && place != NULL
            ? bucket_remove(place, path, judged, err)
            : fail(err, ERR_NOT_FOUND, "%.*s is not in a bucket", STR_ARG(path));

    arena_destroy(arena);
    return status;
}

enum status ingest_open_file(void *data, struct str run_id, struct str path, int *ret_fd,
                             uint64_t *ret_bytes, struct error *err)
{
    struct ingest *ingest = data;
    struct arena *arena = arena_create();
    struct file_stamp found = {0};
    struct bucket *place = NULL;
    char *directory = NULL;
    enum status status = OK;

    if (!find_directory(ingest, run_id, path, arena, &directory, &place, &found))
        status = fail(err, ERR_NOT_FOUND, "the run's files no longer exist");
    else if (place != NULL)
        status = open_fetched(place, path, &found, arena, ret_fd, ret_bytes, err);
    else
        status = open_below(directory, str_c(arena, path), ingest->options.follow_symlinks, &found,
                            ret_fd, ret_bytes, err);
    arena_destroy(arena);
    return status;
}
