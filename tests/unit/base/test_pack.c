/* SPDX-License-Identifier: Apache-2.0 */
/* Every packing against its own tool's bytes: whole, cut, flipped, bombs, several members. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/pack/pack.h"

enum { SAMPLE_BYTES = 20000 };

static const struct unpack_budget wide = {.bytes_max = 1ULL << 40, .ratio_max = 0};

/* Text that packs to about a third: lines that differ. */
static struct bytes sample(struct arena *arena, size_t count)
{
    char *at = arena_alloc(arena, count + 64, 1);
    size_t used = 0;

    for (unsigned i = 0; used < count; i++)
        used += (size_t)sprintf(at + used, "fusion.%u at %u;", i, i * 2654435761u);
    return (struct bytes){.at = (const uint8_t *)at, .count = count};
}

static struct bytes zlib_gzip(struct arena *arena, struct bytes from)
{
    size_t capacity = compressBound(from.count) + 64;
    uint8_t *at = arena_array(arena, uint8_t, capacity);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)from.at,
                       .avail_in = (uInt)from.count,
                       .next_out = at,
                       .avail_out = (uInt)capacity};

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return (struct bytes){.at = at, .count = stream.total_out};
}

static struct bytes zlib_zlib(struct arena *arena, struct bytes from)
{
    uLongf count = compressBound(from.count);
    uint8_t *at = arena_array(arena, uint8_t, count);

    assert_int_equal(compress2(at, &count, from.at, from.count, 6), Z_OK);
    return (struct bytes){.at = at, .count = count};
}

static struct bytes lzma_xz(struct arena *arena, struct bytes from)
{
    size_t capacity = lzma_stream_buffer_bound(from.count), count = 0;
    uint8_t *at = arena_array(arena, uint8_t, capacity);

    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, from.at, from.count, at,
                                             &count, capacity),
                     LZMA_OK);
    return (struct bytes){.at = at, .count = count};
}

static struct bytes pack_as(struct arena *arena, enum packing packing, struct bytes from)
{
    switch (packing) {
    case PACKING_GZIP:
        return zlib_gzip(arena, from);
    case PACKING_ZSTD:
        return pack_zstd(arena, from);
    case PACKING_XZ:
        return lzma_xz(arena, from);
    case PACKING_ZLIB:
        return zlib_zlib(arena, from);
    default:
        return from;
    }
}

static struct bytes joined(struct arena *arena, struct bytes a, struct bytes b)
{
    uint8_t *at = arena_array(arena, uint8_t, a.count + b.count);

    memcpy(at, a.at, a.count);
    memcpy(at + a.count, b.at, b.count);
    return (struct bytes){.at = at, .count = a.count + b.count};
}

/* Unpacks all and compares it with the beginning of `want`; returns how much came. */
static size_t unpack_all(const char *what, struct bytes packed, enum packing packing,
                         struct bytes want, struct error *err)
{
    struct unpack *unpack = unpack_open(packed, packing, wide, err);
    size_t count = 0;

    for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;) {
        CHECK_INT(what, err->code, OK);
        CHECK(what, piece.count <= 1 << 20);
        CHECK(what, count + piece.count <= want.count);
        CHECK(what, memcmp(piece.at, want.at + count, piece.count) == 0);
        count += piece.count;
    }
    CHECK_INT(what, unpack_next(unpack).count, 0);
    unpack_close(unpack);
    return count;
}

static const enum packing packings[] = {PACKING_NONE, PACKING_GZIP, PACKING_ZSTD, PACKING_XZ,
                                        PACKING_ZLIB};

static void whole(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 1000, 1 << 20, (1 << 20) + 1, 3000000};

    for (size_t i = 0; i < COUNT(packings); i++) {
        for (size_t j = 0; j < COUNT(counts); j++) {
            struct arena *arena = arena_create();
            struct error err = {0};
            struct bytes from = sample(arena, counts[j]);
            struct bytes packed = pack_as(arena, packings[i], from);
            const char *what = packing_name(packings[i]);

            if (counts[j] > 0 && packings[i] != PACKING_ZLIB) /* which has no magic */
                CHECK_INT(what, packing_of(packed), packings[i]);
            CHECK_INT(what, unpack_all(what, packed, packings[i], from, &err), counts[j]);
            CHECK_OK(what, err.code, &err);
            arena_destroy(arena);
        }
    }
}

