/* SPDX-License-Identifier: Apache-2.0 */
/* Archives instead of directories: looked at by their first bytes, unpacked by a child. */
#include "app/app_archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/pack/unpack_tree.h"
#include "base/sandbox/sandbox.h"
#include "decode/decode.h"
#include "store/cache.h"

enum { RATIO_MAX = 400, HEAD_BYTES = 512, PATH_SIZE = 4096, MADE = 0, NO_TREE = 1, FAILED = 2 };
#define SLACK_BYTES (UINT64_C(64) << 20)
#define UNPACKED_S_MAX (30 * 24 * 3600)
#define UNPACKED_BYTES_MAX (UINT64_C(64) << 30)

struct place {             /* in the cache */
    char outer[PATH_SIZE]; /* <cache>/unpacked/<hash> */
    char inner[PATH_SIZE]; /* what is shown: named as the archive, without its suffix */
    char stamp[PATH_SIZE]; /* a file that says of which state of the archive this is */
};

static struct bytes next_piece(void *from, struct error *err)
{
    return input_next(from, err);
}

static enum status unpack_into(struct input *input, const char *format, int directory_fd,
                               uint64_t size, struct arena *arena, struct error *err)
{
    struct unpack_limits limits = {.bytes_max = UNPACKED_BYTES_MAX,
                                   .entries_max = ARCHIVE_ENTRIES_MAX};
    struct archive archive;

    if (size < (UNPACKED_BYTES_MAX - SLACK_BYTES) / RATIO_MAX)
        limits.bytes_max = size * RATIO_MAX + SLACK_BYTES;
    if (strcmp(format, "tar") == 0)
        return unpack_tar_tree(next_piece, input, directory_fd, limits, err);
    TRY(archive_open(input->bytes, arena, &archive, err));
    enum status status = unpack_zip_tree(&archive, directory_fd, limits, err);
    archive_close(&archive);
    return status;
}

static enum status unpack_file(int fd, const char *path, uint64_t size, const char *to,
                               bool *ret_is_tree, struct error *err)
{
    struct arena *arena = arena_create();
    struct file_map map;
    struct input input;

    TRY(directory_make(to, err));
    TRY(file_map(fd, (size_t)size, &map, err));
    TRY(sandbox_unpacker(to, err));
    TRY(input_open(path_base(str_of(path)), map.bytes, to, arena, &input, err));
    struct identity identity = decode_identify(&input);
    *ret_is_tree = identity.decoder == NULL && (strcmp(identity.format, "tar") == 0 ||
                                                strcmp(identity.format, "zip-of-profiles") == 0);
    if (!*ret_is_tree)
        return OK;
    int directory_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory_fd < 0)
        return fail(err, ERR_IO, "%s: %s", to, strerror(errno));
    return unpack_into(&input, identity.format, directory_fd, size, arena, err);
}

/* The child; what went wrong goes down the pipe. */
static void unpack_alone(int fd, const char *path, uint64_t size, const char *to, int tell)
{
    struct error err = {0};
    bool is_tree = false;

    if (unpack_file(fd, path, size, to, &is_tree, &err) != OK) {
        (void)!write(tell, err.message, strlen(err.message));
        _exit(FAILED);
    }
    _exit(is_tree ? MADE : NO_TREE);
}

static enum status in_a_child(int fd, const char *path, uint64_t size, const char *to,
                              bool *ret_is_tree, struct error *err)
{
    char said[400];
    int pipes[2], ended;

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, "%s: %s", path, strerror(errno));
    pid_t child = fork();

    if (child == 0)
        unpack_alone(fd, path, size, to, pipes[1]);
    file_close(pipes[1]);
    ssize_t count = child < 0 ? 0 : read(pipes[0], said, sizeof said - 1);

    file_close(pipes[0]);
    if (child < 0 || waitpid(child, &ended, 0) != child)
        return fail(err, ERR_IO, "%s: no process to read it: %s", path, strerror(errno));
    said[count > 0 ? count : 0] = '\0';
    *ret_is_tree = WIFEXITED(ended) && WEXITSTATUS(ended) == MADE;
    if (*ret_is_tree || (WIFEXITED(ended) && WEXITSTATUS(ended) == NO_TREE))
        return OK;
    return fail(err, ERR_FORMAT, "%s: %s", path,
                count > 0 ? said : "its content crashed the process that read it");
}

/* "prof.tar.gz" and "prof.zip" are "prof". */
static struct str stem_of(struct str name)
{
    static const char *const suffixes[] = {".gz", ".xz", ".zst", ".tgz", ".txz", ".tar", ".zip"};

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        struct str suffix = str_of(suffixes[i]);

        if (name.count > suffix.count && str_ends(name, suffix))
            name.count -= suffix.count;
    }
    return name;
}

static enum status find_place(const char *cache, const char *path, struct place *ret,
                              struct error *err)
{
    struct str whole = str_of(path), stem = stem_of(path_base(whole));
    char hash[33];

    hash128_hex(hash128((struct bytes){(const uint8_t *)whole.at, whole.count}), hash);
    int count = snprintf(ret->outer, sizeof ret->outer, "%s/unpacked/%s", cache, hash);

    if (count < 0 || (size_t)count + stem.count + 8 > sizeof ret->inner)
        return fail(err, ERR_LIMIT, "%s: the path of the cache is too long", path);
    memcpy(ret->inner, ret->outer, (size_t)count);
    snprintf(ret->inner + count, sizeof ret->inner - (size_t)count, "/%.*s", STR_ARG(stem));
    memcpy(ret->stamp, ret->outer, (size_t)count);
    snprintf(ret->stamp + count, sizeof ret->stamp - (size_t)count, "/.stamp");
    return OK;
}

