/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives made by hand: entries, budgets, refusals, overlaps, every damage. */
#include "check.h"

#include <zlib.h>

#include "base/pack/archive.h"
#include "base/pack/pack.h"

struct made { /* an archive under construction */
    struct text file, directory;
    unsigned count;
};

static void put_number(struct text *text, uint64_t value, int count)
{
    for (int at = 0; at < count; at++) {
        char byte = (char)(at < 8 ? value >> 8 * at : 0);
        text_put(text, &byte, 1);
    }
}

/* Deflated by zlib, another hand than ours; or stored. */
static void put_entry(struct made *made, const char *name, struct str content, unsigned method)
{
    uint8_t packed[4096];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)content.at,
                       .avail_in = (uInt)content.count,
                       .next_out = packed,
                       .avail_out = sizeof packed};
    uint64_t offset = made->file.count, size = content.count;
    uint64_t crc = crc32(0, (const Bytef *)content.at, (uInt)content.count);

    if (method == 8) {
        assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        size = stream.total_out;
        deflateEnd(&stream);
    } else {
        memcpy(packed, content.at, content.count);
    }
    text_put(&made->file, "PK\x03\x04\x14\0\0\0", 8);
    put_number(&made->file, method, 2);
    put_number(&made->file, 0, 4);
    put_number(&made->file, crc, 4);
    put_number(&made->file, size, 4);
    put_number(&made->file, content.count, 4);
    put_number(&made->file, strlen(name), 2);
    put_number(&made->file, 0, 2);
    text_puts(&made->file, name);
    text_put(&made->file, (const char *)packed, size);

    text_put(&made->directory, "PK\x01\x02\x14\0\x14\0\0\0", 10);
    put_number(&made->directory, method, 2);
    put_number(&made->directory, 0, 4);
    put_number(&made->directory, crc, 4);
    put_number(&made->directory, size, 4);
    put_number(&made->directory, content.count, 4);
    put_number(&made->directory, strlen(name), 2);
    put_number(&made->directory, 0, 12);
    put_number(&made->directory, offset, 4);
    text_puts(&made->directory, name);
    made->count++;
}

static struct bytes end_archive(struct made *made, const char *comment)
{
    uint64_t offset = made->file.count;

    text_put(&made->file, made->directory.at, made->directory.count);
    text_put(&made->file, "PK\x05\x06\0\0\0\0", 8);
    put_number(&made->file, made->count, 2);
    put_number(&made->file, made->count, 2);
    put_number(&made->file, made->directory.count, 4);
    put_number(&made->file, offset, 4);
    put_number(&made->file, strlen(comment), 2);
    text_puts(&made->file, comment);
    return (struct bytes){(const uint8_t *)made->file.at, made->file.count};
}

static void free_made(struct made *made)
{
    text_free(&made->file);
    text_free(&made->directory);
}

static void entries(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};
    struct archive archive;
    struct bytes content;

    put_entry(&made, "a/", STR(""), 0);
    put_entry(&made, "a/deflated", STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 8);
    put_entry(&made, "a/stored", STR("as it is"), 0);
    CHECK_OK("open", archive_open(end_archive(&made, "of tests"), arena, &archive, &err), &err);
    CHECK_INT("files", archive.count, 2);
    CHECK_OK("deflated",
             archive_read(&archive, archive_find(&archive, STR("a/deflated")), 100, arena, &content,
                          &err),
             &err);
    CHECK_STR("deflated", ((struct str){(const char *)content.at, content.count}),
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    CHECK_OK(
        "stored",
        archive_read(&archive, archive_find(&archive, STR("a/stored")), 100, arena, &content, &err),
        &err);
    CHECK_STR("stored", ((struct str){(const char *)content.at, content.count}), "as it is");
    CHECK("another", archive_find(&archive, STR("a")) == NULL);
    CHECK_INT("too large", archive_read(&archive, &archive.entries[0], 10, arena, &content, &err),
              ERR_LIMIT);
    archive_close(&archive);
    free_made(&made);
    arena_destroy(arena);
}

/* Many entries, each below the limit: the archive has a budget for all. */
static void budget(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};
    struct archive archive;
    struct bytes content;

    put_entry(&made, "a", STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 8); /* 41 bytes */
    CHECK_OK("open", archive_open(end_archive(&made, ""), arena, &archive, &err), &err);
    archive.unpack_left = 100;
    for (int turn = 0; turn < 2; turn++)
        CHECK_OK("within", archive_read(&archive, &archive.entries[0], 1000, arena, &content, &err),
                 &err);
    CHECK_INT("left", archive.unpack_left, 18);
    CHECK_INT("beyond", archive_read(&archive, &archive.entries[0], 1000, arena, &content, &err),
              ERR_LIMIT);
    archive_close(&archive);
    free_made(&made);
    arena_destroy(arena);
}

static enum status read_first(struct bytes file, struct arena *arena, struct error *err)
{
    struct archive archive;
    struct bytes content;

