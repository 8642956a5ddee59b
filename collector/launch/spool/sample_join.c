/* SPDX-License-Identifier: Apache-2.0 */
/* Appends the frames of a process's samples to the spool that the process wrote itself. */
#include "launch/spool/sample_join.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/record.h"
#include "launch/spool/spools.h"

enum { PATH_BYTES = 4400, PIECE = 1 << 16, CHECK_BYTES = sizeof(uint64_t) };

/* Behind the head and the first frame, which tells of the process what its own spool tells. */
static off_t frames_at(int fd)
{
    struct spool_frame frame;

    if (pread(fd, &frame, sizeof frame, sizeof(struct spool_head)) != sizeof frame ||
        frame.magic != SPOOL_FRAME_MAGIC || frame.type != SPOOL_ABOUT)
        return -1;
    return (off_t)(sizeof(struct spool_head) + sizeof frame + CHECK_BYTES) + frame.packed_bytes;
}

static bool append(int from, int to)
{
    char piece[PIECE / 4];
    off_t at = frames_at(from);
    ssize_t got;

    if (at < 0)
        return false;
    for (; (got = pread(from, piece, sizeof piece, at)) > 0; at += got)
        if (write(to, piece, (size_t)got) != got)
            return false;
    return got == 0;
}

/* All or nothing: what a full disk took of them is cut off again. */
static bool join(const char *samples, const char *spool)
{
    struct stat before;
    int from = open(samples, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int to = open(spool, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    bool is_joined = from >= 0 && to >= 0 && fstat(to, &before) == 0 && append(from, to);

    if (from >= 0 && to >= 0 && !is_joined && ftruncate(to, before.st_size) != 0)
        is_joined = false; /* the reader passes over a torn frame */
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return is_joined;
}

/* "466-3444070-samples.jvs" -> "466-3444070.jvs" */
static bool own_name(const char *name, char ret[NAME_MAX + 1])
{
    static const char ending[] = SAMPLES_KIND SPOOL_SUFFIX;
    size_t count = strlen(name), end = sizeof ending - 1;

    if (count <= end || count > NAME_MAX || strcmp(name + count - end, ending) != 0)
        return false;
    snprintf(ret, NAME_MAX + 1, "%.*s" SPOOL_SUFFIX, (int)(count - end), name);
    return true;
}

void samples_join(const char *directory)
{
    char own[NAME_MAX + 1], from[PATH_BYTES], to[PATH_BYTES];
    DIR *open = opendir(directory);

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!own_name(entry->d_name, own) || spools_is_held(directory, entry->d_name) ||
            spools_is_held(directory, own))
            continue;
        snprintf(from, sizeof from, "%.4000s/%s", directory, entry->d_name);
        snprintf(to, sizeof to, "%.4000s/%s", directory, own);
        if (join(from, to))
            unlink(from);
    }
    if (open != NULL)
        closedir(open);
}
