/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a finished file its name by renameat2, or by link where a file system lacks that, and
 * syncs its directory. */
#include "launch/spool/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "launch/spool/sync.h"

static bool has_same_bytes(const char *path, const char *other_path)
{
    struct error err = {0};
    struct file_stamp stamp, other_stamp;
    struct file_map map, other_map;
    int fd = -1, other_fd = -1;
    bool ret = file_open(path, &fd, &stamp, &err) == OK &&
               file_open(other_path, &other_fd, &other_stamp, &err) == OK &&
               stamp.size == other_stamp.size && file_map(fd, stamp.size, &map, &err) == OK;

    if (ret) {
        ret = file_map(other_fd, stamp.size, &other_map, &err) == OK;
        if (ret) {
            ret = memcmp(map.bytes.at, other_map.bytes.at, stamp.size) == 0;
            file_unmap(&other_map);
        }
        file_unmap(&map);
    }
    file_close(fd);
    file_close(other_fd);
    return ret;
}

/* Without a moment in which another's file could be lost; 0, or why not. Some network file systems
 * know links but no such rename; on those that know neither a look before must do. */
static int take_name(const char *made, const char *target)
{
    if (renameat2(AT_FDCWD, made, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(made, target) == 0) {
        unlink(made);
        return 0;
    }
    if (errno != EPERM && errno != ENOTSUP)
        return errno;
    if (access(target, F_OK) == 0)
        return EEXIST;
    return rename(made, target) == 0 ? 0 : errno;
}

enum status publish_file(const char *made, const char *target, const char *directory,
                         struct error *err)
{
    int why = take_name(made, target);

    if (why == EEXIST && !has_same_bytes(made, target))
        return fail(err, ERR_CONFLICT, "%s is there already", target);
    if (why != 0 && why != EEXIST)
        return fail(err, ERR_IO, "%s cannot be written: %s", target, strerror(why));
    enum status status = sync_directory(directory, err);

    if (status != OK)
        unlink(target); /* what it was made of is still there */
    return status;
}