    TRY(archive_open(file, arena, &archive, err));
    enum status status = archive_read(&archive, &archive.entries[0], 100, arena, &content, err);
    archive_close(&archive);
    return status;
}

/* What only one entry's bytes tell is told when it is read: the others are as good as before. */
static void refused(void **state)
{
    (void)state;
    const struct {
        const char *what;
        size_t at; /* of the directory's first entry */
        char byte;
        enum status status;
        const char *message;
    } rows[] = {
        {"encrypted", 8, 1, ERR_UNSUPPORTED, "is encrypted"},
        {"method 14", 10, 14, ERR_UNSUPPORTED, "packed by method 14"},
        {"another checksum", 16, 1, ERR_FORMAT, "checksum does not match"},
        {"a size beyond the file", 22, 1, ERR_TRUNCATED, "ends beyond the file"},
        {"another size", 24, 4, ERR_FORMAT, "does not have the length that its directory says"},
        {"an offset into the middle", 42, 1, ERR_FORMAT, "not where it should be"},
        {"no entry", 0, 'X', ERR_TRUNCATED, "no directory of its entries"},
        {"a name beyond the list", 29, 1, ERR_FORMAT, "list of entries is damaged"},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct made made = {0};
        struct error err = {0};

        put_entry(&made, "a", STR("abc"), 0);
        made.directory.at[rows[at].at] = rows[at].byte;
        enum status status = read_first(end_archive(&made, ""), arena, &err);
        CHECK_INT(rows[at].what, status, rows[at].status);
        CHECK_HAS(rows[at].what, err.message, rows[at].message);
        free_made(&made);
        arena_destroy(arena);
    }
}

/* Two entries of the same packed bytes: how a small archive holds a large one. */
static void overlap(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};
    struct archive archive;

    put_entry(&made, "a", STR("abc"), 0);
    text_put(&made.directory, made.directory.at, made.directory.count);
    made.count = 2;
    CHECK_INT("overlap", archive_open(end_archive(&made, ""), arena, &archive, &err), ERR_FORMAT);
    CHECK_HAS("overlap", err.message, "overlap");
    free_made(&made);
    arena_destroy(arena);
}

/* Every prefix, and every byte changed: an archive, or a sentence. */
static void damage(void **state)
{
    (void)state;
    struct made made = {0};

    put_entry(&made, "one", STR("abcabcabcabcabcabc"), 8);
    put_entry(&made, "two", STR("xyz"), 0);
    struct bytes file = end_archive(&made, "");
    for (size_t at = 0; at < 2 * file.count; at++) {
        struct arena *arena = arena_create();
        uint8_t *copy = arena_array(arena, uint8_t, file.count);
        struct error err = {0};
        struct bytes content;
        struct archive archive;

        memcpy(copy, file.at, file.count);
        copy[at % file.count] ^= at < file.count ? 0 : 0x55;
        size_t count = at < file.count ? at : file.count;
        if (archive_open((struct bytes){copy, count}, arena, &archive, &err) != OK)
            CHECK("a sentence", err.message[0] != '\0');
        else
            for (uint32_t entry = 0; entry < archive.count; entry++)
                (void)(archive_read(&archive, &archive.entries[entry], 1000, arena, &content,
                                    &err) == OK);
        archive_close(&archive);
        arena_destroy(arena);
    }
    free_made(&made);
}

/* A file that was packed before it was put into the archive comes out unpacked. */
static void packed_inside(void **state)
{
    (void)state;
    for (unsigned method = 0; method <= 8; method += 8) {
        struct arena *arena = arena_create();
        struct bytes packed = pack_gzip(arena, BYTES("abcabcabc")), content, piece;
        struct unpack_budget budget = {.bytes_max = 1000};
        struct made made = {0};
        struct error err = {0};
        struct archive archive;

        put_entry(&made, "a.gz", (struct str){(const char *)packed.at, packed.count}, method);
        struct bytes file = end_archive(&made, "");
        CHECK_OK("open", archive_open(file, arena, &archive, &err), &err);
        CHECK_OK("read", archive_read(&archive, &archive.entries[0], 100, arena, &content, &err),
                 &err);
        CHECK_STR("read", ((struct str){(const char *)content.at, content.count}), "abcabcabc");
        archive_close(&archive);

        struct unpack *unpack = unpack_open(file, PACKING_ZIP, budget, &err);
        piece = unpack_next(unpack);
        CHECK_INT("as a packing", piece.count, packed.count);
        CHECK("as a packing", memcmp(piece.at, packed.at, packed.count) == 0);
        CHECK_INT("one piece", unpack_next(unpack).count, 0);
        CHECK_OK("to its end", err.code, &err);
        CHECK_INT("consumed", unpack_consumed(unpack), file.count);
        unpack_close(unpack);
        free_made(&made);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries), cmocka_unit_test(budget),        cmocka_unit_test(refused),
        cmocka_unit_test(overlap), cmocka_unit_test(packed_inside), cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
