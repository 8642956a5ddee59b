/* SPDX-License-Identifier: Apache-2.0 */
/* What the spools of a session hold: read back from the disk, so that what is told is what is
 * there. */
#ifndef JVIEWD_LAUNCH_SUMMARY_H
#define JVIEWD_LAUNCH_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "api/record.h"

enum { SUMMARY_TOP = 5 };

struct summary {
    uint64_t ranges, samples, bytes;
    uint64_t lost[LOST_CAUSES];
    bool has_xla; /* modules or ops of XLA are named */
    struct summary_name {
        char name[64]; /* cut at a character */
        uint64_t count;
        int64_t total_ns;
    } top[SUMMARY_TOP]; /* by total time, those of the same name together; "" behind the last */
};

void summary_read(char *const *profiles, uint32_t count, struct summary *ret);

#endif
