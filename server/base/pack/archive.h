/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives: the list of what is inside, and each entry's content piece by piece. By libzip.
 *
 *   open   entries[]  name, packed size, size      directories are left out
 *   file   piece, piece, ..., none                 its checksum is told with the end
 *
 * Names are told, and never used as paths. Entries that are encrypted or packed by a method that is
 * not read are refused at once, and so is an archive whose entries overlap, which is how a small
 * one holds petabytes.
 */
#ifndef JVIEWD_BASE_PACK_ARCHIVE_H
#define JVIEWD_BASE_PACK_ARCHIVE_H

#include "base/bytes.h"
#include "base/error.h"

enum { ARCHIVE_ENTRIES_MAX = 10000, ARCHIVE_NAME_BYTES_MAX = 4096 };
#define ARCHIVE_UNPACKED_BYTES_MAX (UINT64_C(16) << 30) /* by archive_read, of all entries */

struct archive_entry {
    struct str name;            /* of the arena */
    uint64_t packed_size, size; /* as the archive says */
    uint64_t index;             /* in the archive's own list */
    int64_t modified_s;         /* Unix time; 0 unknown */
};

struct zip;      /* libzip's */
struct zip_file; /* libzip's */

struct archive { /* files only */
    const struct archive_entry *entries;
    uint32_t count;
    uint64_t unpack_left; /* bytes that archive_read may still unpack */
    struct zip *handle;
};

bool archive_is(struct bytes head);
/* The file's bytes stay where they are until archive_close. */
MUST_CHECK enum status archive_open(struct bytes file, struct arena *arena, struct archive *ret,
                                    struct error *err);
void archive_close(struct archive *archive); /* takes one that did not open */
const struct archive_entry *archive_find(const struct archive *archive, struct str name);

struct archive_file {
    struct str name;
    struct zip_file *handle;
};

MUST_CHECK enum status archive_file_open(const struct archive *archive,
                                         const struct archive_entry *entry,
                                         struct archive_file *ret, struct error *err);
/* At most `room` bytes; none at the end. */
MUST_CHECK enum status archive_file_read(struct archive_file *file, void *to, size_t room,
                                         size_t *ret_count, struct error *err);
void archive_file_close(struct archive_file *file); /* takes one that did not open */

/* The whole entry, at most `limit` bytes, in the arena; packed once more inside or not. What it
 * unpacks to, in each packing, is taken from the archive's budget. */
MUST_CHECK enum status archive_read(struct archive *archive, const struct archive_entry *entry,
                                    uint64_t limit, struct arena *arena, struct bytes *ret,
                                    struct error *err);

const char *archive_library(void); /* the version of libzip */

#endif
