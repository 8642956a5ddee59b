/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a warehouse: files get their names when they are whole.
 *
 *   open(DIR, O_TMPFILE) ──write──> sync ──linkat──> DIR/ops/day=.../c09f....parquet
 *   open(cache, O_TMPFILE) ──write──> put ──> s3://bucket/warehouse/ops/day=.../c09f....parquet
 *
 * A file system that has no files without names (NFS, some FUSE) gets hidden ones, which go when
 * this process ends in any way but a kill; those of the killed go after a day.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "remote/remote.h"
#include "warehouse/warehouse_parts.h"

enum { PATH_SIZE = 4096, SMALL_BYTES_MAX = 1 << 20 };

struct place {
    char path[PATH_SIZE - 512]; /* of the directory, or of where files for a bucket are made */
    int fd;
    struct place_bucket *bucket; /* NULL: it is a directory */
};

static enum status cannot(const struct place *place, const char *name, const char *what,
                          struct error *err)
{
    int error = errno;
    enum status code =
        error == EACCES || error == EPERM || error == EROFS ? ERR_PERMISSION : ERR_IO;

    if (error == ENOSPC || error == EDQUOT)
        return fail(err, ERR_IO, "%s/%s cannot be %s: the disk is full", place->path, name, what);
    return fail(err, code, "%s/%s cannot be %s: %s", place->path, name, what, strerror(error));
}

static enum status open_directory(struct place *place, const char *path, struct error *err)
{
    if (strlen(path) >= sizeof place->path)
        return fail(err, ERR_INVALID, "the path of %s is too long", path);
    strcpy(place->path, path);
    TRY(directory_make(path, err));
    place->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return place->fd >= 0 ? OK : cannot(place, "", "opened", err);
}

enum status place_open(const char *to, const char *making, struct place **ret, struct error *err)
{
    struct place *place = memory_resize(NULL, 1, sizeof *place);
    bool is_bucket = remote_is_place(str_of(to));
    enum status status = OK;

    *place = (struct place){.fd = -1};
    if (is_bucket)
        status = place_bucket_open(to, &place->bucket, err);
    else if (strstr(to, "://") != NULL)
        status =
            fail(err, ERR_INVALID, "--to takes a directory or a bucket, and %s is neither", to);
    if (status == OK)
        status = open_directory(place, is_bucket ? making : to, err);
    if (status != OK) {
        place_close(place);
        return status;
    }
    *ret = place;
    return OK;
}

void place_close(struct place *place)
{
    if (place == NULL)
        return;
    place_bucket_close(place->bucket);
    file_close(place->fd);
    free(place);
}

enum status place_get(struct place *place, const char *name, struct arena *arena, struct bytes *ret,
                      struct error *err)
{
    char path[PATH_SIZE];
    struct stat seen;

    *ret = (struct bytes){0};
    if (place->bucket != NULL)
        return place_bucket_get(place->bucket, name, arena, ret, err);
    if (fstatat(place->fd, name, &seen, 0) != 0)
        return OK;
    snprintf(path, sizeof path, "%s/%s", place->path, name);
    return file_read(path, arena, SMALL_BYTES_MAX, ret, err);
}

enum status place_make(struct place *place, struct place_file *ret, struct error *err)
{
    char path[PATH_SIZE];

    ret->fd = openat(place->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (ret->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        snprintf(path, sizeof path, "%s/.jviewd-XXXXXX", place->path);
        ret->fd = mkostemp(path, O_CLOEXEC);
        if (ret->fd >= 0)
            unlink(path);
    }
    if (ret->fd < 0)
        return cannot(place, "a file without a name", "made", err);
    snprintf(ret->path, sizeof ret->path, "/proc/%ld/fd/%d", (long)getpid(), ret->fd);
    return OK;
}

void place_drop(struct place_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

enum status place_sync(struct place *place, struct error *err)
{
    return place->bucket != NULL || syncfs(place->fd) == 0 ? OK : cannot(place, "", "synced", err);
}

static enum status make_directory(struct place *place, const char *name, struct error *err)
{
    char part[PATH_SIZE];

    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        if (mkdirat(place->fd, part, 0777) != 0 && errno != EEXIST)
            return cannot(place, part, "made", err);
    }
    return OK;
}

/* Where links to files without names are refused: its bytes under a name of their own first. */
static enum status copy_to(struct place *place, int from, const char *name, struct error *err)
{
    char buffer[1 << 14];
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    off_t at = 0;
    ssize_t count;

    if (fd < 0)
        return cannot(place, name, "made", err);
    enum status status = OK;
    while (status == OK && (count = pread(from, buffer, sizeof buffer, at)) > 0) {
        status = file_write_all(fd, buffer, (size_t)count, (uint64_t)at, err);
        at += count;
    }
    if (status == OK && (count < 0 || fsync(fd) != 0))
        status = cannot(place, name, "written", err);
    close(fd);
    return status;
}

/* To a hidden name beside the final one, then there. */
static enum status put_over(struct place *place, const struct place_file *file, const char *name,
                            bool replace, struct error *err)
{
    char hidden[PATH_SIZE];
    const char *slash = strrchr(name, '/');
    int directory = slash == NULL ? 0 : (int)(slash - name) + 1;

    snprintf(hidden, sizeof hidden, "%.*s.%s.%ld.tmp", directory, name, name + directory,
             (long)getpid());
    unlinkat(place->fd, hidden, 0);
    if (linkat(AT_FDCWD, file->path, place->fd, hidden, AT_SYMLINK_FOLLOW) != 0)
        TRY(copy_to(place, file->fd, hidden, err));
    int failed = replace ? renameat(place->fd, hidden, place->fd, name)
                         : linkat(place->fd, hidden, place->fd, name, 0);
    enum status status = failed == 0 || errno == EEXIST ? OK : cannot(place, name, "written", err);
    unlinkat(place->fd, hidden, 0);
    return status;
}

static enum status put_one(struct place *place, const struct place_put *put, struct error *err)
{
    TRY(make_directory(place, put->name, err));
    if (!put->replaces &&
        (linkat(AT_FDCWD, put->file.path, place->fd, put->name, AT_SYMLINK_FOLLOW) == 0 ||
         errno == EEXIST))
        return OK;
    return put_over(place, &put->file, put->name, put->replaces, err);
}

enum status place_put(struct place *place, struct place_put *puts, uint32_t count,
                      struct error *err)
{
    enum status status = OK;

    if (place->bucket != NULL)
        status = place_bucket_put(place->bucket, puts, count, err);
    for (uint32_t i = 0; i < count; i++) {
        if (place->bucket == NULL && status == OK)
            status = put_one(place, &puts[i], err);
        place_drop(&puts[i].file);
    }
    return status;
}

void place_remove(struct place *place, const char *name)
{
    if (place->bucket != NULL)
        place_bucket_remove(place->bucket, name);
    else
        unlinkat(place->fd, name, 0);
}
