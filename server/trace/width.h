/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a packed column takes for each value. */
#ifndef JVIEWD_TRACE_WIDTH_H
#define JVIEWD_TRACE_WIDTH_H

#include <stdint.h>

/* 0, 1, 2, 4 or 8; 0: the largest value is 0, so nothing is stored. */
static inline uint8_t width_of(uint64_t max)
{
    if (max == 0)
        return 0;
    if (max <= UINT8_MAX)
        return 1;
    if (max <= UINT16_MAX)
        return 2;
    return max <= UINT32_MAX ? 4 : 8;
}

#endif
