/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that wait for their frame. */
#ifndef JVIEWD_INJECT_BATCH_H
#define JVIEWD_INJECT_BATCH_H

#include <stdint.h>

#include "api/record.h"

enum { BATCH_NUMBERS = 1 << 16 }; /* 512 KiB: 5,957 ranges */

struct batch {
    enum spool_type type;
    uint32_t columns, count;
    int64_t *numbers; /* BATCH_NUMBERS of them */
};

static inline uint32_t batch_capacity(const struct batch *batch)
{
    return BATCH_NUMBERS / batch->columns;
}

/* The next row, to be filled; the batch has room. */
static inline int64_t *batch_row(struct batch *batch)
{
    return batch->numbers + (uint64_t)batch->count++ * batch->columns;
}

#endif
