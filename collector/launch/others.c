/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for XPlane files that are newer than the session and lack the sign that ours carry. */
#include "launch/others.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4400, END_BYTES = 1 << 15 };
#define SUFFIX ".xplane.pb"
#define SIGN "jview_collect_version" /* stands at the end of what we wrote */

static bool is_later(struct timespec at, struct timespec than)
{
    return at.tv_sec != than.tv_sec ? at.tv_sec > than.tv_sec : at.tv_nsec > than.tv_nsec;
}

static bool is_by_us(const char *path)
{
    static char end[END_BYTES];
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t count = -1;

    if (fd >= 0 && fstat(fd, &about) == 0)
        count =
            pread(fd, end, sizeof end, about.st_size > END_BYTES ? about.st_size - END_BYTES : 0);
    if (fd >= 0)
        close(fd);
    return count < 0 || memmem(end, (size_t)count, SIGN, sizeof SIGN - 1) != NULL;
}

/* Does a session hold an XPlane that was written since, and not by us? */
static bool is_others(const char *session, struct timespec since)
{
    char path[PATH_BYTES + 256];
    struct stat about;
    bool is_found = false;
    DIR *open = opendir(session);

    for (struct dirent *entry; !is_found && open != NULL && (entry = readdir(open)) != NULL;) {
        size_t count = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;

        if (count < suffix || strcmp(entry->d_name + count - suffix, SUFFIX) != 0)
            continue;
        snprintf(path, sizeof path, "%.4000s/%.255s", session, entry->d_name);
        is_found = stat(path, &about) == 0 && is_later(about.st_mtim, since) && !is_by_us(path);
    }
    if (open != NULL)
        closedir(open);
    return is_found;
}

void others_tell(const struct launched *session)
{
    char path[PATH_BYTES], profile[PATH_BYTES];
    struct stat begin; /* of our page: it was written at the beginning */

    snprintf(path, sizeof path, "%.3500s/plugins/profile", session->out);
    DIR *open = fstat(session->control_fd, &begin) == 0 ? opendir(path) : NULL;
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        snprintf(profile, sizeof profile, "%.4000s/%.255s", path, entry->d_name);
        if (entry->d_name[0] != '.' && is_others(profile, begin.st_mtim))
            fprintf(stderr,
                    "jview-collect: another profiler (the JAX profiler?) wrote %s during the "
                    "recording; of two in one\n  process only one gets CUDA activity\n",
                    profile);
    }
    if (open != NULL)
        closedir(open);
}
