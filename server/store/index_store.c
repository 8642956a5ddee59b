/* SPDX-License-Identifier: Apache-2.0 */
/* A directory as a store of indexes. What knows that it is a directory stands here alone. */
#include "store/index_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "store/segment.h"
#include "trace/attribution.h"
#include "trace/kind.h"

enum { DIR_SIZE = 3072, PATH_SIZE = 4096, PIECE_BYTES = 1 << 20, KNOWN_BYTES_MAX = 8 << 20 };

struct index_store {
    char dir[DIR_SIZE], version[64];
};

enum status index_store_open(const char *dir, struct index_store **ret, struct error *err)
{
    struct stat seen;

    if (strstr(dir, "://") != NULL)
        return fail(err, ERR_INVALID, "--index-store takes a directory, not the address %s", dir);
    if (strlen(dir) >= DIR_SIZE)
        return fail(err, ERR_INVALID, "the path of --index-store is too long");
    if (stat(dir, &seen) != 0)
        TRY(directory_make(dir, err));
    struct index_store *store = memory_resize(NULL, 1, sizeof *store);
    strcpy(store->dir, dir);
    snprintf(store->version, sizeof store->version, "%d.%d.%d", SEGMENT_VERSION, KIND_RULES_VERSION,
             ATTRIBUTION_VERSION);
    *ret = store;
    return OK;
}

void index_store_close(struct index_store *store)
{
    free(store);
}

const char *index_store_dir(const struct index_store *store)
{
    return store->dir;
}

static void path_of(const struct index_store *store, const char content[33], const char *suffix,
                    char ret[PATH_SIZE])
{
    snprintf(ret, PATH_SIZE, "%s/%s/%.2s/%s%s", store->dir, store->version, content, content,
             suffix);
}

static void summed_path(const struct index_store *store, const char content[33], struct str sum,
                        const char *suffix, char ret[PATH_SIZE])
{
    char name[64];

    snprintf(name, sizeof name, ".%.*s%s", STR_ARG(sum), suffix);
    path_of(store, content, name, ret);
}

bool index_store_has(const struct index_store *store, const char content[33])
{
    char path[PATH_SIZE];

    path_of(store, content, ".known", path);
    return content[0] != '\0' && access(path, R_OK) == 0;
}

static enum status cannot(const char *path, const char *what, struct error *err)
{
    int error = errno;

    return fail(err,
                error == ENOENT                     ? ERR_NOT_FOUND
                : error == EACCES || error == EROFS ? ERR_PERMISSION
                                                    : ERR_IO,
                "%s cannot be %s: %s", path, what, strerror(error));
}

/* From one descriptor to another, summed on the way. */
static enum status copy(int from, int to, const char *path, char ret_sum[33], struct error *err)
{
    uint8_t *piece = memory_resize(NULL, PIECE_BYTES, 1);
    struct hasher *hasher = hasher_create();
    enum status status = OK;
    uint64_t at = 0;
    ssize_t count;

    while (status == OK && (count = read(from, piece, PIECE_BYTES)) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            status = cannot(path, "read", err);
            break;
        }
        hasher_put(hasher, (struct bytes){piece, (size_t)count});
        status = file_write_all(to, piece, (size_t)count, at, err);
        at += (uint64_t)count;
    }
    hash128_hex(hasher_end(hasher), ret_sum);
    free(piece);
    return status;
}

static enum status copy_out(const char *from, const char *to, char ret_sum[33], struct error *err)
{
    int source = open(from, O_RDONLY | O_CLOEXEC), target = -1;
    enum status status = source < 0 ? cannot(from, "opened", err) : OK;

    if (status == OK && (target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0)
        status = cannot(to, "made", err);
    if (status == OK)
        status = copy(source, target, from, ret_sum, err);
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    return status;
}

/* Four lines: the sum of what follows, the sums of both files, what indexing told. */
static enum status read_known(const struct index_store *store, const char content[33],
                              struct arena *arena, struct str ret[3], struct error *err)
{
    char path[PATH_SIZE], sum[33];
    struct bytes bytes;

