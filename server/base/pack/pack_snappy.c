/* SPDX-License-Identifier: Apache-2.0 */
/* Snappy: one block of known size, what pages of Parquet are packed with. */
#include <snappy-c.h>

#include "base/pack/pack.h"

bool snappy_holds(struct bytes from, size_t count)
{
    size_t size;

    return snappy_uncompressed_length((const char *)from.at, from.count, &size) == SNAPPY_OK &&
           size == count;
}

bool snappy_unpack(void *to, size_t count, struct bytes from)
{
    size_t size = count;

    return snappy_holds(from, count) &&
           snappy_uncompress((const char *)from.at, from.count, to, &size) == SNAPPY_OK &&
           size == count;
}

const char *pack_snappy_library(void)
{
    return SNAPPY_VERSION; /* of the build: the library does not say */
}
