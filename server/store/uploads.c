/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the directories of uploads, counts their bytes, and renames a finished one into place. */
#include "store/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

enum { NAME_BYTES_MAX = 120, SAME_NAME_MAX = 10000 };

/* What must stay free on the disk for indexes and for everybody else. */
static const uint64_t kept_free_bytes = UINT64_C(64) << 20;

struct uploads {
    struct cache *cache;
    struct uploads_limits limits;
    char dir[4096];
    pthread_mutex_t lock;
    uint64_t bytes; /* guarded */
};

static enum status join(char ret[4096], struct error *err, const char *above, const char *below)
{
    if (snprintf(ret, 4096, "%s/%s", above, below) >= 4096)
        return fail(err, ERR_INVALID, "the path of the cache is too long");
    return OK;
}

static enum status cannot(const char *what, int error, struct error *err)
{
    enum status code = error == EACCES || error == EPERM ? ERR_PERMISSION : ERR_IO;

    return fail(err, code, "%s: %s", what, strerror(error));
}

/* Of the regular files below; links are not followed. */
static uint64_t bytes_below(const char *path)
{
    struct stat seen;
    uint64_t bytes = 0;

    if (lstat(path, &seen) != 0)
        return 0;
    if (S_ISREG(seen.st_mode))
        return (uint64_t)seen.st_size;
    DIR *names = S_ISDIR(seen.st_mode) ? opendir(path) : NULL;
    for (struct dirent *one; names != NULL && (one = readdir(names)) != NULL;) {
        char inner[4096];

        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0 &&
            join(inner, NULL, path, one->d_name) == OK)
            bytes += bytes_below(inner);
    }
    if (names != NULL)
        closedir(names);
    return bytes;
}

enum status uploads_open(struct cache *cache, struct uploads_limits limits, struct arena *arena,
                         struct uploads **ret, struct error *err)
{
    struct uploads *uploads = arena_new(arena, struct uploads);
    char path[4096], real[4096];

    TRY(join(path, err, cache_dir(cache), "uploads"));
    TRY(directory_make(path, err));
    if (realpath(path, real) == NULL)
        return cannot(path, errno, err);
    *uploads = (struct uploads){.cache = cache, .limits = limits, .bytes = bytes_below(real)};
    memcpy(uploads->dir, real, sizeof real);
    pthread_mutex_init(&uploads->lock, NULL);
    *ret = uploads;
    return OK;
}

void uploads_close(struct uploads *uploads)
{
    if (uploads != NULL)
        pthread_mutex_destroy(&uploads->lock);
}

const char *uploads_dir(const struct uploads *uploads)
{
    return uploads->dir;
}

struct uploads_limits uploads_limits(const struct uploads *uploads)
{
    return uploads->limits;
}

uint64_t uploads_bytes(struct uploads *uploads)
{
    pthread_mutex_lock(&uploads->lock);
    uint64_t bytes = uploads->bytes;
    pthread_mutex_unlock(&uploads->lock);
    return bytes;
}

/* Is there room for so many bytes more? Then they count. */
static bool take_room(struct uploads *uploads, uint64_t bytes)
{
    pthread_mutex_lock(&uploads->lock);
    bool fits = uploads->bytes <= uploads->limits.all_bytes_max &&
                bytes <= uploads->limits.all_bytes_max - uploads->bytes;
    if (fits)
        uploads->bytes += bytes;
    pthread_mutex_unlock(&uploads->lock);
    return fits;
}

static void give_room(struct uploads *uploads, uint64_t bytes)
{
    pthread_mutex_lock(&uploads->lock);
    uploads->bytes -= bytes < uploads->bytes ? bytes : uploads->bytes;
    pthread_mutex_unlock(&uploads->lock);
}

static struct str last_part(struct str path)
{
    for (size_t i = path.count; i > 0; i--) {
        if (path.at[i - 1] == '/' || path.at[i - 1] == '\\')
            return str_skip(path, i);
    }
    return path;
}

