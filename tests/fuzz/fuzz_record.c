/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a spool of jview-collect: as they stand, or, behind a first byte of 1, as payloads
 * of frames that check, or no mutation would ever come past their sums.
 *
 *   1 | type | count (2 bytes) | payload | type | ...
 */
#include "any/decode_any.h"
#include "made_spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct made_spool made = {0};

    if (count == 0 || at[0] != 1) {
        decode_any(&(struct any_input){.name = STR("1-2.jvs"),
                                       .bytes = {.at = at, .count = count},
                                       .decoder = &decode_record});
        return 0;
    }
    spool_begin(&made);
    spool_ties(&made);
    for (size_t from = 1; from + 3 <= count;) {
        size_t size = (size_t)(at[from + 1] | at[from + 2] << 8);
        uint16_t type = at[from];
        from += 3;
        size = size < count - from ? size : count - from;
        spool_frame(&made, type, (struct bytes){.at = at + from, .count = size});
        from += size;
    }
    decode_any(&(struct any_input){.name = STR("1-2.jvs"),
                                   .bytes = {(const uint8_t *)made.file.at, made.file.count},
                                   .decoder = &decode_record});
    text_free(&made.file);
    return 0;
}
