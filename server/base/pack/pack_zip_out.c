/* SPDX-License-Identifier: Apache-2.0 */
/* APPNOTE.TXT 6.3 of PKWARE, sections 4.3 and 4.5; deflate by isa-l at its level 1. */
#include <isa-l.h>
#include <stdlib.h>

#include "base/pack/zip_out.h"

enum {
    OUT_BYTES = 1 << 16,
    FEED_MAX = 1 << 30,
    STORED = 0,
    DEFLATED = 8,
    SUMS_BEHIND = 1 << 3,
    NAMES_ARE_UTF8 = 1 << 11,
    VERSION = 20, /* that deflates */
    VERSION_64 = 45,
    DAY_ONE = 1 << 5 | 1 << 0, /* 1980-01-01 */
    EXTRA_64 = 1,
    NAME_BYTES_MAX = UINT16_MAX,
};
#define MAX_32 UINT64_C(0xffffffff)
/* Packed bytes may be a little more than what was packed. */
#define SMALL_BYTES_MAX (UINT64_C(4000) << 20)

struct entry {
    struct str name;
    uint64_t offset, size, packed_size;
    uint32_t sum;
    uint16_t flags, method;
    bool is_large; /* its sizes take 64 bits */
};

struct zip_out {
    pack_write *write;
    void *to;
    struct arena *arena; /* of names */
    struct entry *entries;
    size_t count, capacity;
    uint64_t offset; /* bytes written */
    bool failed;
    struct isal_zstream stream;
    uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
    uint8_t out[OUT_BYTES];
};

struct record { /* little-endian */
    uint8_t at[64];
    size_t count;
};

static void put(struct record *record, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        record->at[record->count++] = (uint8_t)(value >> 8 * i);
}

struct zip_out *zip_out_open(pack_write *write, void *to)
{
    struct zip_out *out = memory_resize(NULL, 1, sizeof *out);

    out->write = write;
    out->to = to;
    out->arena = arena_create();
    out->entries = NULL;
    out->count = out->capacity = 0;
    out->offset = 0;
    out->failed = false;
    return out;
}

static enum status send(struct zip_out *out, struct bytes bytes, struct error *err)
{
    enum status status = bytes.count == 0 ? OK : out->write(out->to, bytes, err);

    out->failed |= status != OK;
    out->offset += bytes.count;
    return status;
}

static enum status send_record(struct zip_out *out, const struct record *record, struct error *err)
{
    return send(out, (struct bytes){.at = record->at, .count = record->count}, err);
}

static enum status send_text(struct zip_out *out, struct str text, struct error *err)
{
    return send(out, (struct bytes){.at = (const uint8_t *)text.at, .count = text.count}, err);
}

static uint32_t sum_of(uint32_t before, struct bytes bytes)
{
    return crc32_gzip_refl(before, bytes.at, bytes.count);
}

static struct entry *add(struct zip_out *out, struct str name)
{
    if (out->count == out->capacity) {
        out->capacity = out->capacity == 0 ? 16 : out->capacity * 2;
        out->entries = memory_resize(out->entries, out->capacity, sizeof *out->entries);
    }
    struct entry *entry = &out->entries[out->count++];
    *entry = (struct entry){
        .name = str_copy(out->arena, name), .offset = out->offset, .flags = NAMES_ARE_UTF8};
    return entry;
}

static enum status send_head(struct zip_out *out, const struct entry *entry, struct error *err)
{
    const bool behind = entry->flags & SUMS_BEHIND;
    struct record head = {.count = 0}, extra = {.count = 0};

    put(&head, 4, 0x04034b50);
    put(&head, 2, entry->is_large ? VERSION_64 : VERSION);
    put(&head, 2, entry->flags);
    put(&head, 2, entry->method);
    put(&head, 2, 0);
    put(&head, 2, DAY_ONE);
    put(&head, 4, behind ? 0 : entry->sum);
    put(&head, 4, entry->is_large ? MAX_32 : entry->packed_size);
    put(&head, 4, entry->is_large ? MAX_32 : entry->size);
    put(&head, 2, entry->name.count);
    put(&head, 2, entry->is_large ? 20 : 0);
    if (entry->is_large) {
        put(&extra, 2, EXTRA_64);
        put(&extra, 2, 16);
        put(&extra, 8, entry->size);
        put(&extra, 8, entry->packed_size);
    }
    TRY(send_record(out, &head, err));
    TRY(send_text(out, entry->name, err));
    return send_record(out, &extra, err);
}

static enum status check_name(struct str name, struct error *err)
{
    return name.count <= NAME_BYTES_MAX
               ? OK
               : fail(err, ERR_LIMIT, "a name of %zu bytes fits into no ZIP archive", name.count);
}

enum status zip_out_stored(struct zip_out *out, struct str name, struct bytes content,
                           struct error *err)
{
    TRY(check_name(name, err));
    struct entry *entry = add(out, name);

    entry->method = STORED;
    entry->size = entry->packed_size = content.count;
    entry->is_large = content.count > SMALL_BYTES_MAX;
    entry->sum = sum_of(0, content);
    TRY(send_head(out, entry, err));
    return send(out, content, err);
}

enum status zip_out_begin(struct zip_out *out, struct str name, uint64_t size, struct error *err)
{
    TRY(check_name(name, err));
    struct entry *entry = add(out, name);

    entry->method = DEFLATED;
    entry->flags |= SUMS_BEHIND;
    entry->is_large = size > SMALL_BYTES_MAX;
    isal_deflate_init(&out->stream);
    out->stream.level = 1;
    out->stream.level_buf = out->level_buffer;
    out->stream.level_buf_size = sizeof out->level_buffer;
    out->stream.gzip_flag = IGZIP_DEFLATE;
    return send_head(out, entry, err);
}

