/* ZIP archives: the list of what is inside, and each entry's packed bytes where they lie.
 *
 *   file   [local header | name | extra | packed bytes]*  ...  central directory  end
 *   end    PK 05 06 ... entries (2) ... size (4) offset (4) of the directory, comment
 *   entry  PK 01 02 ... method (2) ... crc packed size (4 each) name extra comment ... offset (4)
 *
 * What is longer than these fields hold stands in a second end record and in extras (ZIP64).
 * Nothing is unpacked here: an entry's bytes are unpacked like any others (base/pack.h), under the
 * same budget. Names are told, and never used as paths. An archive whose entries overlap, which is
 * how a small one holds petabytes, is refused, and so are encrypted entries and unknown methods.
 */
#ifndef JVIEWD_BASE_ZIP_H
#define JVIEWD_BASE_ZIP_H

#include "base/pack.h"

enum { ZIP_ENTRIES_MAX = 10000 };

struct zip_entry {
    struct str name; /* of the archive's bytes */
    struct bytes packed;
    enum packing packing; /* PACKING_NONE: stored as it is */
    uint64_t size;        /* unpacked, as the archive says */
};

struct zip { /* files only: directories are left out */
    const struct zip_entry *entries;
    uint32_t count;
};

bool zip_is(struct bytes head);
MUST_CHECK enum status zip_open(struct bytes file, struct arena *arena, struct zip *ret,
                                struct error *err);
const struct zip_entry *zip_find(const struct zip *zip, struct str name); /* NULL: not there */
/* The whole entry, at most `limit` bytes, in the arena; packed once more inside or not. */
MUST_CHECK enum status zip_read(const struct zip_entry *entry, uint64_t limit, struct arena *arena,
                                struct bytes *ret, struct error *err);

#endif