static void every_prefix(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes from = sample(arena, SAMPLE_BYTES);

    for (size_t i = 1; i < COUNT(packings); i++) {
        struct bytes packed = pack_as(arena, packings[i], from);
        const char *what = packing_name(packings[i]);
        size_t before = 0;

        for (size_t count = 0; count < packed.count; count++) {
            struct error err = {0};
            /* Of its own, so that reading behind its end is seen. */
            uint8_t *copy = memory_resize(NULL, count, 1);

            memcpy(copy, packed.at, count);
            size_t made = unpack_all(what, (struct bytes){.at = copy, .count = count}, packings[i],
                                     from, &err);
            CHECK_INT(what, err.code, ERR_TRUNCATED);
            CHECK(what, made >= before);
            before = made;
            free(copy);
        }
    }
    arena_destroy(arena);
}

static void several_and_garbage(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes a = sample(arena, SAMPLE_BYTES), twice = joined(arena, a, a);

    for (size_t i = 1; i < COUNT(packings); i++) {
        struct bytes one = pack_as(arena, packings[i], a), two = joined(arena, one, one);
        const struct {
            const char *what;
            enum status status;
            size_t count;
            struct bytes packed;
        } rows[] = {
            {"two", OK, 2 * SAMPLE_BYTES, two},
            {"garbage behind one", ERR_FORMAT, SAMPLE_BYTES,
             joined(arena, one, BYTES("garbage!12"))},
            {"garbage behind two", ERR_FORMAT, 2 * SAMPLE_BYTES,
             joined(arena, two, BYTES("garbage!12"))},
            {"garbage alone", ERR_FORMAT, 0, BYTES("garbage!1234567")},
        };

        for (size_t j = 0; j < COUNT(rows); j++) {
            struct error err = {0};

            if (packings[i] == PACKING_ZLIB && rows[j].packed.count >= two.count)
                continue; /* one stream is all it can be */
            CHECK_INT(rows[j].what,
                      unpack_all(rows[j].what, rows[j].packed, packings[i], twice, &err),
                      rows[j].count);
            CHECK_INT(rows[j].what, err.code, rows[j].status);
        }
    }

    struct error err = {0};
    struct bytes padded = joined(arena, zlib_gzip(arena, a), BYTES("\0\0\0\0\0\0\0"));

    CHECK_INT("gzip padding", unpack_all("gzip padding", padded, PACKING_GZIP, a, &err), a.count);
    CHECK_OK("gzip padding", err.code, &err);
    arena_destroy(arena);
}