    path_of(store, content, ".known", path);
    if (access(path, R_OK) != 0)
        return cannot(path, "opened", err);
    TRY(file_read(path, arena, KNOWN_BYTES_MAX, &bytes, err));
    struct str left = {.at = (const char *)bytes.at, .count = bytes.count};
    if (left.count < 33)
        return fail(err, ERR_FORMAT, "%s is damaged", path);
    hash128_hex(hash128((struct bytes){bytes.at + 33, bytes.count - 33}), sum);
    if (memcmp(left.at, sum, 32) != 0)
        return fail(err, ERR_FORMAT, "%s is damaged", path);
    left = str_skip(left, 33);
    for (int i = 0; i < 3; i++) {
        const char *end = left.count == 0 ? NULL : memchr(left.at, '\n', left.count);

        if (end == NULL || (i < 2 && end - left.at != 32))
            return fail(err, ERR_FORMAT, "%s is damaged", path);
        ret[i] = (struct str){left.at, (size_t)(end - left.at)};
        left = str_skip(left, ret[i].count + 1);
    }
    return OK;
}

enum status index_store_get(const struct index_store *store, const char content[33],
                            const char *segment_path, const char *attribution_path,
                            struct arena *arena, struct str *ret_known, struct error *err)
{
    char path[PATH_SIZE], sums[2][33];
    struct str known[3];
    struct segment *segment;

    TRY(read_known(store, content, arena, known, err));
    summed_path(store, content, known[0], ".seg", path);
    TRY(copy_out(path, segment_path, sums[0], err));
    summed_path(store, content, known[1], ".attr", path);
    TRY(copy_out(path, attribution_path, sums[1], err));
    for (int i = 0; i < 2; i++) {
        if (!str_equal(known[i], str_of(sums[i])))
            return fail(err, ERR_FORMAT, "the index of %s in %s does not match its checksum",
                        content, store->dir);
    }
    TRY(segment_open(segment_path, &segment, err));
    bool fits = strcmp(segment_kept_as(segment), content) == 0;
    segment_close(segment);
    if (!fits)
        return fail(err, ERR_FORMAT, "the index of %s in %s belongs to another content", content,
                    store->dir);
    *ret_known = known[2];
    return OK;
}

/* A name for a file that is whole; one that is there stays. */
static enum status name_file(const char *hidden, const char *path, struct error *err)
{
    enum status status = OK;

    if (link(hidden, path) != 0 && errno != EEXIST) {
        /* a file system without links: two writers write the same bytes */
        if (errno != EPERM && errno != EOPNOTSUPP)
            status = cannot(path, "written", err);
        else if (rename(hidden, path) != 0)
            status = cannot(path, "written", err);
    }
    unlink(hidden);
    return status;
}

static enum status copy_in(const struct index_store *store, const char content[33],
                           const char *suffix, const char *from, char ret_sum[33],
                           struct error *err)
{
    char path[PATH_SIZE];
    struct file_out out;
    int source = open(from, O_RDONLY | O_CLOEXEC);

    path_of(store, content, "", path);
    if (source < 0)
        return cannot(from, "opened", err);
    enum status status = file_out_open(&out, path, err);
    if (status == OK) {
        status = copy(source, out.fd, from, ret_sum, err);
        fchmod(out.fd, 0644);
        if (status == OK && fsync(out.fd) != 0)
            status = cannot(out.temporary, "written", err);
        close(out.fd);
        summed_path(store, content, str_of(ret_sum), suffix, path);
        if (status == OK)
            status = name_file(out.temporary, path, err);
        else
            unlink(out.temporary);
    }
    close(source);
    return status;
}

static enum status put_known(const struct index_store *store, const char content[33],
                             char sums[2][33], struct str known, struct error *err)
{
    char path[PATH_SIZE], sum[33];
    struct text text = {0}, rest = {0};
    struct file_out out;

    path_of(store, content, ".known", path);
    text_putf(&rest, "%s\n%s\n%.*s\n", sums[0], sums[1], STR_ARG(known));
    hash128_hex(hash128((struct bytes){(const uint8_t *)rest.at, rest.count}), sum);
    text_putf(&text, "%s\n%s", sum, rest.at);
    text_free(&rest);
    enum status status = file_out_open(&out, path, err);
    if (status == OK) {
        status = file_write_all(out.fd, text.at, text.count, 0, err);
        fchmod(out.fd, 0644);
        if (status == OK)
            status = file_out_commit(&out, err);
        else
            file_out_abandon(&out);
    }
    text_free(&text);
    return status;
}

enum status index_store_put(const struct index_store *store, const char content[33],
                            const char *segment_path, const char *attribution_path,
                            struct str known, struct error *err)
{
    char path[PATH_SIZE], sums[2][33];

