/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives by libzip: entries are listed with limits, and read in pieces with their
 * checksum. */
#include "base/pack/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zip.h>

#include "base/pack/pack.h"

enum {
    PIECE_BYTES = 16 << 10,
    END_BYTES = 22,   /* of the record at an archive's end */
    LOCAL_BYTES = 30, /* before a name and the packed bytes */
    LISTED_BYTES = 46 /* before a name in the list */
};

bool archive_is(struct bytes head)
{
    return head.count >= 4 &&
           (memcmp(head.at, "PK\x03\x04", 4) == 0 || memcmp(head.at, "PK\x05\x06", 4) == 0);
}

static enum status memory_fails(struct error *err)
{
    return fail(err, ERR_IO, "the system refuses the memory that unpacking a ZIP archive takes");
}

static enum status archive_fails(zip_error_t *why, struct error *err)
{
    if (zip_error_code_zip(why) == ZIP_ER_MEMORY)
        return memory_fails(err);
    if (zip_error_code_zip(why) == ZIP_ER_NOZIP)
        return fail(err, ERR_TRUNCATED,
                    "the ZIP archive has no directory of its entries; it was probably truncated "
                    "while copied: copy it again");
    return fail(err, ERR_FORMAT, "the ZIP archive's list of entries is damaged: %s",
                zip_error_strerror(why));
}

static enum status file_fails(struct str name, zip_error_t *why, struct error *err)
{
    switch (zip_error_code_zip(why)) {
    case ZIP_ER_MEMORY:
        return memory_fails(err);
    case ZIP_ER_NOZIP: /* no header there */
    case ZIP_ER_INVAL: /* nothing there */
        return fail(err, ERR_FORMAT, "entry %.*s of the ZIP archive is not where it should be",
                    STR_ARG(name));
    case ZIP_ER_EOF:
    case ZIP_ER_SEEK:
        return fail(err, ERR_TRUNCATED, "entry %.*s of the ZIP archive ends beyond the file",
                    STR_ARG(name));
    case ZIP_ER_INCONS:
        return fail(
            err, ERR_FORMAT,
            "entry %.*s of the ZIP archive does not have the length that its directory says",
            STR_ARG(name));
    case ZIP_ER_CRC:
        return fail(err, ERR_FORMAT,
                    "entry %.*s of the ZIP archive is corrupt: its checksum does not match",
                    STR_ARG(name));
    default:
        return fail(err, ERR_FORMAT, "entry %.*s of the ZIP archive is corrupt: %s", STR_ARG(name),
                    zip_error_strerror(why));
    }
}

static enum status open_handle(struct bytes file, zip_t **ret, struct error *err)
{
    zip_error_t why;
    enum status status = OK;

    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(file.at, file.count, 0, &why);
    *ret = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (*ret == NULL) {
        zip_source_free(source);
        status = archive_fails(&why, err);
    }
    zip_error_fini(&why);
    return status;
}

/* Methods whose reader needs little memory, whatever the bytes say. */
static bool method_is_read(unsigned method)
{
    return method == ZIP_CM_STORE || method == ZIP_CM_DEFLATE || method == ZIP_CM_BZIP2;
}

static enum status take_entry(zip_t *handle, uint64_t index, struct arena *arena,
                              struct archive_entry *ret, struct error *err)
{
    const char *listed = zip_get_name(handle, index, ZIP_FL_ENC_RAW);
    struct str name = str_of(listed);
    zip_stat_t stat;

    if (listed == NULL || zip_stat_index(handle, index, 0, &stat) != 0)
        return archive_fails(zip_get_error(handle), err);
    if (name.count > ARCHIVE_NAME_BYTES_MAX)
        return fail(err, ERR_LIMIT, "the ZIP archive has a name of more than %d bytes",
                    ARCHIVE_NAME_BYTES_MAX);
    if (stat.encryption_method != ZIP_EM_NONE)
        return fail(err, ERR_UNSUPPORTED, "entry %.*s of the ZIP archive is encrypted; unpack it",
                    STR_ARG(name));
    if (!method_is_read(stat.comp_method))
        return fail(err, ERR_UNSUPPORTED,
                    "entry %.*s of the ZIP archive is packed by method %u, which is not read; "
                    "unpack it",
                    STR_ARG(name), stat.comp_method);
    *ret =
        (struct archive_entry){.name = str_copy(arena, name),
                               .packed_size = stat.comp_size,
                               .size = stat.size,
                               .index = index,
                               .modified_s = (stat.valid & ZIP_STAT_MTIME) != 0 ? stat.mtime : 0};
    return OK;
}

/* Entries that do not overlap fit into the file side by side. */
static bool have_overlap(const struct archive *archive, uint64_t file_size)
{
    uint64_t left = file_size < END_BYTES ? 0 : file_size - END_BYTES;

    for (uint32_t at = 0; at < archive->count; at++) {
        const struct archive_entry *entry = &archive->entries[at];
        uint64_t around = LOCAL_BYTES + LISTED_BYTES + 2 * entry->name.count;

        if (around > left || entry->packed_size > left - around)
            return true;
        left -= around + entry->packed_size;
    }
    return false;
}

static enum status take_entries(struct bytes file, struct arena *arena, struct archive *archive,
                                struct error *err)
{
    zip_int64_t count = zip_get_num_entries(archive->handle, 0);

