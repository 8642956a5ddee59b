/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a message of memory that ran out. */
#include "any/decode_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    decode_any(&(struct any_input){.name = STR("fuzz.log"),
                                   .bytes = {.at = at, .count = count},
                                   .decoder = &decode_oom_report});
    return 0;
}
