/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory while the program ran, as the allocators' own events tell it.
 *
 *   allocator events      "GPU_0_bfc +256 at 0x7f00, 1.2 GiB in use"
 *   --memory_timeline-->  bytes in use over time, the peak, the limit
 *   --memory_alive-->     who held what at the peak, or at any other moment
 *   --memory_layers-->    who held how much over time
 *   --memory_summary-->   the peak in one sentence and 200 points
 *
 * In use is what is allocated and what is reserved beside it (a TPU's stack). Both peaks are told
 * of each: `peak_bytes` with what is reserved, `peak_allocated_bytes` without; an allocator's own
 * lifetime peak counts what is allocated alone, so it compares with the second. Of equal peaks the
 * first counts.
 *
 * A level holds until the next event: a window sees what was in use when it began.
 */
#ifndef JVIEWD_ANALYSE_MEMORY_MEMORY_H
#define JVIEWD_ANALYSE_MEMORY_MEMORY_H

#include "analyse/analyse.h"

struct memory_sample {
    int64_t at_ps;                                            /* run time */
    int64_t allocated_bytes, reserved_bytes, available_bytes; /* -1 unknown */
};

struct memory_allocator {
    struct str name, host;
    int32_t device;                      /* ordinal; -1: the events do not say */
    uint64_t event_count;                /* inside the windows */
    const struct memory_sample *samples; /* by time; of each of 1,000 boxes the fullest one */
    uint32_t sample_count;
    int64_t peak_bytes, peak_at_ps; /* within the window; allocated and reserved */
    int64_t peak_allocated_bytes;   /* allocated alone; its own moment */
    int64_t lifetime_peak_bytes;    /* as the allocator says it, allocated alone; -1 unknown */
    int64_t capacity_bytes;         /* allocated + reserved + available at the peak, else what the
                                       device has; -1 unknown */
    int64_t pool_bytes;             /* that a caching allocator held at the peak; -1 none */
    int64_t before_bytes;           /* allocated before the first event */
    double fragmentation;           /* at the peak, 0 to 1; below 0 unknown */
    bool is_summed; /* the events tell no totals: they were added up, from what was not freed
                       before it was allocated; the level is a lower bound */
};

struct memory_timeline {
    const struct memory_allocator *allocators;
    uint32_t allocator_count;
    struct str reason; /* why there is none */
};

MUST_CHECK enum status memory_timeline(const struct run_traces *run,
                                       const struct restriction *restriction, struct arena *arena,
                                       struct memory_timeline *ret, struct error *err);

struct memory_question {
    struct str allocator; /* name; "": the one with the highest peak, a device's before a host's */
    bool has_at;
    int64_t at_ps; /* run time; else the peak */
    struct str by; /* owner (default: op, scope, shape and category), op, scope, shape, category,
                      allocation */
};

struct memory_alive {
    struct memory_allocator allocator;
    int64_t at_ps, total_bytes; /* run time; the rows' sum, of all pages */
    struct str by;
    struct table table; /* name scope category shape dtype bytes share count since_ps slice */
    struct str reason;  /* why there is nothing: then everything else is empty */
};

/* Allocations and frees replayed by address, from the trace's beginning. What was there before,
 * and what is reserved, are rows of their own, so that the rows sum to the level exactly. */
MUST_CHECK enum status memory_alive(const struct run_traces *run,
                                    const struct restriction *restriction,
                                    const struct memory_question *question, const struct page *page,
                                    struct arena *arena, struct memory_alive *ret,
                                    struct error *err);

enum { MEMORY_LAYERS_MAX = 12, MEMORY_MOMENTS_MAX = 400 };
struct memory_layer { /* of one owner, or of what has none */
    struct str name;
    const char *row_kind; /* owner, others, before, missing, reserved */
    slice_id slice;       /* of its largest allocation; NO_SLICE */
    int64_t *bytes;       /* by moment */
};
struct memory_layers {
    struct memory_allocator allocator;
    struct str by;
    const int64_t *at_ps, *in_use; /* by moment: run time, bytes */
    uint32_t moment_count;
    struct memory_layer layers[MEMORY_LAYERS_MAX + 4]; /* at each moment their sum is in_use */
    uint32_t layer_count;
    uint32_t owner_count; /* before the smallest were joined */
    uint32_t host;        /* of the slices */
    struct str reason;    /* why there is nothing */
};
/* Who held memory at each of up to 400 moments: of each part of the events the fullest one. The
 * twelve owners with the most bytes times moments, the others as one. */
MUST_CHECK enum status memory_layers(const struct run_traces *run,
                                     const struct restriction *restriction,
                                     const struct memory_question *question, struct arena *arena,
                                     struct memory_layers *ret, struct error *err);

struct memory_point {
    int64_t at_ps, bytes;
};

struct memory_summary { /* of the allocator with the highest peak */
    struct str reason;  /* not "": nothing is known, and why */
    struct str allocator, host;
    int64_t peak_bytes, peak_at_ps;
    int64_t capacity_bytes, before_bytes; /* -1 unknown */
    struct str owner, owner_scope;        /* of most bytes at the peak */
    int64_t owner_bytes;
    bool owner_is_known; /* else `owner` says "(reserved)", "(allocated before the capture)", ... */
    const struct memory_point *points; /* by time, in use */
    uint32_t point_count;              /* at most MEMORY_POINTS_MAX */
};
enum { MEMORY_POINTS_MAX = 200 };

MUST_CHECK enum status memory_summary(const struct run_traces *run,
                                      const struct restriction *restriction, struct arena *arena,
                                      struct memory_summary *ret, struct error *err);

#endif