static void gzip_headers(void **state)
{
    (void)state;
/* Header, then the packed "hi": stored block, crc, size. */
#define HI "\x01\x02\x00\xFD\xFFhi\xAC\x2A\x93\xD8\x02\x00\x00\x00"
#define FIXED(flags) "\x1F\x8B\x08" flags "\0\0\0\0\0\x03"
    const struct {
        const char *what;
        enum status status;
        size_t count;
        struct bytes packed;
    } rows[] = {
        {"plain", OK, 2, BYTES(FIXED("\x00") HI)},
        {"name", OK, 2, BYTES(FIXED("\x08") "a.pb\0" HI)},
        {"comment", OK, 2, BYTES(FIXED("\x10") "why\0" HI)},
        {"extra", OK, 2, BYTES(FIXED("\x04") "\x03\x00zzz" HI)},
        {"all", OK, 2,
         BYTES(FIXED("\x1E") "\x01\x00z"
                             "n\0"
                             "c\0"
                             "\x12\x34" HI)},
        {"extra longer than the file", ERR_TRUNCATED, 0, BYTES(FIXED("\x04") "\xFF\xFF" HI)},
        {"name without end", ERR_TRUNCATED, 0, BYTES(FIXED("\x08") "nnnnnnnnnnn")},
        {"reserved flag", ERR_FORMAT, 0, BYTES(FIXED("\x20") HI)},
        {"method 7", ERR_FORMAT, 0, BYTES("\x1F\x8B\x07\0\0\0\0\0\0\x03" HI)},
        {"wrong checksum", ERR_FORMAT, 2,
         BYTES(FIXED("\x00") "\x01\x02\x00\xFD\xFFhi\xAC\x2A\x93\xD9\x02\x00\x00\x00")},
        {"wrong size", ERR_FORMAT, 2,
         BYTES(FIXED("\x00") "\x01\x02\x00\xFD\xFFhi\xAC\x2A\x93\xD8\x03\x00\x00\x00")},
        {"block type 3", ERR_FORMAT, 0, BYTES(FIXED("\x00") "\x07zzzzzzzzzzzzz")},
        {"match before the beginning", ERR_FORMAT, 0,
         BYTES(FIXED("\x00") "\x03\x02\x00\x00\x00\x00\x00\x00\x00\x00")},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};

        CHECK_INT(rows[i].what,
                  unpack_all(rows[i].what, rows[i].packed, PACKING_GZIP, BYTES("hi"), &err),
                  rows[i].count);
        CHECK_INT(rows[i].what, err.code, rows[i].status);
        CHECK_INT(rows[i].what, err.message[0] != '\0', rows[i].status != OK);
    }
}

/* Every byte of a packed sample broken in turn: some data, then an end or a failure, no more. */
static void flipped(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes from = sample(arena, 3000);

    for (size_t i = 1; i < COUNT(packings); i++) {
        struct bytes packed = pack_as(arena, packings[i], from);
        size_t noticed = 0;

        for (size_t at = 0; at < packed.count; at++) {
            struct error err = {0};
            uint8_t *copy = memory_resize(NULL, packed.count, 1);
            size_t made = 0;

            memcpy(copy, packed.at, packed.count);
            copy[at] ^= 0x15;

            struct unpack *unpack = unpack_open((struct bytes){.at = copy, .count = packed.count},
                                                packings[i], wide, &err);

            for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;)
                made += piece.count;
            noticed += err.code != OK;
            unpack_close(unpack);
            free(copy);
        }
        /* zstd frames need not carry a checksum; gzip and xz do. */
        CHECK(packing_name(packings[i]),
              noticed > (packings[i] == PACKING_ZSTD ? 0 : packed.count - 16));
    }
    arena_destroy(arena);
}

/* Broken so that the inflater gives back input it had taken before: what is left is still counted
 * from the same bytes. Found by the fuzzer. */
static void gives_back(void **state)
{
    (void)state;
    struct bytes packed =
        BYTES("\x1F\x8B\x08\x00\x79\xA8\x01\x6B\x02\xFF\xCB\x48\xCD\xC9\xC9\x57\x28\xCF\x2F\xA8"
              "\x01\x51\x57\x28\xCF\x2F\xCA\x49\x51\xC8\x18\x65\x8F\xB2\xA9\xC4\x06\x00\x0D");
    struct error err = {0};
    struct unpack *unpack = unpack_open(packed, PACKING_GZIP, wide, &err);

    while (unpack_next(unpack).count > 0)
        CHECK("no more than there is", unpack_consumed(unpack) <= packed.count);
    CHECK("no more than there is", unpack_consumed(unpack) <= packed.count);
    CHECK("told", err.code != OK);
    unpack_close(unpack);
}

/* Ten gigabytes of zeros; made in pieces, because nobody should hold them. */
static struct bytes zeros_packed(struct arena *arena, enum packing packing, uint64_t count)
{
    static uint8_t zeros[1 << 20];
    struct text packed = {0};
    static uint8_t out[1 << 20];

