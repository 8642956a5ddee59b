/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses anybody on the internet has, and which only this machine or its own networks. */
#ifndef JVIEWD_CAPTURE_ADDRESS_H
#define JVIEWD_CAPTURE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* False of loopback, link-local, private, shared, multicast and reserved addresses, also where they
 * stand inside an IPv6 address, and of families besides IPv4 and IPv6. Facts: IANA's registries of
 * special-purpose addresses (RFC 6890). */
bool address_is_public(const struct sockaddr *address);

#endif
