/* Device memory over time, as the allocators' own events tell it. */
#ifndef JVIEWD_ANALYSE_MEMORY_H
#define JVIEWD_ANALYSE_MEMORY_H

#include "analyse/analyse.h"

struct memory_sample {
    int64_t at_ps;                                            /* run time */
    int64_t allocated_bytes, reserved_bytes, available_bytes; /* -1 unknown */
};

struct memory_allocator {
    struct str name, host;
    uint64_t event_count;
    const struct memory_sample *samples; /* by time; of each of 1,000 boxes the fullest one */
    uint32_t sample_count;
    int64_t peak_bytes, peak_at_ps; /* within the window */
    int64_t lifetime_peak_bytes;    /* as the allocator says it; -1 unknown */
    int64_t capacity_bytes;         /* allocated + reserved + available; -1 unknown */
};

struct memory_timeline {
    const struct memory_allocator *allocators;
    uint32_t allocator_count;
    struct str reason; /* why there is none */
};

MUST_CHECK enum status memory_timeline(const struct run_traces *run,
                                       const struct restriction *restriction, struct arena *arena,
                                       struct memory_timeline *ret, struct error *err);

#endif
