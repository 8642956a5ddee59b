/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of Snappy by hand: literals, copies, and what must be refused. */
#include "base/pack/pack.h"
#include "check.h"

static void blocks(void **state)
{
    (void)state;
    const struct {
        const char *what;
        bool good;
        struct bytes packed;
        const char *content;
    } rows[] = {
        {"a literal", true,
         BYTES("\x03\x08"
               "abc"),
         "abc"},
        {"a copy into itself", true,
         BYTES("\x07\x00"
               "a\x09\x01"),
         "aaaaaaa"},
        {"a literal with its length behind", true,
         BYTES("\x03\xf0\x02"
               "abc"),
         "abc"},
        {"a copy of 16 bits", true,
         BYTES("\x04\x04"
               "ab\x06\x02\x00"),
         "abab"},
        {"another size", false,
         BYTES("\x04\x08"
               "abc"),
         "abc"},
        {"fewer than are due", false,
         BYTES("\x03\x08"
               "abc"),
         "abcd"},
        {"a literal that is cut off", false,
         BYTES("\x03\x08"
               "ab"),
         "abc"},
        {"a copy before the beginning", false,
         BYTES("\x07\x00"
               "a\x0d\x02"),
         "aaaaaaa"},
        {"a copy from here", false,
         BYTES("\x07\x00"
               "a\x0d\x00"),
         "aaaaaaa"},
        {"more than there is room", false,
         BYTES("\x03\x0c"
               "abcd"),
         "abc"},
        {"no size", false, BYTES("\xff\xff\xff\xff\xff\xff"), "abc"},
        {"nothing", false, BYTES(""), "abc"},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        size_t count = strlen(rows[at].content);
        uint8_t to[16] = {0};
        bool good = snappy_unpack(to, count, rows[at].packed);

        CHECK_INT(rows[at].what, good, rows[at].good);
        if (good)
            CHECK(rows[at].what, memcmp(to, rows[at].content, count) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