    if (index_store_has(store, content) || memchr(known.at, '\n', known.count) != NULL)
        return OK;
    path_of(store, content, "", path);
    *strrchr(path, '/') = '\0';
    TRY(directory_make(path, err));
    TRY(copy_in(store, content, ".seg", segment_path, sums[0], err));
    TRY(copy_in(store, content, ".attr", attribution_path, sums[1], err));
    return put_known(store, content, sums, known, err);
}

struct listing {
    const struct index_store *store;
    struct arena *arena;
    struct index_stored *items;
    uint32_t count, capacity;
};

static bool is_content(const char *name)
{
    return strspn(name, "0123456789abcdef") == 32;
}

static struct index_stored *stored_of(struct listing *listing, const char *path,
                                      const char *content, bool is_old)
{
    for (uint32_t i = listing->count; i-- > 0 && listing->count - i <= 4096;) {
        if (strcmp(listing->items[i].path, path) == 0)
            return &listing->items[i];
    }
    if (listing->count == listing->capacity) {
        struct index_stored *more;

        listing->capacity = listing->capacity * 2 + 64;
        more = arena_array(listing->arena, struct index_stored, listing->capacity);
        if (listing->count > 0)
            memcpy(more, listing->items, listing->count * sizeof *more);
        listing->items = more;
    }
    struct index_stored *ret = &listing->items[listing->count++];
    *ret = (struct index_stored){.is_old = is_old};
    snprintf(ret->content, sizeof ret->content, "%.32s", content);
    snprintf(ret->path, sizeof ret->path, "%s", path);
    return ret;
}

static void list_folder(struct listing *listing, const char *version, const char *folder)
{
    char path[PATH_SIZE], stem[512];
    bool is_old = strcmp(version, listing->store->version) != 0;

    snprintf(path, sizeof path, "%s/%s/%s", listing->store->dir, version, folder);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct stat seen;

        if (!is_content(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &seen, 0) != 0)
            continue;
        snprintf(stem, sizeof stem, "%.100s/%.100s/%.32s", version, folder, entry->d_name);
        struct index_stored *stored = stored_of(listing, stem, entry->d_name, is_old);
        stored->bytes += (uint64_t)seen.st_size;
        stored->is_whole |= strcmp(entry->d_name + 32, ".known") == 0;
    }
    if (dir != NULL)
        closedir(dir);
}

enum status index_store_list(const struct index_store *store, struct arena *arena,
                             struct index_stored **ret, uint32_t *ret_count, struct error *err)
{
    struct listing listing = {.store = store, .arena = arena};
    DIR *versions = opendir(store->dir);
    char path[PATH_SIZE];

    if (versions == NULL)
        return cannot(store->dir, "opened", err);
    for (struct dirent *version; (version = readdir(versions)) != NULL;) {
        if (version->d_name[0] < '0' || version->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "%s/%s", store->dir, version->d_name);
        DIR *folders = opendir(path);
        for (struct dirent *folder; folders != NULL && (folder = readdir(folders)) != NULL;) {
            if (folder->d_name[0] != '.')
                list_folder(&listing, version->d_name, folder->d_name);
        }
        if (folders != NULL)
            closedir(folders);
    }
    closedir(versions);
    *ret = listing.items;
    *ret_count = listing.count;
    return OK;
}

/* What says that they are there goes first. */
enum status index_store_remove(const struct index_store *store, const struct index_stored *stored,
                               struct error *err)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s.known", store->dir, stored->path);
    if (unlink(path) != 0 && errno != ENOENT)
        return cannot(path, "removed", err);
    *strrchr(path, '/') = '\0';
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, stored->content, 32) == 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL)
        closedir(dir);
    return OK;
}