/* Is what lies there of this state of the archive? */
static bool is_there(const struct place *place, const char *stamp)
{
    struct arena *arena = arena_create();
    struct bytes text;
    struct error err = {0};
    bool same = access(place->inner, F_OK) == 0 &&
                file_read(place->stamp, arena, PATH_SIZE, &text, &err) == OK &&
                str_equal((struct str){(const char *)text.at, text.count}, str_of(stamp));

    arena_destroy(arena);
    return same;
}

static enum status write_stamp(const struct place *place, const char *stamp, struct error *err)
{
    struct file_out out;

    TRY(file_out_open(&out, place->stamp, err));
    enum status status = file_write_all(out.fd, stamp, strlen(stamp), 0, err);
    if (status == OK)
        return file_out_commit(&out, err);
    file_out_abandon(&out);
    return status;
}

static enum status unpack_new(int fd, const char *path, const struct file_stamp *file,
                              const struct place *place, const char *stamp, bool *ret_is_tree,
                              struct error *err)
{
    char making[PATH_SIZE + 32];

    snprintf(making, sizeof making, "%s.%ld", place->outer, (long)getpid());
    enum status status = in_a_child(fd, path, file->size, making, ret_is_tree, err);
    if (status == OK && *ret_is_tree) {
        cache_remove_dir(place->outer);
        status = directory_make(place->outer, err);
        if (status == OK && rename(making, place->inner) != 0 && access(place->inner, F_OK) != 0)
            status = fail(err, ERR_IO, "%s: %s", place->inner, strerror(errno));
        if (status == OK)
            status = write_stamp(place, stamp, err);
    }
    cache_remove_dir(making);
    return status;
}

/* What nobody has opened for so long, and what a process left that was killed. */
static void remove_old(const char *cache)
{
    char dir[PATH_SIZE], path[PATH_SIZE + 256], stamp[PATH_SIZE + 272];
    const time_t now = time(NULL);
    struct stat info;

    snprintf(dir, sizeof dir, "%s/unpacked", cache);
    DIR *list = opendir(dir);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        snprintf(stamp, sizeof stamp, "%s/.stamp", path);
        if ((stat(stamp, &info) == 0 || lstat(path, &info) == 0) &&
            now - info.st_mtime > UNPACKED_S_MAX)
            cache_remove_dir(path);
    }
    if (list != NULL)
        closedir(list);
}

static bool may_be_tree(int fd)
{
    uint8_t head[HEAD_BYTES];
    ssize_t count = pread(fd, head, sizeof head, 0);
    struct bytes bytes = {head, count > 0 ? (size_t)count : 0};

    return archive_is(bytes) || packing_of(bytes) != PACKING_NONE ||
           (bytes.count > 262 && memcmp(head + 257, "ustar", 5) == 0);
}

/* "logs.zip/step_5", "logs.zip@3-5": what stands behind the file; NULL nothing. */
static const char *part_of(const char *path, struct stat *info)
{
    char whole[PATH_MAX];
    size_t count = strlen(path);

    if (count >= sizeof whole || stat(path, info) == 0)
        return NULL;
    for (memcpy(whole, path, count + 1); count > 1; count--) {
        if (path[count] != '/' && path[count] != '@')
            continue;
        whole[count] = '\0';
        if (stat(whole, info) == 0)
            return S_ISREG(info->st_mode) ? path + count : NULL;
    }
    return NULL;
}

static enum status unpack_path(const char *cache, const char *path, struct arena *arena, char **ret,
                               struct error *err)
{
    char real[PATH_MAX], stamp[128];
    struct place *place = arena_array(arena, struct place, 1);
    struct file_stamp file;
    struct stat info;
    bool is_tree = true;
    int fd;

    const char *at = part_of(path, &info);

    if (at != NULL)
        path = str_c(arena, (struct str){path, (size_t)(at - path)});
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || realpath(path, real) == NULL ||
        file_open(real, &fd, &file, &(struct error){0}) != OK)
        return OK;
    snprintf(stamp, sizeof stamp, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64, file.device,
             file.inode, file.size, file.modified_ns);
    enum status status = may_be_tree(fd) ? find_place(cache, real, place, err) : OK;
    if (status != OK || place->inner[0] == '\0') {
        file_close(fd);
        return status;
    }
    if (is_there(place, stamp))
        (void)utimensat(AT_FDCWD, place->stamp, NULL, 0);
    else
        status = unpack_new(fd, real, &file, place, stamp, &is_tree, err);
    remove_old(cache);
    file_close(fd);
    if (status == OK && is_tree)
        *ret =
            at == NULL ? place->inner : str_c(arena, str_format(arena, "%s%s", place->inner, at));
    return status;
}

/* Flags whose value is where something goes, or text. */
static bool names_no_profile(const char *flag)
{
    return flag[0] == '-' && strcmp(flag, "--profile-dir") != 0 && strcmp(flag, "--logdir") != 0 &&
           strchr(flag, '=') == NULL;
}

static const char *cache_of(int argc, char **argv)
{
    for (int at = 1; at + 1 < argc; at++)
        if (strcmp(argv[at], "--cache-dir") == 0)
            return argv[at + 1];
    const char *told = getenv("JVIEWD_CACHE_DIR");

    return told == NULL ? "" : told;
}

enum status app_unpack_operands(int argc, char **argv, struct arena *arena, struct error *err)
{
    char cache[3072];

    if (cache_place(cache_of(argc, argv), cache, &(struct error){0}) != OK)
        return OK; /* without a cache there is no place: archives are told of as files */
    for (int at = 1; at < argc; at++) {
        if (argv[at][0] == '-' || (at > 1 && names_no_profile(argv[at - 1])))
            continue;
        TRY(unpack_path(cache, argv[at], arena, &argv[at], err));
    }
    return OK;
}