/* What ends the name of a profile file; a run is called without it. */
static bool is_suffix(struct str word)
{
    static const char *const words[] = {
        "gz",   "zst",    "xz",   "zip", "pb",      "json",     "pt",  "xplane", "trace",  "pprof",
        "prof", "sqlite", "html", "txt", "pftrace", "nsys-rep", "tar", "log",    "pickle", "pkl"};

    for (size_t i = 0; i < COUNT(words); i++) {
        if (str_equal(word, str_of(words[i])))
            return true;
    }
    return false;
}

static struct str without_suffixes(struct str name)
{
    for (;;) {
        const char *dot = name.count == 0 ? NULL : memrchr(name.at, '.', name.count);

        if (dot == NULL || dot == name.at ||
            !is_suffix(str_skip(name, (size_t)(dot - name.at) + 1)))
            return name;
        name.count = (size_t)(dot - name.at);
    }
}

static bool is_inside_letter(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void upload_names(struct str given, char ret_file[UPLOAD_NAME_SIZE], char ret_run[UPLOAD_NAME_SIZE])
{
    struct arena *arena = arena_create();
    struct str name = last_part(str_utf8(arena, given));

    while (name.count > 0 && (name.at[0] == '.' || name.at[0] == ' '))
        name = str_skip(name, 1);
    if (name.count > NAME_BYTES_MAX) { /* what ends it says most */
        name = str_skip(name, name.count - NAME_BYTES_MAX);
        while (name.count > 0 && (is_inside_letter(name.at[0]) || name.at[0] == '.'))
            name = str_skip(name, 1);
    }
    if (name.count == 0)
        name = STR("profile");
    for (size_t i = 0; i < name.count; i++)
        ret_file[i] = (unsigned char)name.at[i] < ' ' || name.at[i] == 127 ? '_' : name.at[i];
    ret_file[name.count] = '\0';

    struct str run = without_suffixes(str_of(ret_file));
    bool reserved = str_equal(run, STR("plugins"));
    snprintf(ret_run, UPLOAD_NAME_SIZE, "%.*s%s", STR_ARG(run), reserved ? "_" : "");
    arena_destroy(arena);
}

static enum status check_room(const struct uploads *uploads, int64_t announced, struct error *err)
{
    struct statvfs disk;

    if (announced > 0 && (uint64_t)announced > uploads->limits.file_bytes_max)
        return fail(err, ERR_LIMIT,
                    "a file may have at most %llu bytes (--upload-max); this one has %lld",
                    (unsigned long long)uploads->limits.file_bytes_max, (long long)announced);
    if (statvfs(uploads->dir, &disk) == 0 &&
        (uint64_t)disk.f_bavail * disk.f_frsize <
            kept_free_bytes + (announced > 0 ? (uint64_t)announced : 0))
        return fail(err, ERR_IO, "the disk of the cache is full");
    return OK;
}

static enum status no_room(const struct uploads *uploads, struct error *err)
{
    return fail(
        err, ERR_IO,
        "uploaded files may have at most %llu bytes in total (--upload-quota); delete some of them",
        (unsigned long long)uploads->limits.all_bytes_max);
}

enum status upload_begin(struct uploads *uploads, struct str name, int64_t announced,
                         struct upload *ret, struct error *err)
{
    char path[4096];

    *ret = (struct upload){.uploads = uploads, .fd = -1};
    TRY(check_room(uploads, announced, err));
    if (!take_room(uploads, announced > 0 ? (uint64_t)announced : 0))
        return no_room(uploads, err);
    give_room(uploads, announced > 0 ? (uint64_t)announced : 0);
    upload_names(name, ret->file, ret->run);
    TRY(cache_job_dir(uploads->cache, ret->job, err));
    enum status status = join(path, err, ret->job, "run/" UPLOAD_SESSION);
    if (status == OK)
        status = directory_make(path, err);
    if (status == OK) {
        upload_path(ret, path);
        ret->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (ret->fd < 0)
            status = cannot("the file cannot be made", errno, err);
    }
    if (status != OK)
        cache_remove_dir(ret->job);
    return status;
}

void upload_path(const struct upload *upload, char ret[4096])
{
    snprintf(ret, 4096, "%.3900s/run/" UPLOAD_SESSION "/%s", upload->job, upload->file);
}

enum status upload_put(struct upload *upload, struct bytes piece, struct error *err)
{
    struct uploads *uploads = upload->uploads;

    if (piece.count > uploads->limits.file_bytes_max - upload->bytes)
        return fail(err, ERR_LIMIT,
                    "a file may have at most %llu bytes (--upload-max); this one has more",
                    (unsigned long long)uploads->limits.file_bytes_max);
    TRY(check_room(uploads, (int64_t)piece.count, err)); /* others write meanwhile */
    if (!take_room(uploads, piece.count))
        return no_room(uploads, err);
    uint64_t offset = upload->bytes;
    upload->bytes += piece.count;
    return file_write_all(upload->fd, piece.at, piece.count, offset, err);
}

/* Under the first name that is free. An empty directory would be replaced, which is as well. */
static enum status appear(struct upload *upload, struct error *err)
{
    char from[4096], to[4096], name[UPLOAD_NAME_SIZE];

    memcpy(name, upload->run, sizeof name);
    TRY(join(from, err, upload->job, "run"));
    for (int i = 1; i <= SAME_NAME_MAX; i++) {
        if (i > 1)
            snprintf(upload->run, sizeof upload->run, "%s-%d", name, i);
        TRY(join(to, err, upload->uploads->dir, upload->run));
        if (rename(from, to) == 0)
            return OK;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            return cannot("the file cannot be kept", errno, err);
    }
    return fail(err, ERR_CONFLICT, "there are %d files of this name already", SAME_NAME_MAX);
}

/* A link appears at once, and never over another. */
static enum status appear_in_place(const struct upload *upload, const char *dir, struct error *err)
{
    char from[4096], to[4096];

    TRY(directory_make(dir, err));
    TRY(join(to, err, dir, upload->file));
    upload_path(upload, from);
    if (link(from, to) == 0)
        return OK;
    if (errno == EEXIST)
        return fail(err, ERR_CONFLICT, "there is a file of this name already");
    return cannot("the file cannot be kept", errno, err);
}

enum status upload_finish(struct upload *upload, int64_t modified_ns, char ret_dir[4096],
                          struct error *err)
{
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = modified_ns / 1000000000, .tv_nsec = modified_ns % 1000000000},
    };

    if (futimens(upload->fd, times) != 0 || fsync(upload->fd) != 0)
        return cannot("the file cannot be kept", errno, err);
    if (upload->place[0] != '\0') {
        char dir[4096];

        TRY(join(dir, err, upload->uploads->dir, upload->place));
        TRY(appear_in_place(upload, dir, err));
        snprintf(ret_dir, 4096, "%s", upload->place);
    } else {
        TRY(appear(upload, err));
        TRY(join(ret_dir, err, upload->run, UPLOAD_SESSION));
    }
    close(upload->fd);
    upload->fd = -1;
    cache_remove_dir(upload->job);
    return OK;
}

