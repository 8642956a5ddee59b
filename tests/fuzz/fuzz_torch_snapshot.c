/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a pickled memory snapshot of PyTorch. */
#include "any/decode_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    decode_any(&(struct any_input){.name = STR("fuzz_snapshot.pickle"),
                                   .bytes = {.at = at, .count = count},
                                   .decoder = &decode_torch_snapshot});
    return 0;
}
