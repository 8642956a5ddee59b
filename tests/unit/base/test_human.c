/* SPDX-License-Identifier: Apache-2.0 */
/* Times, shares, sizes and counts as prose has them. */
#include "base/human.h"
#include "check.h"

static void times(void **state)
{
    (void)state;
    const struct {
        const char *want;
        int64_t ps;
    } rows[] = {
        {"0 ps", 0},
        {"999 ps", 999},
        {"54.1 ms", 54100000000},
        {"912 µs", 912000000},
        {"1.14 s", 1140000000000},
        {"1.00 ms", 999999999},
        {"1 ms", 1000000000},
        {"-2.30 s", -2300000000000},
        {"2 min 14 s", 134000000000000},
        {"4 min 10 s", 249910000000000},
        {"-2 min 14 s", -134000000000000},
        {"1 h 03 min", 3780000000000000},
        {"1 h 04 min", 3811000000000000},
        {"2562 h 03 min", INT64_MAX - 1},
        {"over 106 days", INT64_MAX},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].want, str_of(human_ps(rows[i].ps).text), rows[i].want);
}

static void shares(void **state)
{
    (void)state;
    const struct {
        const char *want;
        double share;
    } rows[] = {{"61 %", 0.613},    {"9.4 %", 0.0941},   {"<0.1 %", 0.0003},
                {"0 %", 0},         {"100 %", 1},        {"99 %", 0.994},
                {"99.6 %", 0.9961}, {">99.9 %", 0.9999}, {"250 %", 2.5}};

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].want, str_of(human_share(rows[i].share).text), rows[i].want);
}

static void sizes(void **state)
{
    (void)state;
    CHECK_STR("bytes", str_of(human_bytes(512).text), "512 B");
    CHECK_STR("MiB", str_of(human_bytes(43201331).text), "41.2 MiB");
}

static void counts(void **state)
{
    (void)state;
    const struct {
        const char *want;
        uint64_t count;
    } rows[] = {{"0", 0},
                {"999", 999},
                {"1 000", 1000},
                {"812 345", 812345},
                {"10.2 M", 10200000},
                {"1.50 G", 1500000000}};

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].want, str_of(human_count(rows[i].count).text), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(shares),
                                       cmocka_unit_test(sizes), cmocka_unit_test(counts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
