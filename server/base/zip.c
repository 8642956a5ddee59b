#include "base/zip.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_MAX = 0xffff,
    FLAG_ENCRYPTED = 1,
    EXTRA_ZIP64 = 1,
};

struct spot { /* where an entry lies, to see whether two overlap */
    uint64_t start, end;
};

static uint64_t number(const uint8_t *at, int count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | at[count];
    return value;
}

static bool is_record(struct bytes file, uint64_t at, uint64_t size, const char *mark)
{
    return at <= file.count && file.count - at >= size && memcmp(file.at + at, mark, 4) == 0;
}

bool zip_is(struct bytes head)
{
    return is_record(head, 0, 4, "PK\x03\x04") || is_record(head, 0, 4, "PK\x05\x06");
}

/* The end record stands last, before a comment of at most 64 KiB. */
static bool find_end(struct bytes file, uint64_t *ret)
{
    if (file.count < END_BYTES)
        return false;
    uint64_t last = file.count - END_BYTES;

    for (uint64_t back = 0; back <= COMMENT_MAX && back <= last; back++) {
        if (is_record(file, last - back, END_BYTES, "PK\x05\x06") &&
            number(file.at + last - back + 20, 2) <= back) {
            *ret = last - back;
            return true;
        }
    }
    return false;
}

struct directory {
    uint64_t count, size, offset;
};

static enum status read_end(struct bytes file, struct directory *ret, struct error *err)
{
    uint64_t end;

    if (!find_end(file, &end))
        return fail(err, ERR_TRUNCATED,
                    "the ZIP archive has no list of what is inside; it was probably cut off while "
                    "copied: copy it again");
    *ret = (struct directory){.count = number(file.at + end + 10, 2),
                              .size = number(file.at + end + 12, 4),
                              .offset = number(file.at + end + 16, 4)};
    if (end < LOCATOR_BYTES || !is_record(file, end - LOCATOR_BYTES, LOCATOR_BYTES, "PK\x06\x07"))
        return OK;
    uint64_t end64 = number(file.at + end - LOCATOR_BYTES + 8, 8);
    if (!is_record(file, end64, END64_BYTES, "PK\x06\x06"))
        return fail(err, ERR_FORMAT, "the ZIP archive's second end record is not where it should");
    *ret = (struct directory){.count = number(file.at + end64 + 32, 8),
                              .size = number(file.at + end64 + 40, 8),
                              .offset = number(file.at + end64 + 48, 8)};
    return OK;
}

struct raw_entry {
    uint64_t size, packed_size, offset;
    unsigned flags, method;
    struct str name;
    struct bytes extra;
};

/* Fields that are full of ones stand in the extra, in this order. */
static void read_zip64(struct raw_entry *raw)
{
    uint64_t *wide[] = {&raw->size, &raw->packed_size, &raw->offset};
    struct bytes rest = raw->extra;

    while (rest.count >= 4) {
        uint64_t id = number(rest.at, 2), size = number(rest.at + 2, 2);

        if (size > rest.count - 4)
            return;
        for (size_t field = 0, at = 4; id == EXTRA_ZIP64 && field < COUNT(wide); field++) {
            if (*wide[field] != UINT32_MAX || at + 8 > 4 + size)
                continue;
            *wide[field] = number(rest.at + at, 8);
            at += 8;
        }
        rest = (struct bytes){.at = rest.at + 4 + size, .count = rest.count - 4 - size};
    }
}

static bool packing_of_method(unsigned method, enum packing *ret)
{
    static const struct {
        unsigned method;
        enum packing packing;
    } known[] = {{0, PACKING_NONE}, {8, PACKING_DEFLATE}, {93, PACKING_ZSTD}, {95, PACKING_XZ}};

    for (size_t at = 0; at < COUNT(known); at++) {
        if (known[at].method == method) {
            *ret = known[at].packing;
            return true;
        }
    }
    return false;
}

/* The packed bytes stand behind a header whose name and extra have lengths of their own. */
static enum status locate(struct bytes file, const struct raw_entry *raw, struct bytes *ret,
                          struct error *err)
{
    if (!is_record(file, raw->offset, LOCAL_BYTES, "PK\x03\x04"))
        return fail(err, ERR_FORMAT, "entry %.*s of the ZIP archive is not where it should be",
                    STR_ARG(raw->name));
    const uint8_t *local = file.at + raw->offset;
    uint64_t skipped = LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    uint64_t left = file.count - raw->offset;

    if (skipped > left || raw->packed_size > left - skipped)
        return fail(err, ERR_TRUNCATED, "entry %.*s of the ZIP archive ends behind the file",
                    STR_ARG(raw->name));
    *ret = (struct bytes){.at = local + skipped, .count = (size_t)raw->packed_size};
    return OK;
}

