/* SPDX-License-Identifier: Apache-2.0 */
/* Appended bytes come back from memory and from the file. */
#include <stdlib.h>

#include "check.h"
#include "trace/spill.h"

static uint8_t value_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 251);
}

/* Appends of every size come back wherever they lie: in memory, in the file, across both. */
static void comes_back(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 0, 77, 1 << 19, (1 << 19) + 3, 5, 3 << 20, 900000, 200000, 8};
    struct error err = {0};
    struct spill *spill = spill_create(NULL, 1 << 26);
    uint8_t *bytes = malloc(3 << 20), *back = malloc(8 << 20);
    uint64_t offsets[COUNT(sizes)], at = 0;

    assert_non_null(bytes);
    assert_non_null(back);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            bytes[j] = value_at(at + j);
        struct bytes piece = {.at = bytes, .count = sizes[i]};
        CHECK_OK("append", spill_append(spill, piece, &offsets[i], &err), &err);
        CHECK_INT("offset", offsets[i], at);
        at += sizes[i];
        CHECK_INT("size", spill_bytes(spill), at);
    }
    for (size_t i = 0; i <= COUNT(sizes); i++) { /* each piece, then everything */
        uint64_t from = i < COUNT(sizes) ? offsets[i] : 0;
        size_t count = i < COUNT(sizes) ? sizes[i] : (size_t)at;
        CHECK_OK("read", spill_read(spill, from, back, count, &err), &err);
        for (size_t j = 0; j < count; j++)
            if (back[j] != value_at(from + j))
                check_failed(__FILE__, __LINE__, "read", "byte %zu of piece %zu is wrong", j, i);
    }
    struct bytes all;
    CHECK_OK("map", spill_map(spill, &all, &err), &err);
    CHECK_INT("all", all.count, at);
    for (size_t j = 0; j < all.count; j++)
        if (all.at[j] != value_at(j))
            check_failed(__FILE__, __LINE__, "map", "byte %zu is wrong", j);
    CHECK_INT("beyond", spill_read(spill, at - 1, back, 2, &err), ERR_INVALID);
    free(bytes);
    free(back);
    spill_destroy(spill);
}

static void refuses(void **state)
{
    (void)state;
    const struct {
        const char *what, *dir;
        uint64_t bytes_max;
        enum status status;
    } rows[] = {
        {"more than the budget", NULL, 100, ERR_LIMIT},
        {"no such directory", "/nonexistent/jviewd", 1 << 30, ERR_IO},
    };
    static uint8_t bytes[2 << 20];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct spill *spill = spill_create(rows[i].dir, rows[i].bytes_max);
        struct bytes piece = {.at = bytes, .count = sizeof(bytes)};
        uint64_t offset;

        CHECK_INT(rows[i].what, spill_append(spill, piece, &offset, &err), rows[i].status);
        spill_destroy(spill);
    }
    spill_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
