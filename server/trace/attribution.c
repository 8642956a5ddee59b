/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of a slice by bisection. */
#include "trace/attribution.h"

const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice)
{
    uint32_t low = 0, high = attribution->entry_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (attribution->entries[middle].slice < slice)
            low = middle + 1;
        else
            high = middle;
    }
    return low < attribution->entry_count && attribution->entries[low].slice == slice
               ? &attribution->entries[low]
               : NULL;
}
