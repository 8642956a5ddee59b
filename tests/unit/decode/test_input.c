/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes come whole or in pieces, packed or not, the same to a decoder. */
#include "check.h"

#include <stdlib.h>

#include "decode/decode.h"

enum { LONG = 3 << 20 };

static struct bytes numbers(struct arena *arena, size_t count)
{
    uint8_t *at = arena_array(arena, uint8_t, count);
    uint32_t state = 1;

    for (size_t index = 0; index < count; index++)
        at[index] = (uint8_t)((state = state * 1664525 + 1013904223) >> 30);
    return (struct bytes){.at = at, .count = count};
}

static struct bytes zstd_of(struct arena *arena, struct bytes plain)
{
    uint8_t *at = arena_array(arena, uint8_t, zstd_bound(plain.count));
    return (struct bytes){.at = at, .count = zstd_pack(at, zstd_bound(plain.count), plain, 1)};
}

static bool same(struct bytes a, struct bytes b)
{
    return a.count == b.count && memcmp(a.at, b.at, a.count) == 0;
}

static void whole_and_pieces(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes plain = numbers(arena, LONG);
    const struct {
        const char *what;
        struct bytes bytes;
        enum packing packing;
    } rows[] = {
        {"plain", plain, PACKING_NONE},
        {"gzip", pack_gzip(arena, plain), PACKING_GZIP},
        {"zstd", zstd_of(arena, plain), PACKING_ZSTD},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct input input;
        struct bytes whole;
        bool cut;

        CHECK_OK(rows[i].what, input_open(STR("a.pb"), rows[i].bytes, NULL, arena, &input, &err),
                 &err);
        CHECK_INT(rows[i].what, input.packing, rows[i].packing);
        CHECK("head", same(input.head, (struct bytes){plain.at, 64 << 10}));
        CHECK_OK(rows[i].what, input_whole(&input, &whole, &cut, &err), &err);
        CHECK(rows[i].what, same(whole, plain) && !cut);

        size_t count = 0;
        for (;;) {
            struct bytes piece = input_next(&input, &err);
            if (piece.count == 0)
                break;
            CHECK(rows[i].what,
                  piece.count <= 1 << 20 && memcmp(piece.at, plain.at + count, piece.count) == 0);
            count += piece.count;
        }
        CHECK_INT(rows[i].what, count, LONG);
        CHECK_INT(rows[i].what, err.code, OK);
        CHECK_INT(rows[i].what, input_consumed(&input), rows[i].bytes.count);
        input_close(&input);
    }
    arena_destroy(arena);
}

static void cut_and_broken(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes plain = numbers(arena, LONG), packed = pack_gzip(arena, plain);
    uint8_t *noise = arena_array(arena, uint8_t, 64);
    memcpy(noise, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff", 14);
    const struct {
        const char *what;
        struct bytes bytes;
        enum status status;
        bool cut;
    } rows[] = {
        {"cut in half", {packed.at, packed.count / 2}, OK, true},
        {"cut in its head", {packed.at, 5}, ERR_TRUNCATED, false},
        {"noise behind the head", {noise, 64}, ERR_FORMAT, false},
        {"empty", {packed.at, 0}, OK, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct input input;
        struct bytes whole;
        bool cut;

        CHECK_OK(rows[i].what, input_open(STR("a.gz"), rows[i].bytes, NULL, arena, &input, &err),
                 &err);
        CHECK_INT(rows[i].what, input_whole(&input, &whole, &cut, &err), rows[i].status);
        CHECK_INT(rows[i].what, cut, rows[i].cut);
        if (cut)
            CHECK("what is whole", whole.count > 1 << 20 && whole.count < LONG &&
                                       memcmp(whole.at, plain.at, whole.count) == 0);
        input_close(&input);
    }
    arena_destroy(arena);
}

static void nowhere_to_unpack(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct input input;
    struct bytes whole;
    bool cut;

    CHECK_OK("open",
             input_open(STR("a.gz"), pack_gzip(arena, BYTES("text")), "/no/such/directory", arena,
                        &input, &err),
             &err);
    CHECK_INT("whole", input_whole(&input, &whole, &cut, &err), ERR_IO);
    CHECK_HAS("whole", err.message, "/no/such/directory");
    input_close(&input);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_and_pieces),
        cmocka_unit_test(cut_and_broken),
        cmocka_unit_test(nowhere_to_unpack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