    if (count > ARCHIVE_ENTRIES_MAX)
        return fail(err, ERR_LIMIT, "the ZIP archive has more than %d entries",
                    ARCHIVE_ENTRIES_MAX);
    struct archive_entry *entries = arena_array(arena, struct archive_entry, (size_t)count + 1);
    archive->entries = entries;
    for (uint64_t index = 0; index < (uint64_t)count; index++) {
        struct archive_entry *entry = &entries[archive->count];

        TRY(take_entry(archive->handle, index, arena, entry, err));
        if (!str_ends(entry->name, STR("/")))
            archive->count++;
    }
    for (uint32_t at = 0; at < archive->count; at++)
        if (entries[at].packed_size > file.count)
            return fail(err, ERR_TRUNCATED, "entry %.*s of the ZIP archive ends beyond the file",
                        STR_ARG(entries[at].name));
    if (have_overlap(archive, file.count))
        return fail(err, ERR_FORMAT,
                    "entries of the ZIP archive overlap, so it is damaged or malicious");
    return OK;
}

enum status archive_open(struct bytes file, struct arena *arena, struct archive *ret,
                         struct error *err)
{
    *ret = (struct archive){.unpack_left = ARCHIVE_UNPACKED_BYTES_MAX};
    TRY(open_handle(file, &ret->handle, err));
    enum status status = take_entries(file, arena, ret, err);
    if (status != OK)
        archive_close(ret);
    return status;
}

void archive_close(struct archive *archive)
{
    if (archive->handle != NULL)
        zip_discard(archive->handle);
    *archive = (struct archive){0};
}

const struct archive_entry *archive_find(const struct archive *archive, struct str name)
{
    for (uint32_t at = 0; at < archive->count; at++)
        if (str_equal(archive->entries[at].name, name))
            return &archive->entries[at];
    return NULL;
}

enum status archive_file_open(const struct archive *archive, const struct archive_entry *entry,
                              struct archive_file *ret, struct error *err)
{
    *ret = (struct archive_file){.name = entry->name,
                                 .handle = zip_fopen_index(archive->handle, entry->index, 0)};
    return ret->handle != NULL ? OK : file_fails(entry->name, zip_get_error(archive->handle), err);
}

enum status archive_file_read(struct archive_file *file, void *to, size_t room, size_t *ret_count,
                              struct error *err)
{
    zip_int64_t count = zip_fread(file->handle, to, room);

    *ret_count = count > 0 ? (size_t)count : 0;
    return count >= 0 ? OK : file_fails(file->name, zip_file_get_error(file->handle), err);
}

void archive_file_close(struct archive_file *file)
{
    if (file->handle != NULL)
        zip_fclose(file->handle);
    *file = (struct archive_file){0};
}

static enum status read_file(struct archive_file *file, uint64_t limit, struct text *whole,
                             struct error *err)
{
    char piece[PIECE_BYTES];
    size_t count;

    do {
        TRY(archive_file_read(file, piece, sizeof piece, &count, err));
        if (count > limit - whole->count)
            return fail(err, ERR_LIMIT,
                        "entry %.*s of the ZIP archive unpacks to more than the limit of %" PRIu64
                        " bytes",
                        STR_ARG(file->name), limit);
        text_put(whole, piece, count);
    } while (count > 0);
    return OK;
}

static enum status unpack_inner(struct bytes packed, enum packing packing, uint64_t limit,
                                struct text *whole, struct error *err)
{
    struct unpack_budget budget = {.bytes_max = limit};
    struct unpack *unpack = unpack_open(packed, packing, budget, err);

    for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;)
        text_put(whole, (const char *)piece.at, piece.count);
    unpack_close(unpack);
    return err->code;
}

static enum status read_both(struct archive *archive, const struct archive_entry *entry,
                             uint64_t limit, struct text *outer, struct text *inner,
                             struct error *err)
{
    struct archive_file file;
    enum status status = archive_file_open(archive, entry, &file, err);

    limit = limit < archive->unpack_left ? limit : archive->unpack_left;
    if (status == OK)
        status = read_file(&file, limit, outer, err);
    archive_file_close(&file);
    archive->unpack_left -=
        outer->count < archive->unpack_left ? outer->count : archive->unpack_left;
    struct bytes packed = {.at = (const uint8_t *)outer->at, .count = outer->count};
    enum packing packing = packing_of(packed);
    if (status != OK || packing == PACKING_NONE)
        return status;
    limit = limit < archive->unpack_left ? limit : archive->unpack_left;
    status = unpack_inner(packed, packing, limit, inner, err);
    archive->unpack_left -=
        inner->count < archive->unpack_left ? inner->count : archive->unpack_left;
    return status;
}

enum status archive_read(struct archive *archive, const struct archive_entry *entry, uint64_t limit,
                         struct arena *arena, struct bytes *ret, struct error *err)
{
    struct text outer = {0}, inner = {0};
    enum status status = read_both(archive, entry, limit, &outer, &inner, err);
    struct bytes packed = {.at = (const uint8_t *)outer.at, .count = outer.count};
    struct str content = text_str(packing_of(packed) != PACKING_NONE ? &inner : &outer);

    if (status == OK)
        *ret = (struct bytes){.at = (const uint8_t *)str_copy(arena, content).at,
                              .count = content.count};
    text_free(&outer);
    text_free(&inner);
    return status;
}

const char *archive_library(void)
{
    return zip_libzip_version();
}