void upload_abandon(struct upload *upload)
{
    if (upload->fd < 0)
        return;
    close(upload->fd);
    upload->fd = -1;
    give_room(upload->uploads, upload->bytes);
    cache_remove_dir(upload->job);
}

/* Gone at once, by a rename out of sight; then removed. */
enum status uploads_remove(struct uploads *uploads, struct str dir, struct error *err)
{
    char name[UPLOAD_NAME_SIZE + 8], from[4096], job[4096], to[4096];
    const char *slash = dir.count == 0 ? NULL : memchr(dir.at, '/', dir.count);
    size_t count = slash == NULL ? dir.count : (size_t)(slash - dir.at);

    if (count == 0 || count >= sizeof name || dir.at[0] == '.')
        return fail(err, ERR_NOT_FOUND, "this is not an uploaded file");
    snprintf(name, sizeof name, "%.*s", (int)count, dir.at);
    TRY(join(from, err, uploads->dir, name));
    TRY(cache_job_dir(uploads->cache, job, err));
    enum status status = join(to, err, job, "gone");
    if (status == OK && rename(from, to) != 0)
        status = errno == ENOENT ? fail(err, ERR_NOT_FOUND, "the file no longer exists")
                                 : cannot("the file cannot be deleted", errno, err);
    if (status == OK)
        give_room(uploads, bytes_below(to));
    cache_remove_dir(job);
    return status;
}
