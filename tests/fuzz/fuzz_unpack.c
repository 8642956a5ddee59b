/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as gzip, zstd and xz: pieces, then an end or a failure with a sentence; never more than
 * the budget. */
#include <stdlib.h>

#include "base/pack/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    static const enum packing packings[] = {PACKING_GZIP, PACKING_ZSTD, PACKING_XZ, PACKING_ZLIB};
    const struct unpack_budget budget = {.bytes_max = 16 << 20, .ratio_max = 1000};

    for (size_t i = 0; i < COUNT(packings); i++) {
        struct error err = {0};
        struct unpack *unpack =
            unpack_open((struct bytes){.at = at, .count = count}, packings[i], budget, &err);
        uint64_t made = 0, consumed = 0;

        for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;) {
            made += piece.count;
            if (err.code != OK || unpack_consumed(unpack) < consumed)
                abort();
            consumed = unpack_consumed(unpack);
        }
        if (made > budget.bytes_max || unpack_consumed(unpack) > count ||
            (err.code != OK && err.message[0] == '\0'))
            abort();
        unpack_close(unpack);
    }
    return 0;
}
