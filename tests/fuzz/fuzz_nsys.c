/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an SQLite export of Nsight Systems. */
#include "any/decode_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    decode_any(&(struct any_input){
        .name = STR("fuzz"), .bytes = {.at = at, .count = count}, .decoder = &decode_nsys});
    return 0;
}
