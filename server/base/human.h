/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as prose has them: three significant digits, one unit. */
#ifndef JVIEWD_BASE_HUMAN_H
#define JVIEWD_BASE_HUMAN_H

#include <stdint.h>

struct human {
    char text[32];
};

struct human human_ps(int64_t ps);        /* "54.1 ms", "2 min 14 s"; INT64_MAX is a sum's end */
struct human human_share(double share);   /* "61 %", "9.4 %", "<0.1 %" */
struct human human_bytes(uint64_t bytes); /* "41.2 MiB" */
struct human human_count(uint64_t count); /* "12 345", "10.2 M" */

/* What ends a noun behind its count: "1 run", "2 runs". */
static inline const char *plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
