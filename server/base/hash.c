/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 of the xxHash library, behind names of our own. */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/memory.h"

struct hasher {
    XXH3_state_t *state;
};

uint64_t hash64(struct bytes bytes)
{
    return XXH3_64bits(bytes.at, bytes.count);
}

struct hash128 hash128(struct bytes bytes)
{
    XXH128_hash_t hash = XXH3_128bits(bytes.at, bytes.count);

    return (struct hash128){.high = hash.high64, .low = hash.low64};
}

struct hasher *hasher_create(void)
{
    struct hasher *hasher = memory_resize(NULL, 1, sizeof(*hasher));

    hasher->state = XXH3_createState();
    for (unsigned i = 0; hasher->state == NULL && memory_try_again(i); i++)
        hasher->state = XXH3_createState();
    if (hasher->state == NULL)
        memory_refused(0, 0);
    XXH3_128bits_reset(hasher->state);
    return hasher;
}

void hasher_put(struct hasher *hasher, struct bytes bytes)
{
    if (bytes.count > 0)
        XXH3_128bits_update(hasher->state, bytes.at, bytes.count);
}

struct hash128 hasher_end(struct hasher *hasher)
{
    XXH128_hash_t hash = XXH3_128bits_digest(hasher->state);

    XXH3_freeState(hasher->state);
    free(hasher);
    return (struct hash128){.high = hash.high64, .low = hash.low64};
}

void hash128_hex(struct hash128 hash, char ret[33])
{
    snprintf(ret, 33, "%016llx%016llx", (unsigned long long)hash.high,
             (unsigned long long)hash.low);
}

const char *hash_library(void)
{
    static char version[16];
    unsigned number = XXH_versionNumber(); /* 801 is 0.8.1 */

    snprintf(version, sizeof version, "%u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    return version;
}
