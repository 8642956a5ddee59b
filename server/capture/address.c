/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of networks: those of IPv4 that are not public, those of IPv6 that are, and those of IPv6
 * that hold an IPv4 address. */
#include "capture/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

struct network {
    uint8_t at[16];
    unsigned bits;
};

static const struct network of_4[] = {
    {{0}, 8},          /* this network */
    {{10}, 8},         /* private */
    {{100, 64}, 10},   /* shared: behind a carrier's translation */
    {{127}, 8},        /* loopback */
    {{169, 254}, 16},  /* link-local: clouds tell secrets there */
    {{172, 16}, 12},   /* private */
    {{192, 0, 0}, 24}, /* of protocols */
    {{192, 168}, 16},  /* private */
    {{198, 18}, 15},   /* of benchmarks */
    {{224}, 4},        /* multicast */
    {{240}, 4},        /* reserved, and broadcast */
};

static const struct network public_6 = {{0x20}, 3}; /* 2000::/3: all that was given out */

static const struct {
    struct network network;
    size_t at; /* of the IPv4 address */
} holding_4[] = {
    {{{0x00, 0x64, 0xFF, 0x9B}, 96}, 12},                   /* NAT64 */
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 96}, 12}, /* mapped */
    {{{0x20, 0x02}, 16}, 2},                                /* 6to4 */
};

static bool is_in(const uint8_t *address, const struct network *network)
{
    size_t whole = network->bits / 8;
    unsigned rest = network->bits % 8;

    return memcmp(address, network->at, whole) == 0 &&
           (rest == 0 || (address[whole] ^ network->at[whole]) >> (8 - rest) == 0);
}

static bool is_public_4(const uint8_t *address)
{
    for (size_t i = 0; i < COUNT(of_4); i++)
        if (is_in(address, &of_4[i]))
            return false;
    return true;
}

static bool is_public_6(const uint8_t *address)
{
    for (size_t i = 0; i < COUNT(holding_4); i++)
        if (is_in(address, &holding_4[i].network))
            return is_public_4(address + holding_4[i].at);
    return is_in(address, &public_6);
}

bool address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return is_public_4(
            (const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address->sa_family == AF_INET6)
        return is_public_6(
            (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return false;
}
