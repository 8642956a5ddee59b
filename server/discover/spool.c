/* SPDX-License-Identifier: Apache-2.0 */
/* A recording whose launcher was killed: jview-collect's spools, which nobody moved to their place.
 *
 *   OUT/.jview-spool/SESSION/control          held (flock) as long as its launcher lives
 *                           /466-3.jvs        held as long as its process lives
 *                           /capture-1/...    the same of each capture
 */
#include "discover/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { DEPTH_MAX = 2 };

static DIR *open_below(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *ret = fd < 0 ? NULL : fdopendir(fd);

    if (ret == NULL && fd >= 0)
        close(fd);
    return ret;
}

static bool is_held(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

/* Does a spool lie there that nobody writes any more? */
static bool holds_spool(int directory, const char *name, unsigned depth)
{
    DIR *open = open_below(directory, name);
    bool found = false;

    for (struct dirent *entry; !found && open != NULL && (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (str_ends(str_of(entry->d_name), STR(".jvs")))
            found = !is_held(dirfd(open), entry->d_name);
        else if (depth < DEPTH_MAX)
            found = holds_spool(dirfd(open), entry->d_name, depth + 1);
    }
    if (open != NULL)
        closedir(open);
    return found;
}

static bool is_live(int spools, const char *session)
{
    DIR *open = open_below(spools, session);
    bool live = open != NULL && is_held(dirfd(open), "control");

    if (open != NULL)
        closedir(open);
    return live;
}

bool spools_are_left(int directory)
{
    DIR *open = open_below(directory, SPOOL_DIRECTORY);
    bool left = false;

    for (struct dirent *entry; !left && open != NULL && (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] != '.' && !is_live(dirfd(open), entry->d_name))
            left = holds_spool(dirfd(open), entry->d_name, 1);
    }
    if (open != NULL)
        closedir(open);
    return left;
}