    if (packing == PACKING_ZSTD) {
        ZSTD_CCtx *context = ZSTD_createCCtx();

        for (uint64_t done = 0; done <= count; done += sizeof(zeros)) {
            bool last = done + sizeof(zeros) > count;
            ZSTD_inBuffer in = {.src = zeros, .size = last ? count - done : sizeof(zeros)};
            size_t left;

            do {
                ZSTD_outBuffer to = {.dst = out, .size = sizeof(out)};

                left = ZSTD_compressStream2(context, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
                text_put(&packed, (const char *)out, to.pos);
            } while (in.pos < in.size || (last && left > 0));
        }
        ZSTD_freeCCtx(context);
    } else {
        z_stream stream = {0};
        uint64_t done = 0;

        deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
        for (int code = Z_OK; code != Z_STREAM_END;) {
            stream.next_in = zeros;
            stream.avail_in = (uInt)(count - done < sizeof(zeros) ? count - done : sizeof(zeros));
            done += stream.avail_in;
            do {
                stream.next_out = out;
                stream.avail_out = sizeof(out);
                code = deflate(&stream, done == count ? Z_FINISH : Z_NO_FLUSH);
                text_put(&packed, (const char *)out, sizeof(out) - stream.avail_out);
            } while (stream.avail_out == 0);
        }
        deflateEnd(&stream);
    }

    struct str copy = str_copy(arena, text_str(&packed));

    text_free(&packed);
    return (struct bytes){.at = (const uint8_t *)copy.at, .count = copy.count};
}

static void bombs(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum packing packing;
        struct unpack_budget budget;
        uint64_t yielded_max;
        const char *says;
    } rows[] = {
        {"gzip by ratio",
         PACKING_GZIP,
         {.bytes_max = 1ULL << 40, .ratio_max = 100},
         33 << 20,
         "bomb"},
        {"zstd by ratio",
         PACKING_ZSTD,
         {.bytes_max = 1ULL << 40, .ratio_max = 100},
         33 << 20,
         "bomb"},
        {"gzip by size", PACKING_GZIP, {.bytes_max = 3 << 20, .ratio_max = 0}, 3 << 20, "limit"},
        {"zstd by size", PACKING_ZSTD, {.bytes_max = 3 << 20, .ratio_max = 0}, 3 << 20, "limit"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct bytes packed = zeros_packed(arena, rows[i].packing, 200 << 20);
        struct unpack *unpack = unpack_open(packed, rows[i].packing, rows[i].budget, &err);
        uint64_t yielded = 0;

        for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;)
            yielded += piece.count;
        CHECK_INT(rows[i].what, err.code, ERR_LIMIT);
        CHECK_HAS(rows[i].what, err.message, rows[i].says);
        CHECK(rows[i].what, yielded <= rows[i].yielded_max);
        unpack_close(unpack);
        arena_destroy(arena);
    }
}

static void wide_windows(void **state)
{
    (void)state;
    /* A frame that claims a window of 1 GiB. */
    struct error err = {0};
    struct bytes zstd = BYTES("\x28\xB5\x2F\xFD\x00\xA0\x01\x00\x00");
    struct unpack *unpack = unpack_open(zstd, PACKING_ZSTD, wide, &err);

    CHECK_INT("zstd window", unpack_next(unpack).count, 0);
    CHECK_INT("zstd window", err.code, ERR_LIMIT);
    CHECK_HAS("zstd window", err.message, "128 MiB");
    unpack_close(unpack);
}

/* A dictionary of 3 GiB, claimed by an .xz header; its checksum is made right again. */
static void wide_dictionary(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes from = sample(arena, 100), packed = lzma_xz(arena, from);
    uint8_t *block = (uint8_t *)(uintptr_t)packed.at + 12; /* behind the stream's header */
    size_t header = (block[0] + 1u) * 4;
    struct error err = {0};

    /* size, flags, packed size, size, filter LZMA2 (0x21), one byte of properties: dictionary */
    CHECK_INT("filter", block[4], 0x21);
    block[6] = 39;
    uint32_t crc = lzma_crc32(block, header - 4, 0);
    memcpy(block + header - 4, &crc, 4);
    CHECK_INT("data", unpack_all("xz", packed, PACKING_XZ, from, &err), 0);
    CHECK_INT("refused", err.code, ERR_LIMIT);
    CHECK_HAS("refused", err.message, "256 MiB");
    arena_destroy(arena);
}

