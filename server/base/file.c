/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files below a root without following links out of it, and maps, stamps and reads them.
 * Facts: openat2(2). */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_READ = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, RETRIES_MAX = 16 };

/* The system's refusal as a sentence about `path`. */
static enum status refuse(const char *path, int error, struct error *err)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return fail(err, ERR_NOT_FOUND, "%s does not exist", path);
    case EACCES:
    case EPERM:
        return fail(
            err, ERR_PERMISSION,
            "%s cannot be opened: permission denied; `jviewd doctor` shows the command to type",
            path);
    case ELOOP:
        return fail(err, ERR_UNSUPPORTED,
                    "%s is, or passes through, a symbolic link, which is not followed", path);
    case EXDEV:
        return fail(err, ERR_PERMISSION, "%s leads outside its directory", path);
    case ENXIO:
        return fail(err, ERR_UNSUPPORTED, "%s is a socket or device, not a regular file", path);
    case ENOSPC:
    case EDQUOT:
        return fail(err, ERR_IO, "%s cannot be written: the disk is full", path);
    default:
        return fail(err, ERR_IO, "%s: %s", path, strerror(error));
    }
}

static const char *type_word(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "a device";
    }
}

static struct file_stamp stamp_from(const struct stat *stat)
{
    return (struct file_stamp){
        .device = stat->st_dev,
        .inode = stat->st_ino,
        .size = (uint64_t)stat->st_size,
        .modified_ns = (int64_t)stat->st_mtim.tv_sec * 1000000000 + stat->st_mtim.tv_nsec,
        .changed_ns = (int64_t)stat->st_ctim.tv_sec * 1000000000 + stat->st_ctim.tv_nsec,
    };
}

enum status file_stamp_of(int fd, struct file_stamp *ret, struct error *err)
{
    struct stat stat;

    if (fstat(fd, &stat) != 0)
        return fail(err, ERR_IO, "an open file cannot be looked at: %s", strerror(errno));
    *ret = stamp_from(&stat);
    return OK;
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

/* Takes an fd that open gave, or its error; keeps it only for a regular file. */
static enum status accept_regular(const char *path, int fd, int *ret_fd, struct file_stamp *ret,
                                  struct error *err)
{
    struct stat stat;

    if (fd < 0)
        return refuse(path, errno, err);
    if (fstat(fd, &stat) != 0) {
        int error = errno;

        close(fd);
        return refuse(path, error, err);
    }
    if (!S_ISREG(stat.st_mode)) {
        close(fd);
        return fail(err, ERR_UNSUPPORTED, "%s is %s, not a regular file", path,
                    type_word(stat.st_mode));
    }
    *ret_fd = fd;
    *ret = stamp_from(&stat);
    return OK;
}

enum status file_open(const char *path, int *ret_fd, struct file_stamp *ret, struct error *err)
{
    struct stat seen;

