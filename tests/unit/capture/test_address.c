/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that only this machine or its networks have, in all the ways to write them. */
#include "capture/address.h"

#include <netdb.h>

#include "check.h"

static bool is_public(const char *text)
{
    const struct addrinfo numeric = {.ai_family = AF_UNSPEC, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;

    CHECK_INT(text, getaddrinfo(text, "1", &numeric, &found), 0);
    bool ret = address_is_public(found->ai_addr);

    freeaddrinfo(found);
    return ret;
}

static void who_has_it(void **state)
{
    (void)state;
    static const char *const of_nobody_else[] = {
        "127.0.0.1",
        "127.255.0.9",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.192",
        "198.19.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2130706433",
        "0x7f.1",
        "::127.0.0.1",
    };
    static const char *const of_anybody[] = {
        "8.8.8.8",       "172.32.0.1",     "172.15.255.255",   "100.63.0.1",      "100.128.0.1",
        "169.253.0.1",   "192.167.0.1",    "11.0.0.1",         "223.1.1.1",       "198.17.0.1",
        "2001:db8:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
    };

    for (size_t i = 0; i < COUNT(of_nobody_else); i++)
        CHECK_INT(of_nobody_else[i], is_public(of_nobody_else[i]), false);
    for (size_t i = 0; i < COUNT(of_anybody); i++)
        CHECK_INT(of_anybody[i], is_public(of_anybody[i]), true);
}

static void other_families_are_not(void **state)
{
    (void)state;
    const struct sockaddr address = {.sa_family = AF_UNIX};

    CHECK_INT("a path", address_is_public(&address), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_has_it),
                                       cmocka_unit_test(other_families_are_not)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
