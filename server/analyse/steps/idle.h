/* SPDX-License-Identifier: Apache-2.0 */
/* Where devices had nothing to do, and what their host did meanwhile.
 *
 *   device 0   |op|   gap    |op| gap |op|
 *   host          load_data ..|  dispatch      the gap is the input's; the other the dispatch's
 *
 * Over the counted steps, or over the capture where there are none. All gaps are counted and summed
 * by what the host did in them, to the picosecond; the longest are kept one by one, each told by
 * what the host did most of it.
 */
#ifndef JVIEWD_ANALYSE_STEPS_IDLE_H
#define JVIEWD_ANALYSE_STEPS_IDLE_H

#include "analyse/steps/steps.h"

enum { GAPS_MAX = 10000 }; /* kept of each host */

struct gap {
    uint32_t host;
    int32_t device;
    int64_t start_ps, dur_ps; /* run time */
    enum host_doing doing;    /* most of it */
    int64_t doing_ps;         /* how much of it */
    slice_id before, after;   /* the device's ops around it; NO_SLICE */
    int64_t step;             /* number; NO_STEP */
};

struct idle_device {
    uint32_t host;
    int32_t device;
    bool counted;      /* in the host's mean: see breakdown.h */
    int64_t start_ps;  /* of the first counted step, or of the capture: run time */
    int64_t window_ps; /* the counted steps, or the capture */
    uint64_t gap_count;
    struct device_time time; /* sums to window_ps */
};

struct idle {
    const struct gap *gaps; /* the longest first */
    uint32_t gap_count;
    uint64_t gap_count_all;
    const struct idle_device *devices; /* by host, device; hosts without devices have none */
    uint32_t device_count;
    bool of_steps; /* else of the capture */
};

/* `steps` are those of the question; without any its window counts. */
void idle_find(const struct run_traces *run, const struct restriction *restriction,
               const struct steps *steps, struct arena *arena, struct idle *ret);

/* Columns: host device cause idle_ps share of_idle gap_count longest_ps longest_start_ps. A row a
 * device and cause; default sort "-idle_ps". */
MUST_CHECK enum status idle_table(const struct run_traces *run,
                                  const struct restriction *restriction, const struct page *page,
                                  struct arena *arena, struct table *ret, struct error *err);
/* Columns: host device start_ps dur_ps cause cause_ps step before after. A row a gap; default sort
 * "-dur_ps". */
MUST_CHECK enum status gaps_table(const struct run_traces *run,
                                  const struct restriction *restriction, const struct page *page,
                                  struct arena *arena, struct table *ret, struct error *err);

#endif
