/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that launched something, one after another: those that follow each other lie in one chunk,
 * those of several threads in as many, so a few unpacked chunks answer nearly every one. */
#ifndef JVIEWD_ANALYSE_DEVICE_LAUNCH_H
#define JVIEWD_ANALYSE_DEVICE_LAUNCH_H

#include "trace/trace.h"

struct launch_reader;
struct launch_reader *launch_reader_create(const struct trace *trace);
/* One that tells events, too. */
struct launch_reader *launch_reader_with_events(const struct trace *trace);
void launch_reader_free(struct launch_reader *reader);

struct launch_call {
    int64_t start_ps, dur_ps; /* file time */
    slice_id parent;          /* NO_SLICE at the top */
    name_id name;
    event_id event; /* where the reader was asked to tell it */
};
/* False where there is none: NO_SLICE, or a damaged trace. */
bool launch_read(struct launch_reader *reader, slice_id slice, struct launch_call *ret);

/* How long a stream stood idle because this call came late: what lies before the call's end of the
 * gap before its kernel; 0: something else held the kernel up, or nothing did. */
int64_t launch_starved_ps(int64_t launch_ps, int64_t queue_ps, int64_t gap_ps);

/* Where the first arrow comes from that ends at the slice; NO_SLICE: none does. */
slice_id launch_arrow(struct launch_reader *reader, slice_id slice);
/* Does any arrow end at a slice of the slice's track? */
bool launch_track_has_arrows(struct launch_reader *reader, slice_id slice);

#endif
