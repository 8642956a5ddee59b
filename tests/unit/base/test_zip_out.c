/* SPDX-License-Identifier: Apache-2.0 */
/* What is written reads back, as `struct archive` and so as any other program reads it; whatever
 * is cut off it is no archive any more. */
#include <stdlib.h>

#include "check.h"

#include "base/pack/archive.h"
#include "base/pack/zip_out.h"

static enum status append(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

static const char long_text[] =
    "a text that repeats itself, a text that repeats itself, a text that "
    "repeats itself";

static const struct {
    const char *name;
    bool is_stored;
    uint64_t told_size;
    const char *content;
} entries[] = {
    {"manifest.json", true, 0, "{}"},
    {"empty", false, 0, ""},
    {"segments/0", false, 90, long_text},
    {"said to be large", false, UINT64_C(5) << 30, long_text}, /* in records of 64 bits */
    {"ö/ü", false, 3, "abc"},
};

static struct bytes content_of(size_t i)
{
    return (struct bytes){(const uint8_t *)entries[i].content, strlen(entries[i].content)};
}

static struct text make(void)
{
    struct text archive = {0};
    struct error err = {0};
    struct zip_out *out = zip_out_open(append, &archive);

    for (size_t i = 0; i < COUNT(entries); i++) {
        struct str name = str_of(entries[i].name);
        struct bytes content = content_of(i);

        if (entries[i].is_stored) {
            CHECK_OK(entries[i].name, zip_out_stored(out, name, content, &err), &err);
            continue;
        }
        CHECK_OK(entries[i].name, zip_out_begin(out, name, entries[i].told_size, &err), &err);
        for (size_t at = 0; at < content.count; at += 7) {
            size_t count = content.count - at < 7 ? content.count - at : 7;
            CHECK_OK(entries[i].name,
                     zip_out_put(out, (struct bytes){content.at + at, count}, &err), &err);
        }
        CHECK_OK(entries[i].name, zip_out_end(out, &err), &err);
    }
    CHECK_OK("close", zip_out_close(out, &err), &err);
    return archive;
}

static void reads_back(void **state)
{
    struct text made = make();
    struct arena *arena = arena_create();
    struct archive archive;
    struct error err = {0};

    (void)state;
    struct bytes file = {(const uint8_t *)made.at, made.count};
    CHECK_OK("open", archive_open(file, arena, &archive, &err), &err);
    CHECK_INT("entries", archive.count, COUNT(entries));
    for (size_t i = 0; i < COUNT(entries); i++) {
        struct bytes read = {0};

        CHECK_STR("name", archive.entries[i].name, entries[i].name);
        CHECK_INT(entries[i].name, archive.entries[i].size, content_of(i).count);
        CHECK_OK(entries[i].name,
                 archive_read(&archive, &archive.entries[i], 1 << 20, arena, &read, &err), &err);
        CHECK_STR(entries[i].name, ((struct str){(const char *)read.at, read.count}),
                  entries[i].content);
    }
    archive_close(&archive);
    arena_destroy(arena);
    text_free(&made);
}

static void every_prefix_is_refused(void **state)
{
    struct text made = make();

    (void)state;
    for (size_t count = 1; count < made.count; count++) {
        struct arena *arena = arena_create();
        struct archive archive;
        struct error err = {0};
        uint8_t *prefix = arena_alloc(arena, count + 1, 1);

        memcpy(prefix, made.at, count);
        if (archive_open((struct bytes){prefix, count}, arena, &archive, &err) == OK)
            check_failed(__FILE__, __LINE__, "prefix", "%zu of %zu bytes open", count, made.count);
        arena_destroy(arena);
    }
    text_free(&made);
}

/* Whatever bit is wrong: what still reads is what was written, or names and sizes have another
 * home. */
static void a_wrong_bit_is_found(void **state)
{
    struct text made = make();
    uint32_t found = 0;

    (void)state;
    for (size_t bit = 0; bit < 8 * made.count; bit++) {
        struct arena *arena = arena_create();
        struct archive archive;
        struct error err = {0};

        made.at[bit / 8] ^= (char)(1 << bit % 8);
        struct bytes file = {(const uint8_t *)made.at, made.count};
        bool opened = archive_open(file, arena, &archive, &err) == OK;
        const struct archive_entry *entry =
            opened ? archive_find(&archive, str_of(entries[2].name)) : NULL;
        struct bytes read;
        if (entry != NULL && archive_read(&archive, entry, 1 << 20, arena, &read, &err) == OK)
            CHECK_STR("a bit is wrong", ((struct str){(const char *)read.at, read.count}),
                      entries[2].content);
        else
            found++;
        if (opened)
            archive_close(&archive);
        arena_destroy(arena);
        made.at[bit / 8] ^= (char)(1 << bit % 8);
    }
    CHECK("many are found", found > 500);
    text_free(&made);
}

/* A packed entry is found out by its sum; a failing writer by its own failure. */
static enum status refuse(void *to, struct bytes piece, struct error *err)
{
    size_t *left = to;

    if (piece.count > *left)
        return fail(err, ERR_IO, "full");
    *left -= piece.count;
    return OK;
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    for (size_t room = 0; room < 200; room += 10) {
        size_t left = room;
        struct error err = {0};
        struct zip_out *out = zip_out_open(refuse, &left);

        if (zip_out_begin(out, STR("one"), 3, &err) == OK &&
            zip_out_put(out, BYTES("abc"), &err) == OK)
            (void)!zip_out_end(out, &err);
        enum status status = zip_out_close(out, &err);
        const size_t size = 33 + 5 + 16 + 49 + 22; /* head, bytes, sums, list, end */
        CHECK_INT("told", status, room < size ? ERR_IO : OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(a_wrong_bit_is_found),
        cmocka_unit_test(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
