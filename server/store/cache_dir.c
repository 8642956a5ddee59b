/* SPDX-License-Identifier: Apache-2.0 */
/* The cache on disk: where it lies, and what lies where.
 *
 * Every process has a directory of its own in tmp/ and holds an flock on it: one whose lock is
 * free was left by a process that is no more, and is removed by whoever opens the cache next.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/cache_parts.h"
#include "store/segment.h"

enum { REMOVE_FDS = 16 };

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

void cache_remove_dir(const char *path)
{
    nftw(path, remove_one, REMOVE_FDS, FTW_DEPTH | FTW_PHYS);
}

/* "$XDG_CACHE_HOME/jviewd", "~/.cache/jviewd", or what was asked for; absolute. */
enum status cache_place(const char *dir, char ret[CACHE_DIR_SIZE], struct error *err)
{
    const char *base = getenv("XDG_CACHE_HOME"), *tail = "/jviewd";
    char cwd[CACHE_DIR_SIZE] = "";

    if (dir[0] != '\0') {
        base = dir;
        tail = "";
    } else if (base == NULL || base[0] != '/') {
        base = getenv("HOME");
        tail = "/.cache/jviewd";
        if (base == NULL || base[0] != '/')
            return fail(err, ERR_NOT_FOUND,
                        "neither XDG_CACHE_HOME nor HOME is set, so the cache has no place");
    }
    if (base[0] != '/' && getcwd(cwd, sizeof cwd) == NULL)
        return fail(err, ERR_IO, "the current directory no longer exists");

    int count =
        snprintf(ret, CACHE_DIR_SIZE, "%s%s%s%s", cwd, cwd[0] == '\0' ? "" : "/", base, tail);

    if (count >= CACHE_DIR_SIZE)
        return fail(err, ERR_INVALID, "the path of the cache is too long (%d bytes)", count);
    return OK;
}

/* The lock of tmp/ itself: nobody removes a directory between its making and its locking. */
static int lock_all_temporary(const struct cache *cache)
{
    char path[CACHE_DIR_SIZE + 64];

    snprintf(path, sizeof path, "%s/tmp", cache->dir);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    return fd;
}

static enum status make_locked(struct cache *cache, char path[CACHE_DIR_SIZE + 64],
                               struct error *err)
{
    if (mkdtemp(path) == NULL)
        return fail(err, errno == EACCES || errno == EROFS ? ERR_PERMISSION : ERR_IO,
                    "%s cannot be made: %s", path, strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (fd >= 0)
            close(fd);
        rmdir(path);
        return fail(err, ERR_IO, "%s cannot be locked: %s", path, strerror(errno));
    }
    if (cache->temporary_fd >= 0)
        close(cache->temporary_fd);
    cache->temporary_fd = fd;
    memcpy(cache->temporary, path, sizeof cache->temporary);
    return OK;
}

static enum status make_temporary(struct cache *cache, struct error *err)
{
    char path[CACHE_DIR_SIZE + 64];

    snprintf(path, sizeof path, "%s/tmp", cache->dir);
    TRY(directory_make(path, err));
    snprintf(path, sizeof path, "%s/tmp/%ld-XXXXXX", cache->dir, (long)getpid());
    int all = lock_all_temporary(cache);
    enum status status = make_locked(cache, path, err);
    if (all >= 0)
        close(all);
    return status;
}

static void remove_if_left(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        cache_remove_dir(path);
    close(fd);
}

/* Removes what processes that are no more have left. */
static void remove_leftovers(struct cache *cache)
{
    char path[CACHE_DIR_SIZE + 320];
    int all = lock_all_temporary(cache);

    snprintf(path, sizeof path, "%s/tmp", cache->dir);
    DIR *names = opendir(path);
    for (struct dirent *one; names != NULL && (one = readdir(names)) != NULL;) {
        if (one->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/tmp/%s", cache->dir, one->d_name);
        remove_if_left(path);
    }
    if (names != NULL)
        closedir(names);
    if (all >= 0)
        close(all);
}

static enum status make_private(struct cache *cache, struct error *err)
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || base[0] != '/' || strlen(base) > 2000)
        base = "/tmp";
    snprintf(cache->dir, sizeof cache->dir, "%s/jviewd-XXXXXX", base);
    if (mkdtemp(cache->dir) == NULL)
        return fail(err, ERR_IO, "no cache can be created in %s either: %s", base, strerror(errno));
    cache->is_private = true;
    return make_temporary(cache, err);
}

