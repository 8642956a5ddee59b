/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Parquet table of nsys-jax: of ranges, and of anything else. */
#include "any/decode_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct any_input any = {
        .name = STR("fuzz"), .bytes = {.at = at, .count = count}, .may_be_packed = true};

    any.decoder = &decode_nsys_jax_ranges;
    decode_any(&any);
    any.decoder = &decode_nsys_jax_table;
    decode_any(&any);
    return 0;
}
