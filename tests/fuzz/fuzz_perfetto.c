/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Perfetto trace. */
#include "any/decode_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    decode_any(&(struct any_input){
        .name = STR("fuzz"), .bytes = {.at = at, .count = count}, .decoder = &decode_perfetto});
    return 0;
}
