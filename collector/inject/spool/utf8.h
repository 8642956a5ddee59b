/* SPDX-License-Identifier: Apache-2.0 */
/* A character as UTF-8; what is none becomes U+FFFD. */
#ifndef JVIEWD_INJECT_UTF8_H
#define JVIEWD_INJECT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* 1 to 4 bytes; how many. */
static inline size_t put_utf8(char *to, uint32_t code)
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t at = count - 1; at > 0; at--, code >>= 6)
        to[at] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00u >> count & 0xf0u) | code);
    return count;
}

#endif
