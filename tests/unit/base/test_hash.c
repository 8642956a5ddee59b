/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 against known values, at once and in pieces. */
#include "check.h"

#include "base/hash.h"

static void known(void **state)
{
    (void)state;
    /* Of the published XXH3 test vectors: the empty input, seed 0. */
    char hex[33];

    CHECK_INT("64, empty", (int64_t)hash64(BYTES("")), (int64_t)0x2D06800538D394C2ULL);
    hash128_hex(hash128(BYTES("")), hex);
    CHECK_STR("128, empty", str_of(hex), "99aa06d3014798d86001c324468d497f");
}

static void in_pieces(void **state)
{
    (void)state;
    uint8_t data[5000];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 31 + i / 256);
    for (size_t size = 0; size <= sizeof(data); size += 313) {
        for (size_t piece = 1; piece <= 1000; piece = piece * 3 + 1) {
            struct hasher *hasher = hasher_create();

            for (size_t at = 0; at < size; at += piece)
                hasher_put(hasher, (struct bytes){.at = data + at,
                                                  .count = size - at < piece ? size - at : piece});

            struct hash128 a = hasher_end(hasher);
            struct hash128 b = hash128((struct bytes){.at = data, .count = size});

            CHECK("same", a.high == b.high && a.low == b.low);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),
        cmocka_unit_test(in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
