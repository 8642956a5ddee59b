/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a profile beside itself, reads it back, and only then removes the original. */
#include "prune/prune_cold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pack/pack.h"
#include "base/pack/pack_cold.h"
#include "discover/hint.h"

enum { HEAD_BYTES = 16, NAME_SIZE = 256 };

#define WORTH_BYTES_MIN (UINT64_C(64) << 10)

struct packing_away { /* one file on its way */
    const struct run_file *file;
    int directory, fd, part; /* -1: not open */
    char name[NAME_SIZE], packed[NAME_SIZE], part_name[NAME_SIZE];
    struct stat info; /* of the file */
};

static enum status stays(const char *why, struct error *err)
{
    return fail(err, ERR_UNSUPPORTED, "%s", why);
}

static enum status cannot(const struct packing_away *away, const char *what, struct error *err)
{
    return fail(err, errno == EACCES || errno == EPERM || errno == EROFS ? ERR_PERMISSION : ERR_IO,
                "%.*s stays as it is: %s: %s", STR_ARG(away->file->path), what, strerror(errno));
}

/* Whoever reads names finds under the packed one the same host, in the same way. */
static bool is_named_alike(const struct packing_away *away)
{
    struct hint plain = hint_of(str_of(away->name)), packed = hint_of(str_of(away->packed));

    return plain.kind == packed.kind && str_equal(plain.stem, packed.stem);
}

static bool is_packed_already(int fd)
{
    uint8_t head[HEAD_BYTES] = {0};
    ssize_t got = pread(fd, head, sizeof head, 0);
    const struct bytes bytes = {.at = head, .count = got > 0 ? (size_t)got : 0};

    return packing_of(bytes) != PACKING_NONE || memcmp(head, "PK\x03\x04", 4) == 0;
}

static bool is_as_judged(const struct packing_away *away, const struct stat *info)
{
    const struct file_stamp *judged = &away->file->stamp;

    return (uint64_t)info->st_ino == judged->inode && (uint64_t)info->st_size == judged->size &&
           info->st_mtim.tv_sec * INT64_C(1000000000) + info->st_mtim.tv_nsec ==
               judged->modified_ns;
}

static enum status name_parts(struct packing_away *away, struct error *err)
{
    size_t count = strlen(away->name);

    if (count + sizeof "." COLD_SUFFIX ".part" > NAME_SIZE)
        return stays("its name is too long", err);
    snprintf(away->packed, NAME_SIZE, "%.*s" COLD_SUFFIX, (int)count, away->name);
    snprintf(away->part_name, NAME_SIZE, ".%.*s" COLD_SUFFIX ".part", (int)count, away->name);
    return OK;
}

static enum status look_at(struct packing_away *away, struct error *err)
{
    if (away->file->content[0] == '\0' ||
        (away->file->state != FILE_READY && away->file->state != FILE_PARTIAL))
        return stays("it was not read", err);
    if (away->file->bytes < WORTH_BYTES_MIN)
        return stays("it is small", err);
    TRY(name_parts(away, err));
    away->fd = openat(away->directory, away->name,
                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (away->fd < 0 || fstat(away->fd, &away->info) != 0)
        return cannot(away, "it cannot be opened", err);
    if (!S_ISREG(away->info.st_mode) || !is_as_judged(away, &away->info))
        return fail(err, ERR_CONFLICT, "%.*s stays as it is: it changed",
                    STR_ARG(away->file->path));
    if (away->info.st_nlink > 1)
        return stays("it has other hard links, so compressing it would save no space", err);
    if (is_packed_already(away->fd))
        return stays("it is packed already", err);
    return is_named_alike(away) ? OK
                                : stays("once compressed, its name would not show its format", err);
}

static enum status away_open(const char *root, const struct run_file *file,
                             struct packing_away *ret, struct error *err)
{
    *ret = (struct packing_away){.file = file, .directory = -1, .fd = -1, .part = -1};
    TRY(prune_open_directory(root, file->path, &ret->directory, ret->name, err));
    return look_at(ret, err);
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void away_close(struct packing_away *away)
{
    close_one(away->part); /* and its lock */
    close_one(away->fd);
    close_one(away->directory);
}

/* A part that somebody left is begun anew; one that somebody is at is left alone. */
static enum status open_part(struct packing_away *away, struct error *err)
{
    struct stat open, named;

