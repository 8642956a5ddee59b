/* SPDX-License-Identifier: Apache-2.0 */
/* Args of many events at once: slices to events chunk by chunk, then each block's column once. */
#ifndef JVIEWD_ANALYSE_HLO_EVENT_ARGS_H
#define JVIEWD_ANALYSE_HLO_EVENT_ARGS_H

#include "trace/args/args.h"

struct event_ref { /* one event's place among args */
    event_id event;
    slice_id parent; /* the slice around it; NO_SLICE */
};
/* Of slices, in their order. */
struct event_ref *event_refs(const struct trace *trace, const slice_id *slices, uint32_t count,
                             struct arena *arena);

struct event_value {
    enum arg_type type;
    uint64_t bits;
};
/* The arg of that key of each event; ARG_NONE where it has none. */
struct event_value *event_values(const struct trace *trace, const struct event_ref *refs,
                                 uint32_t count, struct str key, struct arena *arena);

#endif
