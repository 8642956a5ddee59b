/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3, the one hash: 128 bits for contents, 64 for tables and checksums. */
#ifndef JVIEWD_BASE_HASH_H
#define JVIEWD_BASE_HASH_H

#include "base/bytes.h"

struct hash128 {
    uint64_t high, low;
};

uint64_t hash64(struct bytes bytes);
struct hash128 hash128(struct bytes bytes);

struct hasher; /* streaming, 128 bits */
struct hasher *hasher_create(void);
void hasher_put(struct hasher *hasher, struct bytes bytes);
struct hash128 hasher_end(struct hasher *hasher); /* frees */

/* 32 lower-case hex digits and a NUL. */
void hash128_hex(struct hash128 hash, char ret[33]);

const char *hash_library(void); /* the version of xxHash */

#endif
