/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a bundle, checks its manifest, and unpacks its entries with limits on their sizes. */
#include "index/index_bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum { PIECE_BYTES = 1 << 20, RATIO_MAX = 400 };
#define SLACK_BYTES (UINT64_C(64) << 20)
#define UNPACKED_BYTES_MAX (UINT64_C(64) << 30)

static enum status check_blob(const struct bundle_file *file, const struct bundle_blob *blob,
                              uint64_t *left, struct error *err)
{
    if (blob->name.count == 0)
        return OK;
    const struct archive_entry *entry = archive_find(&file->archive, blob->name);
    if (entry == NULL || entry->size != blob->bytes)
        return fail(err, ERR_FORMAT,
                    "the bundle does not contain %.*s as its manifest describes it",
                    STR_ARG(blob->name));
    if (blob->bytes > *left)
        return fail(err, ERR_LIMIT, "the bundle unpacks to more than %d times its size",
                    (int)RATIO_MAX);
    *left -= blob->bytes;
    return OK;
}

static enum status check_members(const struct bundle_file *file, uint64_t size, struct error *err)
{
    uint64_t left =
        size > UNPACKED_BYTES_MAX / RATIO_MAX ? UNPACKED_BYTES_MAX : size * RATIO_MAX + SLACK_BYTES;

    for (uint32_t i = 0; i < file->manifest.member_count; i++) {
        TRY(check_blob(file, &file->manifest.members[i].segment, &left, err));
        TRY(check_blob(file, &file->manifest.members[i].raw, &left, err));
    }
    return OK;
}

static enum status read_manifest(struct bundle_file *file, struct arena *arena, struct error *err)
{
    const struct archive_entry *entry = archive_find(&file->archive, STR(BUNDLE_MANIFEST));
    struct bytes text;

    if (entry == NULL)
        return fail(err, ERR_FORMAT, "the bundle has no manifest");
    TRY(archive_read(&file->archive, entry, BUNDLE_MANIFEST_BYTES_MAX, arena, &text, err));
    struct hasher *hasher = hasher_create();
    hasher_put(hasher, text);
    hash128_hex(hasher_end(hasher), file->id);
    return bundle_read((struct str){(const char *)text.at, text.count}, arena, &file->manifest,
                       err);
}

enum status bundle_open(struct bytes bytes, struct arena *arena, struct bundle_file *ret,
                        struct error *err)
{
    *ret = (struct bundle_file){0};
    TRY(archive_open(bytes, arena, &ret->archive, err));
    enum status status = read_manifest(ret, arena, err);
    if (status == OK)
        status = check_members(ret, bytes.count, err);
    if (status != OK)
        bundle_close(ret);
    return status;
}

void bundle_close(struct bundle_file *file)
{
    archive_close(&file->archive);
}

bool bundle_has_segments(const struct bundle_file *file)
{
    bool all = file->manifest.segment_version == SEGMENT_VERSION &&
               file->manifest.kind_rules_version == KIND_RULES_VERSION;

    for (uint32_t i = 0; i < file->manifest.member_count; i++)
        all = all && file->manifest.members[i].segment.name.count > 0;
    return all;
}

enum status bundle_check_raw(const struct bundle_file *file, struct error *err)
{
    const struct bundle *manifest = &file->manifest;

    for (uint32_t i = 0; i < manifest->member_count; i++)
        if (manifest->members[i].raw.name.count == 0)
            return fail(err, ERR_UNSUPPORTED,
                        "the bundle was made by %.*s with index version %" PRId64 ".%" PRId64
                        "; this program reads %d.%d, and the bundle holds no profile files to "
                        "index again: open it with that version, or make it there with --raw",
                        STR_ARG(manifest->program), manifest->segment_version,
                        manifest->kind_rules_version, SEGMENT_VERSION, KIND_RULES_VERSION);
    return OK;
}

void bundle_key(const struct bundle_file *file, uint32_t member, char ret[33])
{
    struct hasher *hasher = hasher_create();

    hasher_put(hasher, (struct bytes){(const uint8_t *)file->id, 32});
    hasher_put(hasher, (struct bytes){(const uint8_t *)&member, sizeof member});
    hash128_hex(hasher_end(hasher), ret);
    memcpy(ret, file->manifest.members[member].content, 8);
}

struct unpacking {
    struct archive_file from;
    struct hasher *hasher;
    uint8_t *room;
    uint64_t bytes;
    int fd;
};

static enum status copy(struct unpacking *unpacking, const struct bundle_blob *blob,
                        struct error *err)
{
    for (size_t count;; unpacking->bytes += count) {
        TRY(archive_file_read(&unpacking->from, unpacking->room, PIECE_BYTES, &count, err));
        if (count == 0)
            return OK;
        if (count > blob->bytes - unpacking->bytes)
            return fail(err, ERR_FORMAT, "it is longer than the manifest says");
        hasher_put(unpacking->hasher, (struct bytes){unpacking->room, count});
        TRY(file_write_all(unpacking->fd, unpacking->room, count, unpacking->bytes, err));
    }
}

static enum status unpack(const struct bundle_file *file, const struct bundle_blob *blob, int fd,
                          struct error *err)
{
    struct unpacking unpacking = {.fd = fd, .hasher = hasher_create()};
    char hash[33];

    unpacking.room = memory_resize(NULL, PIECE_BYTES, 1);
    enum status status = archive_file_open(&file->archive, archive_find(&file->archive, blob->name),
                                           &unpacking.from, err);
    if (status == OK)
        status = copy(&unpacking, blob, err);
    archive_file_close(&unpacking.from);
    hash128_hex(hasher_end(unpacking.hasher), hash);
    free(unpacking.room);
    if (status == OK && (unpacking.bytes != blob->bytes || strcmp(hash, blob->hash) != 0))
        status = fail(err, ERR_FORMAT, "its hash differs from the one in the manifest");
    if (status != OK)
        error_context(err, "%.*s: ", STR_ARG(blob->name));
    return status;
}

static enum status check_segment(const struct bundle_member *member, struct segment *segment,
                                 struct error *err)
{
    if (strcmp(segment_trace(segment)->content, member->content) != 0)
        return fail(err, ERR_FORMAT, "%.*s of the bundle is the segment of another file",
                    STR_ARG(member->segment.name));
    return segment_check(segment, err);
}

enum status bundle_take_segment(const struct bundle_file *file, uint32_t member, const char *path,
                                struct segment **ret, struct error *err)
{
    const struct bundle_member *taken = &file->manifest.members[member];
    char key[33];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail(err, ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    enum status status = unpack(file, &taken->segment, fd, err);
    file_close(fd);
    TRY(status);
    bundle_key(file, member, key);
    TRY(segment_rename(path, key, err));
    TRY(segment_open(path, ret, err));
    status = check_segment(taken, *ret, err);
    if (status != OK)
        segment_close(*ret);
    return status;
}

enum status bundle_take_raw(const struct bundle_file *file, uint32_t member, const char *directory,
                            int *ret_fd, struct error *err)
{
    int fd = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(err, ERR_IO, "%s takes no temporary file: %s", directory, strerror(errno));
    enum status status = unpack(file, &file->manifest.members[member].raw, fd, err);
    if (status != OK)
        file_close(fd);
    else
        *ret_fd = fd;
    return status;
}
