/* SPDX-License-Identifier: Apache-2.0 */
/* Removing one file, so that nobody can make it another one: each directory on the way is opened
 * by its name in the one before, never through a link, and the file is unlinked in the last, if
 * it is still the one that was judged. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prune/prune.h"

enum { DEPTH_MAX = 64, NAME_SIZE = 256 };

struct way {
    int fds[DEPTH_MAX];
    char names[DEPTH_MAX][NAME_SIZE]; /* of the directory that fds[i + 1] is */
    int count;                        /* open descriptors; fds[0] is the root */
};

static enum status cannot(struct str path, const char *why, struct error *err)
{
    return fail(err, errno == EACCES || errno == EPERM || errno == EROFS ? ERR_PERMISSION : ERR_IO,
                "%.*s stays: %s", STR_ARG(path), why);
}

static bool take_part(struct str *rest, char ret[NAME_SIZE])
{
    const char *slash = memchr(rest->at, '/', rest->count);
    size_t count = slash == NULL ? rest->count : (size_t)(slash - rest->at);

    if (count == 0 || count >= NAME_SIZE || memchr(rest->at, '\0', count) != NULL)
        return false;
    memcpy(ret, rest->at, count);
    ret[count] = '\0';
    *rest = str_skip(*rest, slash == NULL ? count : count + 1);
    return strcmp(ret, ".") != 0 && strcmp(ret, "..") != 0;
}

/* Down to the directory of the file, whose name is left in ret. */
static enum status go_down(struct way *way, struct str path, char ret[NAME_SIZE], struct error *err)
{
    struct str rest = path;

    for (;;) {
        if (!take_part(&rest, ret))
            return fail(err, ERR_INVALID, "%.*s is not a path below the directory", STR_ARG(path));
        if (rest.count == 0)
            return OK;
        if (way->count == DEPTH_MAX)
            return fail(err, ERR_LIMIT, "%.*s lies too deep", STR_ARG(path));
        int fd =
            openat(way->fds[way->count - 1], ret, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return cannot(path, strerror(errno), err);
        memcpy(way->names[way->count - 1], ret, NAME_SIZE);
        way->fds[way->count++] = fd;
    }
}

static bool is_as_judged(const struct stat *info, const struct file_stamp *judged)
{
    return (uint64_t)info->st_ino == judged->inode && (uint64_t)info->st_size == judged->size &&
           info->st_mtim.tv_sec * INT64_C(1000000000) + info->st_mtim.tv_nsec ==
               judged->modified_ns;
}

static enum status remove_here(struct way *way, struct str path, const char *name,
                               const struct file_stamp *judged, struct error *err)
{
    struct stat info;
    int directory = way->fds[way->count - 1];

    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? OK : cannot(path, strerror(errno), err);
    if (!S_ISREG(info.st_mode))
        return fail(err, ERR_INVALID, "%.*s stays: it is not a regular file", STR_ARG(path));
    if (!is_as_judged(&info, judged))
        return fail(err, ERR_CONFLICT, "%.*s stays: it changed", STR_ARG(path));
    if (unlinkat(directory, name, 0) != 0)
        return cannot(path, strerror(errno), err);
    /* Directories that are empty now; one that is not ends the way up. */
    for (int at = way->count - 1; at > 0; at--) {
        if (unlinkat(way->fds[at - 1], way->names[at - 1], AT_REMOVEDIR) != 0)
            break;
    }
    return OK;
}

/* A way that leads to the file's directory; ended by way_close. */
static enum status way_open(const char *root, struct str path, struct way **ret,
                            char name[NAME_SIZE], struct error *err)
{
    struct way *way = memory_resize(NULL, 1, sizeof *way);

    *ret = way;
    way->fds[0] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    way->count = way->fds[0] >= 0;
    return way->count == 0 ? cannot(str_of(root), strerror(errno), err)
                           : go_down(way, path, name, err);
}

static void way_close(struct way *way)
{
    while (way->count > 0)
        close(way->fds[--way->count]);
    free(way);
}

enum status prune_open_directory(const char *root, struct str path, int *ret_fd,
                                 char ret_name[NAME_SIZE], struct error *err)
{
    struct way *way;
    enum status status = way_open(root, path, &way, ret_name, err);

    if (status == OK)
        *ret_fd = way->fds[--way->count];
    way_close(way);
    return status;
}

enum status prune_file(const char *root, struct str path, const struct file_stamp *judged,
                       struct error *err)
{
    struct way *way;
    char name[NAME_SIZE];
    enum status status = way_open(root, path, &way, name, err);

    if (status == OK)
        status = remove_here(way, path, name, judged, err);
    way_close(way);
    return status;
}
