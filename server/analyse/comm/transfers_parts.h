/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of transfers.h among themselves. */
#ifndef JVIEWD_ANALYSE_COMM_TRANSFERS_PARTS_H
#define JVIEWD_ANALYSE_COMM_TRANSFERS_PARTS_H

#include "analyse/comm/transfer_words.h"

/* Fills overlapped_ps of one host's transfers: how long their device computed meanwhile. Where they
 * name no device and only one computes, it is that. */
void transfers_overlap(const struct host_trace *host, struct transfer *transfers, uint32_t count);

/* Joined rows: by direction, size, stream, caller. */
enum transfers_by {
    TRANSFERS_BY_DIRECTION,
    TRANSFERS_BY_SIZE,
    TRANSFERS_BY_STREAM,
    TRANSFERS_BY_CALLER,
    TRANSFERS_BY_TRANSFER,
};
MUST_CHECK enum status transfer_groups_table(const struct run_traces *run,
                                             const struct transfers *transfers,
                                             enum transfers_by by, const struct page *page,
                                             struct arena *arena, struct table *ret,
                                             struct error *err);

#endif