enum status cache_dir_open(struct cache *cache, const char *dir, struct arena *arena,
                           struct str *ret_reason, struct error *err)
{
    struct error why = {0};
    enum status status = cache_place(dir, cache->dir, &why);

    *ret_reason = STR("");
    cache->temporary_fd = -1;
    if (status == OK)
        status = directory_make(cache->dir, &why);
    if (status == OK)
        status = make_temporary(cache, &why);
    if (status != OK) {
        TRY(make_private(cache, err));
        *ret_reason = str_format(
            arena,
            "%s; a temporary cache in %s is used instead, and is deleted when this process ends",
            why.message, cache->dir);
        return OK;
    }
    remove_leftovers(cache);
    return OK;
}

void cache_dir_close(struct cache *cache)
{
    if (cache->is_private)
        cache_remove_dir(cache->dir);
    else if (cache->temporary[0] != '\0')
        cache_remove_dir(cache->temporary);
    if (cache->temporary_fd >= 0)
        close(cache->temporary_fd);
}

enum status cache_temporary_dir(struct cache *cache, char ret[4096], struct error *err)
{
    enum status status = OK;
    struct stat seen;

    pthread_mutex_lock(&cache->lock);
    if (stat(cache->temporary, &seen) != 0 || !S_ISDIR(seen.st_mode))
        status = make_temporary(cache, err);
    if (status == OK)
        snprintf(ret, 4096, "%s", cache->temporary);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

enum status cache_job_dir(struct cache *cache, char ret[4096], struct error *err)
{
    char directory[4096];

    TRY(cache_temporary_dir(cache, directory, err));
    if (snprintf(ret, 4096, "%s/XXXXXX", directory) >= 4096 || mkdtemp(ret) == NULL)
        return fail(err, errno == EACCES || errno == EROFS ? ERR_PERMISSION : ERR_IO,
                    "%s cannot be made: %s", ret, strerror(errno));
    return OK;
}

const char *cache_dir(const struct cache *cache)
{
    return cache->dir;
}

static void path_of(const struct cache *cache, const char content[33], const char *suffix,
                    char ret[4096])
{
    snprintf(ret, 4096, "%s/segments-%d.%d.%d/%.2s/%s%s", cache->dir, SEGMENT_VERSION,
             KIND_RULES_VERSION, ATTRIBUTION_VERSION, content, content, suffix);
}

void cache_segment_path(const struct cache *cache, const char content[33], char ret[4096])
{
    path_of(cache, content, ".seg", ret);
}

void cache_attribution_path(const struct cache *cache, const char content[33], char ret[4096])
{
    path_of(cache, content, ".attr", ret);
}

void cache_download_path(const struct cache *cache, const char key[33], struct str name,
                         char ret[4096])
{
    snprintf(ret, 4096, "%s/downloads/%s/%.*s", cache->dir, key, STR_ARG(name));
}

/* Moves a finished file into its place; counts its bytes. */
static enum status move_into_place(struct cache *cache, const char *from, const char *to,
                                   struct error *err)
{
    struct stat seen;
    char directory[4096];

    snprintf(directory, sizeof directory, "%s", to);
    *strrchr(directory, '/') = '\0';
    TRY(directory_make(directory, err));
    if (stat(from, &seen) != 0 || rename(from, to) != 0)
        return fail(err, ERR_IO, "%s cannot become %s: %s", from, to, strerror(errno));
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    pthread_mutex_lock(&cache->lock);
    cache->bytes += (uint64_t)seen.st_size;
    pthread_mutex_unlock(&cache->lock);
    return OK;
}

enum status cache_adopt(struct cache *cache, const char content[33], const char *segment_path,
                        const char *attribution_path, struct error *err)
{
    char path[4096];

    if (attribution_path[0] != '\0') {
        cache_attribution_path(cache, content, path);
        TRY(move_into_place(cache, attribution_path, path, err));
    }
    if (segment_path[0] == '\0')
        return OK;
    cache_segment_path(cache, content, path);
    return move_into_place(cache, segment_path, path, err);
}

enum status cache_adopt_download(struct cache *cache, const char *made, const char *path,
                                 struct error *err)
{
    TRY(move_into_place(cache, made, path, err));
    if (cache_bytes(cache) > cache_bytes_max(cache))
        cache_evict(cache);
    return OK;
}
