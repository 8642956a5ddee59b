/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the UI for those who do not take them as they are stored. */
#include "serve/assets.h"

#include "base/pack/pack.h"

enum { FILE_BYTES_MAX = 16 << 20 };

enum status asset_put(const struct asset *asset, struct text *out, struct error *err)
{
    const struct unpack_budget budget = {.bytes_max = FILE_BYTES_MAX};

    if (!asset->is_gzip) {
        text_put(out, (const char *)asset->stored.at, asset->stored.count);
        return OK;
    }
    struct unpack *unpack = unpack_open(asset->stored, PACKING_GZIP, budget, err);
    for (struct bytes piece = {0}; unpack != NULL && (piece = unpack_next(unpack)).count > 0;)
        text_put(out, (const char *)piece.at, piece.count);
    unpack_close(unpack);
    return err->code;
}
