/* SPDX-License-Identifier: Apache-2.0 */
/* How many calls on the host launched a number of ops: a graph's call launches all its kernels. */
#ifndef JVIEWD_ANALYSE_DEVICE_LAUNCH_CALLS_H
#define JVIEWD_ANALYSE_DEVICE_LAUNCH_CALLS_H

#include "trace/trace.h"

struct launch_calls { /* begins as {0} */
    slice_id *calls;
    uint32_t count, capacity;
    uint64_t unknown; /* ops whose call is not recorded */
};

void launch_calls_add(struct launch_calls *calls, slice_id call); /* of one op; NO_SLICE unknown */
/* Puts them in order; how many there are of the one at `at`, and 0 behind the last. */
void launch_calls_sort(struct launch_calls *calls);
uint32_t launch_calls_run(const struct launch_calls *calls, uint32_t at);
/* After the sort: calls, and one for each op whose call is unknown. */
uint64_t launch_calls_count(const struct launch_calls *calls);
void launch_calls_free(struct launch_calls *calls);

#endif
