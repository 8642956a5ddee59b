/* SPDX-License-Identifier: Apache-2.0 */
/* The map from watch descriptors to paths, and the test whether a file system tells changes. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "discover/hint.h"
#include "discover/session.h"
#include "discover/watched.h"

static const uint32_t wanted = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO |
                               IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF |
                               IN_ATTRIB | IN_ONLYDIR;

/* File systems that other machines write to, or that do not tell. */
bool watched_tells_changes(const char *path)
{
    static const unsigned long silent[] = {
        0x6969 /* NFS */,        0xff534d42 /* CIFS */,   0xfe534d42 /* SMB2 */,
        0x517b /* SMB */,        0x65735546 /* FUSE */,   0x01021997 /* 9P */,
        0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */,   0x00c36400 /* Ceph */,
        0x5346414f /* AFS */,    0x19830326 /* BeeGFS */,
    };
    struct statfs stat;

    if (statfs(path, &stat) != 0)
        return false;
    for (size_t i = 0; i < COUNT(silent); i++)
        if ((unsigned long)stat.f_type == silent[i])
            return false;
    return true;
}

static void remember(struct watched *watched, int descriptor, const char *path)
{
    size_t index = (size_t)descriptor;

    if (index >= watched->path_capacity) {
        size_t capacity = watched->path_capacity == 0 ? 64 : watched->path_capacity;

        while (capacity <= index)
            capacity *= 2;
        watched->paths = memory_resize(watched->paths, capacity, sizeof *watched->paths);
        for (size_t i = watched->path_capacity; i < capacity; i++)
            watched->paths[i] = NULL;
        watched->path_capacity = capacity;
    }
    if (watched->paths[index] == NULL)
        watched->count++;
    else
        free(watched->paths[index]);
    size_t size = strlen(path) + 1;

    watched->paths[index] = memory_resize(NULL, size, 1);
    memcpy(watched->paths[index], path, size);
}

/* False when it cannot be watched, or is watched already under this path. */
static bool add_one(struct watched *watched, const char *path, const char *whole)
{
    uint32_t mask = wanted;
    bool is_root = path[0] == '\0';

    if (!watched->follow_symlinks && !is_root)
        mask |= IN_DONT_FOLLOW;
    if (watched->count >= watched->count_max) {
        watched->lost = "more directories than inotify watches";
        return false;
    }
    int descriptor = inotify_add_watch(watched->inotify_fd, whole, mask);

    if (descriptor < 0) {
        if (errno == ENOSPC || errno == ENOMEM)
            watched->lost = "the system has no watches left";
        return false;
    }
    const char *known = watched_path(watched, descriptor);

    if (known != NULL && strcmp(known, path) == 0)
        return false;
    bool is_new = known == NULL; /* else reached by a link: one path is enough */

    if (is_new)
        remember(watched, descriptor, path);
    return is_new;
}

static bool is_directory(const char *parent, const struct dirent *entry, bool follow)
{
    if (entry->d_type == DT_DIR)
        return true;
    if (entry->d_type != DT_UNKNOWN && (entry->d_type != DT_LNK || !follow))
        return false;
    struct text path = {0};
    struct stat stat_of;

    text_putf(&path, "%s/%s", parent, entry->d_name);
    bool found = (follow ? stat(path.at, &stat_of) : lstat(path.at, &stat_of)) == 0;

    text_free(&path);
    return found && S_ISDIR(stat_of.st_mode);
}

/* A link may lead to a file system that says nothing. */
static void look_at_target(struct watched *watched, const char *path)
{
    struct text whole = {0};

    text_putf(&whole, "%s/%s", watched->root, path);
    if (!watched_tells_changes(whole.at))
        watched->lost = "a link leads to a file system that does not report changes";
    text_free(&whole);
}

bool watched_wants(const struct watched *watched, const char *directory, const char *name)
{
    if (session_is_named(str_of(watched->root), str_of(directory)))
        return name[0] != '.';
    /* jview.json is no profile, but says what one is called and where it stands. */
    return hint_of(str_of(name)).kind != HINT_NONE || strcmp(name, "jview.json") == 0;
}

void watched_lose_linked_file(struct watched *watched)
{
    if (watched->lost == NULL)
        watched->lost = "a link leads to a file that is not watched";
}

void watched_add(struct watched *watched, const char *path, unsigned depth)
{
    struct text whole = {0}, below = {0};

    text_putf(&whole, path[0] != '\0' ? "%s/%s" : "%s%s", watched->root, path);
    DIR *stream = NULL;

    if (depth <= watched->depth_max && add_one(watched, path, whole.at))
        stream = opendir(whole.at);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        if (hint_skips_directory(str_of(entry->d_name)))
            continue;
        if (!is_directory(whole.at, entry, watched->follow_symlinks)) {
            if (watched->follow_symlinks && entry->d_type == DT_LNK &&
                watched_wants(watched, path, entry->d_name))
                watched_lose_linked_file(watched);
            continue;
        }
        below.count = 0;
        text_putf(&below, path[0] != '\0' ? "%s/%s" : "%s%s", path, entry->d_name);
        if (entry->d_type == DT_LNK)
            look_at_target(watched, below.at);
        watched_add(watched, below.at, depth + 1);
    }
    if (stream != NULL)
        closedir(stream);
    text_free(&below);
    text_free(&whole);
}

const char *watched_path(const struct watched *watched, int descriptor)
{
    if (descriptor < 0 || (size_t)descriptor >= watched->path_capacity)
        return NULL;
    return watched->paths[descriptor];
}

bool watched_knows(const struct watched *watched, const char *path)
{
    for (size_t i = 0; i < watched->path_capacity; i++)
        if (watched->paths[i] != NULL && strcmp(watched->paths[i], path) == 0)
            return true;
    return false;
}

void watched_forget(struct watched *watched, int descriptor)
{
    if (watched_path(watched, descriptor) == NULL)
        return;
    free(watched->paths[descriptor]);
    watched->paths[descriptor] = NULL;
    watched->count--;
}

void watched_free(struct watched *watched)
{
    for (size_t i = 0; i < watched->path_capacity; i++)
        free(watched->paths[i]);
    free(watched->paths);
    watched->paths = NULL;
    watched->path_capacity = watched->count = 0;
}
