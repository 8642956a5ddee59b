/* SPDX-License-Identifier: Apache-2.0 */
/* Writing: beside the final name, synced, renamed, and the directory synced too, so that after a
 * crash there is the old file or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { NAME_TRIES_MAX = 16 };

static enum status cannot(const char *what, const char *path, int error, struct error *err)
{
    enum status code =
        error == EACCES || error == EPERM || error == EROFS ? ERR_PERMISSION : ERR_IO;

    return fail(err, code, "%s cannot be %s: %s", path, what, strerror(error));
}

enum status file_out_open(struct file_out *out, const char *path, struct error *err)
{
    out->fd = -1;
    if (strlen(path) >= sizeof(out->final) - sizeof(".0123456789abcdef.tmp"))
        return fail(err, ERR_INVALID, "the path of a file to write is too long (%zu bytes)",
                    strlen(path));
    memcpy(out->final, path, strlen(path) + 1);
    for (int i = 0; i < NAME_TRIES_MAX; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return fail(err, ERR_IO, "the system has no random numbers: %s", strerror(errno));
        snprintf(out->temporary, sizeof(out->temporary), "%.*s.%016" PRIx64 ".tmp",
                 (int)(sizeof(out->temporary) - sizeof(".0123456789abcdef.tmp")), path, random);
        out->fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (out->fd >= 0)
            return OK;
        if (errno != EEXIST)
            break;
    }
    return cannot("made", out->temporary, errno, err);
}

void file_out_abandon(struct file_out *out)
{
    if (out->fd < 0)
        return;
    close(out->fd);
    out->fd = -1;
    unlink(out->temporary);
}

static enum status sync_directory(const char *path, struct error *err)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t count = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);

    if (count >= sizeof(directory))
        return fail(err, ERR_INVALID, "a path is too long (%zu bytes)", count);
    memcpy(directory, count == 0 ? "." : path, count == 0 ? 1 : count);
    directory[count == 0 ? 1 : count] = '\0';

    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return cannot("opened", directory, errno, err);

    int error = fsync(fd) == 0 ? 0 : errno;

    close(fd);
    /* Some network file systems do not sync directories, and say so. */
    return error == 0 || error == EINVAL ? OK : cannot("synced", directory, error, err);
}

enum status file_out_commit(struct file_out *out, struct error *err)
{
    if (fsync(out->fd) != 0 || rename(out->temporary, out->final) != 0) {
        enum status status = cannot("written", out->final, errno, err);

        file_out_abandon(out);
        return status;
    }
    close(out->fd);
    out->fd = -1;
    return sync_directory(out->final, err);
}

enum status file_write_all(int fd, const void *at, size_t count, uint64_t offset, struct error *err)
{
    const uint8_t *from = at;

    while (count > 0) {
        ssize_t put = pwrite(fd, from, count, (off_t)offset);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && (errno == ENOSPC || errno == EDQUOT))
            return fail(err, ERR_IO, "the disk is full: %zu bytes cannot be written", count);
        if (put <= 0)
            return fail(err, ERR_IO, "%zu bytes cannot be written: %s", count, strerror(errno));
        from += put;
        count -= (size_t)put;
        offset += (uint64_t)put;
    }
    return OK;
}

enum status directory_make(const char *path, struct error *err)
{
    char part[4096];
    size_t count = strlen(path);
    struct stat seen;

    if (count == 0 || count >= sizeof(part))
        return fail(err, ERR_INVALID, "a directory's path has %zu bytes", count);
    memcpy(part, path, count + 1);
    for (size_t i = 1; i <= count; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST && stat(part, &seen) != 0)
            return cannot("made", part, errno, err);
        part[i] = path[i];
    }
    if (stat(path, &seen) != 0 || !S_ISDIR(seen.st_mode))
        return cannot("made", path, ENOTDIR, err);
    return OK;
}