/* Hands on what came out until the stream asks for more, or has ended. */
static enum status pump(struct zip_out *out, struct error *err)
{
    do {
        out->stream.next_out = out->out;
        out->stream.avail_out = OUT_BYTES;
        if (isal_deflate(&out->stream) != COMP_OK)
            abort(); /* our own mistake: only wrong parameters fail */
        TRY(send(out, (struct bytes){.at = out->out, .count = OUT_BYTES - out->stream.avail_out},
                 err));
    } while (out->stream.avail_out == 0 || out->stream.avail_in > 0);
    return OK;
}

enum status zip_out_put(struct zip_out *out, struct bytes piece, struct error *err)
{
    struct entry *entry = &out->entries[out->count - 1];
    const uint64_t before = out->offset;

    entry->sum = sum_of(entry->sum, piece);
    entry->size += piece.count;
    if (!entry->is_large && entry->size > SMALL_BYTES_MAX)
        return fail(err, ERR_CONFLICT, "entry %.*s grew while it was written",
                    STR_ARG(entry->name));
    while (piece.count > 0) {
        size_t fed = piece.count < FEED_MAX ? piece.count : FEED_MAX;

        out->stream.next_in = (uint8_t *)(uintptr_t)piece.at;
        out->stream.avail_in = (uint32_t)fed;
        TRY(pump(out, err));
        piece.at += fed;
        piece.count -= fed;
    }
    entry->packed_size += out->offset - before;
    return OK;
}

enum status zip_out_end(struct zip_out *out, struct error *err)
{
    struct entry *entry = &out->entries[out->count - 1];
    const uint64_t before = out->offset;
    struct record sums = {.count = 0};

    out->stream.end_of_stream = 1;
    out->stream.avail_in = 0;
    TRY(pump(out, err));
    entry->packed_size += out->offset - before;
    put(&sums, 4, 0x08074b50);
    put(&sums, 4, entry->sum);
    put(&sums, entry->is_large ? 8 : 4, entry->packed_size);
    put(&sums, entry->is_large ? 8 : 4, entry->size);
    return send_record(out, &sums, err);
}

static enum status send_listed(struct zip_out *out, const struct entry *entry, struct error *err)
{
    struct record head = {.count = 0}, extra = {.count = 0};
    const bool is_far = entry->offset >= MAX_32;
    const bool is_64 = is_far || entry->is_large;

    if (entry->is_large) {
        put(&extra, 8, entry->size);
        put(&extra, 8, entry->packed_size);
    }
    if (is_far)
        put(&extra, 8, entry->offset);
    put(&head, 4, 0x02014b50);
    put(&head, 2, VERSION_64); /* and of MS-DOS: no rights */
    put(&head, 2, is_64 ? VERSION_64 : VERSION);
    put(&head, 2, entry->flags);
    put(&head, 2, entry->method);
    put(&head, 2, 0);
    put(&head, 2, DAY_ONE);
    put(&head, 4, entry->sum);
    put(&head, 4, entry->is_large ? MAX_32 : entry->packed_size);
    put(&head, 4, entry->is_large ? MAX_32 : entry->size);
    put(&head, 2, entry->name.count);
    put(&head, 2, is_64 ? extra.count + 4 : 0);
    put(&head, 2, 0);
    put(&head, 2, 0);
    put(&head, 2, 0);
    put(&head, 4, 0);
    put(&head, 4, is_far ? MAX_32 : entry->offset);
    TRY(send_record(out, &head, err));
    TRY(send_text(out, entry->name, err));
    if (!is_64)
        return OK;
    struct record field = {.count = 0};
    put(&field, 2, EXTRA_64);
    put(&field, 2, extra.count);
    TRY(send_record(out, &field, err));
    return send_record(out, &extra, err);
}

static enum status send_end_64(struct zip_out *out, uint64_t list, struct error *err)
{
    struct record end = {.count = 0}, pointer = {.count = 0};
    const uint64_t at = out->offset;

    put(&end, 4, 0x06064b50);
    put(&end, 8, 44);
    put(&end, 2, VERSION_64);
    put(&end, 2, VERSION_64);
    put(&end, 4, 0);
    put(&end, 4, 0);
    put(&end, 8, out->count);
    put(&end, 8, out->count);
    put(&end, 8, at - list);
    put(&end, 8, list);
    TRY(send_record(out, &end, err));
    put(&pointer, 4, 0x07064b50);
    put(&pointer, 4, 0);
    put(&pointer, 8, at);
    put(&pointer, 4, 1);
    return send_record(out, &pointer, err);
}

static enum status send_list(struct zip_out *out, struct error *err)
{
    const uint64_t list = out->offset;
    struct record end = {.count = 0};

    for (size_t i = 0; i < out->count; i++)
        TRY(send_listed(out, &out->entries[i], err));
    const uint64_t size = out->offset - list;
    const bool is_64 = out->count >= UINT16_MAX || size >= MAX_32 || list >= MAX_32;
    if (is_64)
        TRY(send_end_64(out, list, err));
    put(&end, 4, 0x06054b50);
    put(&end, 4, 0);
    put(&end, 2, is_64 ? UINT16_MAX : out->count);
    put(&end, 2, is_64 ? UINT16_MAX : out->count);
    put(&end, 4, is_64 ? MAX_32 : size);
    put(&end, 4, is_64 ? MAX_32 : list);
    put(&end, 2, 0);
    return send_record(out, &end, err);
}

enum status zip_out_close(struct zip_out *out, struct error *err)
{
    enum status status = err->code;

    if (status == OK && !out->failed)
        status = send_list(out, err);
    arena_destroy(out->arena);
    free(out->entries);
    free(out);
    return status;
}