    away->part = openat(away->directory, away->part_name,
                        O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (away->part < 0)
        return cannot(away, "no file can be made beside it", err);
    if (flock(away->part, LOCK_EX | LOCK_NB) != 0 || fstat(away->part, &open) != 0 ||
        fstatat(away->directory, away->part_name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        open.st_ino != named.st_ino || !S_ISREG(open.st_mode) || open.st_nlink != 1) {
        close(away->part);
        away->part = -1;
        return fail(err, ERR_CONFLICT, "%.*s stays as it is: another process is compressing it",
                    STR_ARG(away->file->path));
    }
    if (ftruncate(away->part, 0) == 0)
        return OK;
    enum status status = cannot(away, "its part cannot be written", err);
    unlinkat(away->directory, away->part_name, 0);
    return status;
}

/* Whose it is, who may read it, and how old it is. */
static enum status copy_nature(const struct packing_away *away, struct error *err)
{
    const struct timespec times[2] = {away->info.st_atim, away->info.st_mtim};
    struct stat part;

    if (fstat(away->part, &part) != 0)
        return cannot(away, "its part cannot be read", err);
    bool is_mine = part.st_uid == away->info.st_uid && part.st_gid == away->info.st_gid;
    if ((!is_mine && fchown(away->part, away->info.st_uid, away->info.st_gid) != 0) ||
        fchmod(away->part, away->info.st_mode & 07777) != 0 || futimens(away->part, times) != 0)
        return cannot(away, "who owns it and when it was written cannot be kept", err);
    return OK;
}

static enum status check_content(const struct packing_away *away, const struct cold *cold,
                                 struct error *err)
{
    if (cold->bytes != (uint64_t)away->info.st_size ||
        strcmp(cold->content, away->file->content) != 0)
        return fail(err, ERR_CONFLICT, "%.*s stays as it is: it changed since it was read",
                    STR_ARG(away->file->path));
    return OK;
}

static enum status fill_part(struct packing_away *away, uint64_t *ret_bytes, struct error *err)
{
    uint64_t bytes = (uint64_t)away->info.st_size;
    struct cold cold;

    TRY(cold_pack(away->fd, bytes, away->part, &cold, ret_bytes, err));
    TRY(check_content(away, &cold, err));
    if (*ret_bytes > bytes - bytes / 20)
        return stays("compressing it would save little", err);
    TRY(copy_nature(away, err));
    if (fsync(away->part) != 0)
        return cannot(away, "its part cannot be written", err);
    return cold_unpack(away->part, &cold, -1, err);
}

/* Over nothing. Where the file system has no such rename, by a second name. */
static enum status name_part(const struct packing_away *away, struct error *err)
{
    int dir = away->directory;

    if (renameat2(dir, away->part_name, dir, away->packed, RENAME_NOREPLACE) != 0 &&
        (errno == EEXIST || linkat(dir, away->part_name, dir, away->packed, 0) != 0 ||
         unlinkat(dir, away->part_name, 0) != 0))
        return cannot(away, "its part cannot be renamed", err);
    if (fsync(dir) != 0 && errno != EINVAL)
        return cannot(away, "its directory cannot be synced", err);
    return OK;
}

/* Somebody was stopped before the original was removed; true when that is all that is left. */
static enum status check_packed(struct packing_away *away, bool *ret, uint64_t *ret_bytes,
                                struct error *err)
{
    int fd = openat(away->directory, away->packed,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct cold cold;
    struct stat info;

    *ret = fd >= 0;
    if (fd < 0)
        return errno == ENOENT ? OK : cannot(away, "a packed one beside it cannot be opened", err);
    enum status status =
        fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && cold_of(fd, &cold)
            ? check_content(away, &cold, err)
            : fail(err, ERR_CONFLICT, "%.*s stays as it is: another %s lies beside it",
                   STR_ARG(away->file->path), away->packed);
    if (status == OK)
        status = cold_unpack(fd, &cold, -1, err);
    if (status == OK && fsync(fd) != 0)
        status = cannot(away, "the packed one cannot be synced", err);
    *ret_bytes = status == OK ? (uint64_t)info.st_size : 0;
    close(fd);
    return status;
}

static enum status make_packed(struct packing_away *away, uint64_t *ret_bytes, struct error *err)
{
    TRY(open_part(away, err));
    enum status status = fill_part(away, ret_bytes, err);
    if (status == OK)
        status = name_part(away, err);
    if (status != OK)
        unlinkat(away->directory, away->part_name, 0);
    return status;
}

enum status prune_cold_guess(const char *root, const struct run_file *file, uint64_t *ret_bytes,
                             struct error *err)
{
    struct packing_away away;
    enum status status = away_open(root, file, &away, err);

    if (status == OK)
        *ret_bytes = cold_guess(away.fd, file->bytes);
    away_close(&away);
    return status;
}

enum status prune_cold_pack(const char *root, const struct run_file *file, uint64_t *ret_bytes,
                            struct error *err)
{
    struct packing_away away;
    bool is_packed = false;
    enum status status = away_open(root, file, &away, err);

    if (status == OK)
        status = check_packed(&away, &is_packed, ret_bytes, err);
    if (status == OK && !is_packed)
        status = make_packed(&away, ret_bytes, err);
    away_close(&away);
    return status != OK ? status : prune_file(root, file->path, &file->stamp, err);
}
