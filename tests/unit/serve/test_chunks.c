/* SPDX-License-Identifier: Apache-2.0 */
/* Where a chunked body ends, and what is none. */
#include "check.h"

#include "serve/http/chunks.h"

static void bodies(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct bytes got;
        int ends; /* CHUNKS_ENDED, CHUNKS_REFUSED, -1: goes on */
        size_t taken;
        uint64_t bytes;
    } rows[] = {
        {"nothing", BYTES("0\r\n\r\n"), CHUNKS_ENDED, 5, 0},
        {"one", BYTES("5\r\nhello\r\n0\r\n\r\n"), CHUNKS_ENDED, 15, 5},
        {"two, in hex", BYTES("1\r\na\r\n0B\r\nhello world\r\n0\r\n\r\n"), CHUNKS_ENDED, 28, 12},
        {"a request behind it", BYTES("0\r\n\r\nGET / HTTP/1.1\r\n\r\n"), CHUNKS_ENDED, 5, 0},
        {"cut off", BYTES("5\r\nhel"), -1, 6, 3},
        {"an extension", BYTES("5;a=b\r\nhello\r\n0\r\n\r\n"), CHUNKS_REFUSED, 2, 0},
        {"a trailer", BYTES("0\r\nX: y\r\n\r\n"), CHUNKS_REFUSED, 4, 0},
        {"LF alone", BYTES("5\nhello"), CHUNKS_REFUSED, 2, 0},
        {"longer than it said", BYTES("1\r\nab\r\n"), CHUNKS_REFUSED, 5, 1},
        {"no size", BYTES("\r\n"), CHUNKS_REFUSED, 1, 0},
        {"0x", BYTES("0x5\r\n"), CHUNKS_REFUSED, 2, 0},
        {"a sign", BYTES("-1\r\n"), CHUNKS_REFUSED, 1, 0},
        {"16 digits", BYTES("0000000000000001\r\n"), CHUNKS_REFUSED, 16, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct chunks whole = {0}, pieces = {0};
        size_t taken = 0;

        CHECK_INT(rows[i].what, chunks_take(&whole, rows[i].got), rows[i].taken);
        for (size_t k = 0; k < rows[i].got.count; k++)
            taken += chunks_take(&pieces, (struct bytes){.at = rows[i].got.at + k, .count = 1});
        CHECK_INT(rows[i].what, taken, rows[i].taken);
        CHECK_INT(rows[i].what, whole.state, pieces.state);
        CHECK_INT(rows[i].what, whole.bytes, rows[i].bytes);
        if (rows[i].ends >= 0)
            CHECK_INT(rows[i].what, whole.state, rows[i].ends);
        else
            CHECK(rows[i].what, whole.state < CHUNKS_ENDED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
