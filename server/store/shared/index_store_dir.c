/* SPDX-License-Identifier: Apache-2.0 */
/* A directory as a store of indexes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/shared/index_store_parts.h"

enum { DIR_SIZE = 3072, PATH_SIZE = 4096, PIECE_BYTES = 1 << 20, DEPTH_MAX = 2 };

struct stored_at {
    char dir[DIR_SIZE];
};

static enum status cannot(const char *path, const char *what, struct error *err)
{
    int error = errno;

    return fail(err,
                error == ENOENT                     ? ERR_NOT_FOUND
                : error == EACCES || error == EROFS ? ERR_PERMISSION
                                                    : ERR_IO,
                "%s cannot be %s: %s", path, what, strerror(error));
}

/* Made where it is missing. */
static enum status dir_open(const char *dir, struct stored_at **ret, struct error *err)
{
    struct stat seen;

    if (strstr(dir, "://") != NULL)
        return fail(err, ERR_INVALID,
                    "--index-store takes a directory or a bucket, and %s is neither", dir);
    if (strlen(dir) >= DIR_SIZE)
        return fail(err, ERR_INVALID, "the path of --index-store is too long");
    if (stat(dir, &seen) != 0)
        TRY(directory_make(dir, err));
    *ret = memory_zeroed(1, sizeof **ret);
    strcpy((*ret)->dir, dir);
    return OK;
}

static void dir_close(struct stored_at *at)
{
    free(at);
}

static void path_of(const struct stored_at *at, struct str name, char ret[PATH_SIZE])
{
    snprintf(ret, PATH_SIZE, "%s/%.*s", at->dir, STR_ARG(name));
}

struct walk { /* of all files whose names begin so */
    const struct stored_at *at;
    struct str beginning;
    stored_take *take;
    void *data;
    bool goes_on;
};

/* As far as both go: a folder may hold names that begin so. */
static bool may_begin(struct str name, struct str beginning)
{
    size_t count = name.count < beginning.count ? name.count : beginning.count;

    return count == 0 || memcmp(name.at, beginning.at, count) == 0;
}

static void walk_folder(struct walk *walk, struct str folder, unsigned depth);

static void walk_entry(struct walk *walk, int dir_fd, struct str folder, const char *entry,
                       unsigned depth)
{
    char name[PATH_SIZE];
    struct stat seen;
    int count = snprintf(name, sizeof name, "%.*s%s", STR_ARG(folder), entry);
    struct stored_file file = {.name = str_of(name), .version = STR("")};

    if (entry[0] == '.' || count >= PATH_SIZE - 1 || !may_begin(file.name, walk->beginning) ||
        fstatat(dir_fd, entry, &seen, 0) != 0)
        return;
    if (S_ISDIR(seen.st_mode)) {
        strcat(name, "/");
        if (depth < DEPTH_MAX && may_begin(str_of(name), walk->beginning))
            walk_folder(walk, str_of(name), depth + 1);
    } else if (str_starts(file.name, walk->beginning)) {
        file.bytes = (uint64_t)seen.st_size;
        walk->goes_on = walk->take(walk->data, &file);
    }
}

/* `folder`: with its slash at the end, or "". */
static void walk_folder(struct walk *walk, struct str folder, unsigned depth)
{
    char path[PATH_SIZE];

    path_of(walk->at, folder, path);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && walk->goes_on && (entry = readdir(dir)) != NULL;)
        walk_entry(walk, dirfd(dir), folder, entry->d_name, depth);
    if (dir != NULL)
        closedir(dir);
}

static enum status dir_each(struct stored_at *at, struct str beginning, stored_take *take,
                            void *data, struct error *err)
{
    struct walk walk = {at, beginning, take, data, true};
    struct str folder = beginning;
    unsigned depth = 0;

    if (access(at->dir, R_OK | X_OK) != 0)
        return cannot(at->dir, "opened", err);
    while (folder.count > 0 && folder.at[folder.count - 1] != '/')
        folder.count--;
    for (size_t i = 0; i < folder.count; i++)
        depth += folder.at[i] == '/';
    walk_folder(&walk, folder, depth);
    return OK;
}

static enum status copy(int from, int to, const char *path, struct error *err)
{
    uint8_t *piece = memory_resize(NULL, PIECE_BYTES, 1);
    enum status status = OK;
    uint64_t at = 0;
    ssize_t count;

    while (status == OK && (count = pread(from, piece, PIECE_BYTES, (off_t)at)) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            status = cannot(path, "read", err);
            break;
        }
        status = file_write_all(to, piece, (size_t)count, at, err);
        at += (uint64_t)count;
    }
    free(piece);
    return status;
}

static enum status dir_fetch(struct stored_at *at, const struct stored_file *file, int to,
                             struct error *err)
{
    char path[PATH_SIZE];

    path_of(at, file->name, path);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return cannot(path, "opened", err);
    enum status status = copy(from, to, path, err);
    close(from);
    return status;
}

/* A name for a file that is whole; one that is there stays. */
static enum status name_file(const char *hidden, const char *path, struct error *err)
{
    enum status status = OK;

    if (link(hidden, path) != 0 && errno != EEXIST) {
        /* a file system without links: two writers write the same bytes */
        if ((errno != EPERM && errno != EOPNOTSUPP) || rename(hidden, path) != 0)
            status = cannot(path, "written", err);
    }
    unlink(hidden);
    return status;
}

static enum status dir_put(struct stored_at *at, struct str name, int from, uint64_t bytes,
                           struct error *err)
{
    char path[PATH_SIZE];
    struct file_out out;
    (void)bytes;

    path_of(at, name, path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    TRY(directory_make(path, err));
    *slash = '/';
    TRY(file_out_open(&out, path, err));
    enum status status = copy(from, out.fd, path, err);
    fchmod(out.fd, 0644);
    if (status == OK && fsync(out.fd) != 0)
        status = cannot(out.temporary, "written", err);
    close(out.fd);
    if (status == OK)
        status = name_file(out.temporary, path, err);
    else
        unlink(out.temporary);
    return status;
}

static enum status dir_remove(struct stored_at *at, const struct stored_file *file,
                              struct error *err)
{
    char path[PATH_SIZE];

    path_of(at, file->name, path);
    return unlink(path) == 0 || errno == ENOENT ? OK : cannot(path, "removed", err);
}

const struct stored_way stored_in_dir = {
    .open = dir_open,
    .close = dir_close,
    .each = dir_each,
    .fetch = dir_fetch,
    .put = dir_put,
    .remove = dir_remove,
};
