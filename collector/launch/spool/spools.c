/* SPDX-License-Identifier: Apache-2.0 */
/* The spools in a directory: which are held by the process that writes them, and their bytes. */
#include "launch/spool/spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "api/record.h"

enum { PATH_BYTES = 4096, WAIT_MS = 100 };

bool spools_map(const char *path, struct file_map *ret)
{
    struct file_stamp stamp;
    struct error err = {0};
    int fd;

    if (file_open(path, &fd, &stamp, &err) != OK)
        return false;
    enum status status = file_map(fd, stamp.size, ret, &err);
    file_close(fd);
    return status == OK;
}

bool spools_is_one(const char *name)
{
    size_t count = strlen(name), suffix = strlen(SPOOL_SUFFIX);

    return count > suffix && strcmp(name + count - suffix, SPOOL_SUFFIX) == 0;
}

bool spools_is_held(const char *directory, const char *name)
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

void spools_count(const char *directory, struct spools *ret)
{
    DIR *open = opendir(directory);

    *ret = (struct spools){0};
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!spools_is_one(entry->d_name))
            continue;
        if (spools_is_held(directory, entry->d_name))
            ret->busy++;
        else
            ret->moved++;
    }
    if (open != NULL)
        closedir(open);
}

void spools_wait(const char *directory)
{
    const struct timespec nap = {.tv_nsec = WAIT_MS * 1000000};
    struct spools now;

    for (spools_count(directory, &now); now.busy > 0; spools_count(directory, &now))
        nanosleep(&nap, NULL);
}

void spools_free(struct spools *spools)
{
    for (uint32_t index = 0; index < spools->profile_count; index++)
        free(spools->profiles[index]);
    free(spools->profiles);
}