static void own_blocks(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes from = sample(arena, SAMPLE_BYTES);
    uint8_t *packed = arena_array(arena, uint8_t, zstd_bound(from.count));
    uint8_t *back = arena_array(arena, uint8_t, from.count);
    size_t count = zstd_pack(packed, zstd_bound(from.count), from, 3);
    struct error err = {0};

    CHECK("smaller", count < from.count);
    CHECK_OK("back", zstd_unpack(back, from.count, (struct bytes){packed, count}, &err), &err);
    CHECK("same", memcmp(back, from.at, from.count) == 0);
    CHECK_INT("wrong size", zstd_unpack(back, from.count - 1, (struct bytes){packed, count}, &err),
              ERR_FORMAT);
    err = (struct error){0};
    CHECK_INT("shorter than said",
              zstd_unpack(arena_alloc(arena, from.count + 1, 1), from.count + 1,
                          (struct bytes){packed, count}, &err),
              ERR_FORMAT);
    for (size_t cut = 0; cut < count; cut++) {
        err = (struct error){0};
        CHECK_INT("cut", zstd_unpack(back, from.count, (struct bytes){packed, cut}, &err),
                  ERR_FORMAT);
    }
    arena_destroy(arena);
}

struct refusing {
    struct text text;
    size_t room;
};

static enum status put(void *to, struct bytes piece, struct error *err)
{
    struct refusing *refusing = to;

    if (refusing->text.count + piece.count > refusing->room)
        return fail(err, ERR_IO, "full");
    text_put(&refusing->text, (const char *)piece.at, piece.count);
    return OK;
}

static void gzip_written(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 70000, 3000000};

    for (size_t i = 0; i < COUNT(counts); i++) {
        struct arena *arena = arena_create();
        struct bytes from = sample(arena, counts[i]), once = pack_gzip(arena, from);
        struct refusing to = {.room = SIZE_MAX};
        struct error err = {0};
        struct gzip_out *out = gzip_out_open(put, &to);

        for (size_t at = 0; at < from.count; at += 1000)
            CHECK_OK("put",
                     gzip_out_put(
                         out,
                         (struct bytes){.at = from.at + at,
                                        .count = from.count - at < 1000 ? from.count - at : 1000},
                         &err),
                     &err);
        CHECK_OK("close", gzip_out_close(out, &err), &err);
        CHECK_INT("stream",
                  unpack_all("stream", (struct bytes){(uint8_t *)to.text.at, to.text.count},
                             PACKING_GZIP, from, &err),
                  counts[i]);
        CHECK_INT("reply", unpack_all("reply", once, PACKING_GZIP, from, &err), counts[i]);
        CHECK_OK("both", err.code, &err);
        text_free(&to.text);
        arena_destroy(arena);
    }

    struct arena *arena = arena_create();
    struct bytes from = sample(arena, 3000000);
    struct refusing to = {.room = 100000};
    struct error err = {0};
    struct gzip_out *out = gzip_out_open(put, &to);

    CHECK_INT("full", gzip_out_put(out, from, &err), ERR_IO);
    CHECK_INT("full", gzip_out_close(out, &err), ERR_IO);
    text_free(&to.text);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(several_and_garbage),
        cmocka_unit_test(gzip_headers),
        cmocka_unit_test(flipped),
        cmocka_unit_test(gives_back),
        cmocka_unit_test(bombs),
        cmocka_unit_test(wide_windows),
        cmocka_unit_test(wide_dictionary),
        cmocka_unit_test(own_blocks),
        cmocka_unit_test(gzip_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
