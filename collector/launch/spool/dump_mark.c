/* SPDX-License-Identifier: Apache-2.0 */
/* Writes, reads, copies and removes the hidden file that names a dump of XLA's modules. */
#include "launch/spool/dump_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH_BYTES = 4400 };

static void mark_path(const char *directory, char ret[PATH_BYTES])
{
    snprintf(ret, PATH_BYTES, "%.4000s/.jview-dump", directory);
}

enum status dump_mark_put(const char *directory, const char *dump, struct error *err)
{
    char path[PATH_BYTES];

    mark_path(directory, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return OK;
    if (fd < 0)
        return fail(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
    enum status status = file_write_all(fd, dump, strlen(dump), 0, err);
    close(fd);
    if (status != OK)
        unlink(path);
    return status;
}

bool dump_mark_get(const char *directory, char ret[DUMP_PATH_BYTES])
{
    char path[PATH_BYTES];
    struct file_stamp stamp;
    struct error ignored = {0};
    int fd;

    mark_path(directory, path);
    if (file_open(path, &fd, &stamp, &ignored) != OK)
        return false;
    ssize_t count = read(fd, ret, DUMP_PATH_BYTES - 1);

    file_close(fd);
    ret[count > 0 ? count : 0] = '\0';
    return ret[0] != '\0';
}

enum status dump_mark_copy(const char *from, const char *to, struct error *err)
{
    char dump[DUMP_PATH_BYTES];

    return dump_mark_get(from, dump) ? dump_mark_put(to, dump, err) : OK;
}

void dump_mark_remove(const char *directory)
{
    char path[PATH_BYTES];

    mark_path(directory, path);
    unlink(path);
}
