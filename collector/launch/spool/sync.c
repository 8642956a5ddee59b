/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs a directory, so that the names in it survive a loss of power. */
#include "launch/spool/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum status sync_directory(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some network file systems do not sync directories, and say so. */
    bool is_synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    int why = errno;

    if (fd >= 0)
        close(fd);
    return is_synced ? OK : fail(err, ERR_IO, "cannot sync %s: %s", path, strerror(why));
}