    /* Opening a device may already do something; the look before the leap is for those. */
    if (stat(path, &seen) == 0 && !S_ISREG(seen.st_mode))
        return fail(err, ERR_UNSUPPORTED, "%s is %s, not a regular file", path,
                    type_word(seen.st_mode));
    return accept_regular(path, open(path, OPEN_READ), ret_fd, ret, err);
}

/* Does the path itself, before any link, lead out? */
static bool climbs(const char *path)
{
    for (const char *at = path; *at != '\0'; at += strspn(at, "/")) {
        size_t count = strcspn(at, "/");

        if (count == 0 || (count == 2 && memcmp(at, "..", 2) == 0))
            return true;
        at += count;
    }
    return false;
}

static int open_resolved(int root_fd, const char *path, bool follow_symlinks)
{
    struct open_how how = {
        .flags = follow_symlinks ? O_PATH | O_CLOEXEC : OPEN_READ,
        .resolve =
            RESOLVE_NO_MAGICLINKS | (follow_symlinks ? 0 : RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS),
    };
    long fd = -1;

    /* EAGAIN: something was renamed on the way. */
    for (int i = 0; i < RETRIES_MAX; i++) {
        fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return (int)fd;
}

/* Where the kernel has no openat2 and no link is to be followed: component by component. */
static int open_walking(int root_fd, const char *path)
{
    int at = root_fd;

    for (;;) {
        size_t count = strcspn(path, "/");
        size_t behind = count + strspn(path + count, "/");
        char name[256];

        if (count >= sizeof(name)) {
            errno = ENAMETOOLONG;
            break;
        }
        memcpy(name, path, count);
        name[count] = '\0';
        bool last = path[behind] == '\0';
        int fd =
            openat(at, name, O_NOFOLLOW | (last ? OPEN_READ : O_PATH | O_DIRECTORY | O_CLOEXEC));
        int error = errno;
        struct stat seen;

        if (fd < 0 && error == ENOTDIR && fstatat(at, name, &seen, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(seen.st_mode))
            error = ELOOP;
        if (at != root_fd)
            close(at);
        errno = error;
        if (fd < 0 || last)
            return fd;
        at = fd;
        path += behind;
    }

    int error = errno;

    if (at != root_fd)
        close(at);
    errno = error;
    return -1;
}

/* A link may lead to a device, and opening that may already do something: so what it leads to is
 * held without being opened, looked at, and then that very file is opened. */
static enum status open_held(const char *path, int held, int *ret_fd, struct file_stamp *ret,
                             struct error *err)
{
    char self[32];
    struct file_stamp stamp;
    int fd = -1;

    TRY(accept_regular(path, held, &held, &stamp, err));
    snprintf(self, sizeof self, "/proc/self/fd/%d", held);
    fd = open(self, OPEN_READ);
    int error = errno;
    close(held);
    errno = error;
    return accept_regular(path, fd, ret_fd, ret, err);
}

enum status file_open_beneath(int root_fd, const char *path, bool follow_symlinks, int *ret_fd,
                              struct file_stamp *ret, struct error *err)
{
    int fd = -1;

    if (climbs(path))
        errno = EXDEV;
    else
        fd = open_resolved(root_fd, path, follow_symlinks);
    /* Sandboxes that do not know openat2 say EPERM. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = follow_symlinks ? openat(root_fd, path, O_PATH | O_CLOEXEC)
                             : open_walking(root_fd, path);
    return follow_symlinks ? open_held(path, fd, ret_fd, ret, err)
                           : accept_regular(path, fd, ret_fd, ret, err);
}

/* A file system that knows no holes says that all of it is there. */
uint64_t file_data_bytes(int fd, uint64_t size, uint64_t enough)
{
    uint64_t there = 0;
    off_t at = 0;

    while (there < enough && (uint64_t)at < size) {
        off_t data = lseek(fd, at, SEEK_DATA);

        if (data < 0)
            return errno == ENXIO ? there : size;
        at = lseek(fd, data, SEEK_HOLE);
        if (at <= data)
            return size;
        there += (uint64_t)(at - data);
    }
    return there < size ? there : size;
}

void file_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

enum status file_map(int fd, size_t size, struct file_map *ret, struct error *err)
{
    *ret = (struct file_map){0};
    if (size == 0)
        return OK;

    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (at == MAP_FAILED)
        return fail(err, ERR_IO, "a file of %zu bytes cannot be mapped: %s", size, strerror(errno));
    ret->bytes = (struct bytes){.at = at, .count = size};
    return OK;
}

void file_unmap(struct file_map *map)
{
    if (map->bytes.count > 0)
        munmap((void *)(uintptr_t)map->bytes.at, map->bytes.count);
    *map = (struct file_map){0};
}

enum { WILL_NEED_BYTES = 128 << 10 };

void file_will_need(const void *at, size_t count)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)at / page * page, end = (uintptr_t)at + count;

    /* Advice only: a refusal changes nothing but the speed. The kernel reads no more at once than
     * its readahead allows, and silently leaves the rest: so piece by piece. */
    for (uintptr_t next; count > 0 && from < end; from = next) {
        next = end - from > WILL_NEED_BYTES ? from + WILL_NEED_BYTES : end;
        (void)madvise((void *)from, next - from, MADV_WILLNEED);
    }
}

static enum status read_all(int fd, const char *path, uint8_t *at, size_t size, size_t *ret,
                            struct error *err)
{
    size_t count = 0;

    while (count < size) {
        ssize_t got = read(fd, at + count, size - count);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(path, errno, err);
        if (got == 0)
            break;
        count += (size_t)got;
    }
    *ret = count;
    return OK;
}

bool file_without_links(const char *path, char *ret, size_t size)
{
    char directory[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t count = slash == NULL ? 0 : (size_t)(slash - path);

    if (count >= sizeof directory)
        return false;
    memcpy(directory, path, count);
    directory[count] = '\0';
    const char *given = slash == NULL ? "." : count == 0 ? "/" : directory;
    if (realpath(given, real) == NULL)
        return false;
    return snprintf(ret, size, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < (int)size;
}

enum status file_read(const char *path, struct arena *arena, size_t limit, struct bytes *ret,
                      struct error *err)
{
    struct file_stamp stamp;
    int fd;

    TRY(file_open(path, &fd, &stamp, err));
    if (stamp.size > limit) {
        file_close(fd);
        return fail(err, ERR_LIMIT, "%s has %" PRIu64 " bytes, more than the limit of %zu", path,
                    stamp.size, limit);
    }

    uint8_t *at = arena_array(arena, uint8_t, stamp.size);
    size_t count = 0;
    enum status status = read_all(fd, path, at, stamp.size, &count, err);

    file_close(fd);
    *ret = (struct bytes){.at = at, .count = count};
    return status;
}
