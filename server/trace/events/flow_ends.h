/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of arrows on their way: as given, and as joined. */
#ifndef JVIEWD_TRACE_EVENTS_FLOW_ENDS_H
#define JVIEWD_TRACE_EVENTS_FLOW_ENDS_H

#include "trace/writers.h"

struct flow_given { /* an end as it waits in a spill file */
    uint64_t id;
    int64_t at_ps;
    uint32_t kind_end; /* a name and an enum flow_end */
    uint32_t event;    /* or the track, where place.row says FLOW_AT or FLOW_NEXT */
    struct slice_place place;
};

enum flow_rows { /* places that are no rows */
                 FLOW_AT = UINT32_MAX - 1,
                 FLOW_NEXT = UINT32_MAX - 2, /* the next slice to start, not the innermost one */
};

static inline uint32_t flow_kind_end(name_id kind, enum flow_end end)
{
    return kind | (uint32_t)end << NAMED_KIND_SHIFT;
}
static inline name_id flow_kind_of(uint32_t kind_end)
{
    return kind_end & NAMED_NAME_MASK;
}
static inline enum flow_end flow_end_of(uint32_t kind_end)
{
    return (enum flow_end)(kind_end >> NAMED_KIND_SHIFT);
}

struct flow_bound { /* an end of the set at hand */
    uint64_t id;
    int64_t at_ps;
    uint32_t kind_end;
    slice_id slice;
};

/* Memory that one join after another uses: fresh pages cost more than the join. Starts zeroed. */
struct flow_room {
    struct flow_given *ends;
    slice_id *slices; /* of the ends */
    struct flow *flows;
    struct flow_chain *chains;
    struct flow_slot *slots;
    struct flow_bound *set;
    size_t ends_capacity, slices_capacity, flows_capacity, chains_capacity, slots_capacity,
        set_capacity;
};
/* Room for `count` of one array; what was in it is lost. */
void *flow_room_for(void *array, size_t *capacity, size_t count, size_t size);
void flow_room_free(struct flow_room *room);

/* Joins room->ends, which hold whole sets of (kind, id), of the slices in room->slices, into
 * room->flows, which has room for each end that is no FLOW_FROM. Returns how many there are; their
 * order depends on that of the ends only. */
uint32_t flow_join(struct flow_room *room, uint32_t count);
/* By (from, to). */
void flow_sort(const struct flow *flows, uint32_t count, struct flow *ret);
/* Indexes of sorted flows by (to, index). */
void flow_sort_by_to(const struct flow *flows, uint32_t count, uint32_t *ret);

#endif