static enum status take_entry(struct bytes file, struct raw_entry *raw, struct zip_entry *ret,
                              struct error *err)
{
    read_zip64(raw);
    *ret = (struct zip_entry){.name = raw->name, .size = raw->size};
    if ((raw->flags & FLAG_ENCRYPTED) != 0)
        return fail(err, ERR_UNSUPPORTED, "entry %.*s of the ZIP archive is encrypted; unpack it",
                    STR_ARG(raw->name));
    if (!packing_of_method(raw->method, &ret->packing))
        return fail(err, ERR_UNSUPPORTED,
                    "entry %.*s of the ZIP archive is packed by method %u, which is not read; "
                    "unpack it",
                    STR_ARG(raw->name), raw->method);
    return locate(file, raw, &ret->packed, err);
}

static enum status read_raw(struct bytes *rest, struct raw_entry *ret, struct error *err)
{
    if (!is_record(*rest, 0, ENTRY_BYTES, "PK\x01\x02"))
        return fail(err, ERR_FORMAT, "the ZIP archive's list of entries is damaged");
    uint64_t name = number(rest->at + 28, 2), extra = number(rest->at + 30, 2);
    uint64_t size = ENTRY_BYTES + name + extra + number(rest->at + 32, 2);

    if (size > rest->count)
        return fail(err, ERR_FORMAT, "the ZIP archive's list of entries is cut off");
    *ret = (struct raw_entry){
        .flags = (unsigned)number(rest->at + 8, 2),
        .method = (unsigned)number(rest->at + 10, 2),
        .packed_size = number(rest->at + 20, 4),
        .size = number(rest->at + 24, 4),
        .offset = number(rest->at + 42, 4),
        .name = {.at = (const char *)rest->at + ENTRY_BYTES, .count = (size_t)name},
        .extra = {.at = rest->at + ENTRY_BYTES + name, .count = (size_t)extra},
    };
    *rest = (struct bytes){.at = rest->at + size, .count = rest->count - (size_t)size};
    return OK;
}

static int compare_spots(const void *one, const void *other)
{
    const struct spot *a = one, *b = other;

    return (a->start > b->start) - (a->start < b->start);
}

static bool have_overlap(struct spot *spots, uint32_t count)
{
    if (count > 0)
        qsort(spots, count, sizeof *spots, compare_spots);
    for (uint32_t at = 1; at < count; at++)
        if (spots[at].start < spots[at - 1].end)
            return true;
    return false;
}

enum status zip_open(struct bytes file, struct arena *arena, struct zip *ret, struct error *err)
{
    struct directory directory;

    TRY(read_end(file, &directory, err));
    if (directory.count > ZIP_ENTRIES_MAX)
        return fail(err, ERR_LIMIT, "the ZIP archive has more than %d entries", ZIP_ENTRIES_MAX);
    if (directory.offset > file.count || directory.size > file.count - directory.offset)
        return fail(err, ERR_TRUNCATED, "the ZIP archive's list of entries ends behind the file");

    struct bytes rest = {.at = file.at + directory.offset, .count = (size_t)directory.size};
    struct zip_entry *entries = arena_array(arena, struct zip_entry, (size_t)directory.count + 1);
    struct spot *spots = arena_array(arena, struct spot, (size_t)directory.count + 1);
    uint32_t count = 0;

    for (uint64_t at = 0; at < directory.count; at++) {
        struct raw_entry raw;

        TRY(read_raw(&rest, &raw, err));
        if (raw.name.count > 0 && raw.name.at[raw.name.count - 1] == '/')
            continue;
        TRY(take_entry(file, &raw, &entries[count], err));
        spots[count].start = (uint64_t)(entries[count].packed.at - file.at);
        spots[count].end = spots[count].start + entries[count].packed.count;
        count++;
    }
    if (have_overlap(spots, count))
        return fail(err, ERR_FORMAT,
                    "entries of the ZIP archive overlap, as no sound archive's do");
    *ret = (struct zip){.entries = entries, .count = count};
    return OK;
}

const struct zip_entry *zip_find(const struct zip *zip, struct str name)
{
    for (uint32_t at = 0; at < zip->count; at++)
        if (str_equal(zip->entries[at].name, name))
            return &zip->entries[at];
    return NULL;
}

static enum status unpack_whole(struct bytes packed, enum packing packing, uint64_t limit,
                                struct arena *arena, struct bytes *ret, struct error *err)
{
    struct unpack_budget budget = {.bytes_max = limit};
    struct unpack *unpack = unpack_open(packed, packing, budget, err);
    struct text whole = {0};

    for (struct bytes piece; unpack != NULL && (piece = unpack_next(unpack)).count > 0;)
        text_put(&whole, (const char *)piece.at, piece.count);
    unpack_close(unpack);
    ret->count = whole.count;
    ret->at = (const uint8_t *)str_copy(arena, text_str(&whole)).at;
    text_free(&whole);
    return err->code;
}

enum status zip_read(const struct zip_entry *entry, uint64_t limit, struct arena *arena,
                     struct bytes *ret, struct error *err)
{
    *ret = entry->packed;
    if (entry->packing != PACKING_NONE)
        TRY(unpack_whole(entry->packed, entry->packing, limit, arena, ret, err));
    enum packing inner = packing_of(*ret);
    if (inner != PACKING_NONE)
        TRY(unpack_whole(*ret, inner, limit, arena, ret, err));
    return OK;
}
