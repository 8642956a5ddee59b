/* SPDX-License-Identifier: Apache-2.0 */
/* Inside memory*.c.
 *
 *   memory_allocators.c  events by allocator, the level after each, the peak inside the windows
 *   memory.c             samples, the table of allocators
 *   memory_replay.c      what is alive after an event
 *   memory_alive.c       its owners, as a table
 *   memory_layers.c      owners over time
 *   memory_summary.c     the peak in short
 */
#ifndef JVIEWD_ANALYSE_MEMORY_MEMORY_ALLOCATORS_H
#define JVIEWD_ANALYSE_MEMORY_MEMORY_ALLOCATORS_H

#include "analyse/hlo/event_args.h"
#include "analyse/memory/memory.h"
#include "analyse/steps/restrict.h"

#define NO_LEVEL UINT32_MAX

struct allocator { /* of one host: its events by time, and the level after each */
    const struct selection *selection;
    struct str name;
    name_id name_id;
    int32_t device;
    const uint32_t *events; /* into trace->memory_events */
    const int64_t *allocated;
    uint32_t count;
    bool is_summed, is_pool;
    int64_t before_bytes;
    uint32_t peak;      /* the event after which most was in use; NO_LEVEL: none in the windows */
    int64_t peak_at_ps; /* file time, inside the windows */
    int64_t peak_bytes, peak_allocated_bytes;
};

struct allocators {
    struct allocator *items;
    uint32_t count;
};

MUST_CHECK enum status memory_allocators(const struct run_traces *run,
                                         const struct restriction *restriction, struct arena *arena,
                                         struct allocators *ret, struct error *err);
const struct memory_event *allocator_event(const struct allocator *allocator, uint32_t index);
/* Allocated and reserved after the event. */
int64_t allocator_in_use(const struct allocator *allocator, uint32_t index);
/* The first moment inside the windows at which the level after the event holds. */
bool allocator_moment(const struct allocator *allocator, uint32_t index, uint32_t *window,
                      int64_t *ret_ps);
/* The highest peak; a device's before a host's; the name is exact or "". NULL: there is none. */
const struct allocator *allocator_pick(const struct allocators *all, struct str name);

/* What /api/memory shows of it, without samples. */
struct memory_allocator allocator_told(const struct allocator *allocator);
/* By what could have recorded it. */
struct str memory_absent_reason(const struct run_traces *run);

struct alive {      /* an allocation that was not freed yet */
    uint32_t event; /* of the allocator */
    struct event_ref ref;
    int64_t bytes;
    uint32_t gone; /* the event that freed it, or took its place; UINT32_MAX: none */
};
struct alives {
    struct alive *items; /* by time */
    uint32_t count;
    int64_t owned_bytes;     /* their sum */
    uint32_t replaced_count; /* allocated at an address that was not freed */
    uint32_t unplaced_count; /* without an address */
};
/* After the events [0, end). */
void memory_replay(const struct allocator *allocator, uint32_t end, struct arena *arena,
                   struct alives *ret);
/* All allocations of all events, with what ended them; owned_bytes stays what is left. */
void memory_replay_all(const struct allocator *allocator, struct arena *arena, struct alives *ret);

struct memory_owner {
    struct str op, scope, category, shape, dtype; /* "" unknown */
    int64_t bytes, since_ps;                      /* file time */
    uint32_t count;
    slice_id slice; /* of the first allocation */
};
/* One an allocation, in their order. */
struct memory_owner *memory_owners(const struct allocator *allocator, const struct alives *alives,
                                   struct arena *arena);

/* Bits of what makes owners one. */
enum owner_by { OWNER_OP = 1, OWNER_SCOPE = 2, OWNER_SHAPE = 4, OWNER_CATEGORY = 8 };
/* "owner", "op", "scope", ...: "" is owner; false: no such word. */
bool owner_by(struct str word, unsigned *ret);
MUST_CHECK enum status fail_owner_by(struct str word, struct error *err);
MUST_CHECK enum status fail_unknown_allocator(const struct allocators *all, struct str name,
                                              struct error *err);
/* Equal ones joined, by bytes; returns how many. */
uint32_t memory_join(struct memory_owner *owners, uint32_t count, unsigned by);

#endif
