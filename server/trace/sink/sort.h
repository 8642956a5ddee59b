/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of tracks that came out of order, brought into it with bounded memory.
 *
 * Runs of 262,144 are sorted in memory and set aside; at the end they are merged. What fits one
 * run never leaves memory. Order: track, start, longest first, file order; no two are equal.
 */
#ifndef JVIEWD_TRACE_SINK_SORT_H
#define JVIEWD_TRACE_SINK_SORT_H

#include "base/error.h"
#include "trace/trace.h"

struct unsorted {
    int64_t start_ps, dur_ps;
    track_id track;
    uint32_t named; /* trace/writers.h */
    event_id event;
    uint32_t flags;
};

struct sorter;
/* bytes_max: of what is set aside; more is ERR_LIMIT. */
struct sorter *sorter_create(const char *temporary_dir, uint64_t bytes_max);
void sorter_destroy(struct sorter *sorter); /* takes NULL */
MUST_CHECK enum status sorter_put(struct sorter *sorter, const struct unsorted *slice,
                                  struct error *err);
/* After the last put. */
MUST_CHECK enum status sorter_start(struct sorter *sorter, struct error *err);
/* False at the end and after a failure; look at err. */
bool sorter_next(struct sorter *sorter, struct unsorted *ret, struct error *err);

#endif
