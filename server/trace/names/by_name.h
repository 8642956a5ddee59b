/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by name: whole-trace totals, and where they are. */
#ifndef JVIEWD_TRACE_NAMES_BY_NAME_H
#define JVIEWD_TRACE_NAMES_BY_NAME_H

#include "trace/trace.h"

struct name_stats { /* over all tracks that are not derived; recorded intervals */
    name_id name;
    uint32_t count;
    int64_t total_ps, self_ps, min_ps, max_ps, p50_ps, p95_ps; /* nearest rank */
    int64_t stdev_ps;                                          /* of all of them, not a sample */
    bool quantiles_approximate;
    uint32_t first_run, run_count; /* runs of slices */
};

/* Names that have slices, by id; count 0 where all of them lie on derived tracks. */
uint32_t trace_name_stats(const struct trace *trace, const struct name_stats **ret);
const struct name_stats *trace_stats_of(const struct trace *trace, name_id name); /* NULL: none */

struct name_run { /* slices of one name in one row, in time order; derived rows too */
    name_id name;
    row_id row;
    uint32_t first, count; /* into the ids */
};
const struct name_run *trace_name_runs(const struct trace *trace, name_id name,
                                       uint32_t *ret_count);
/* NULL when the segment is damaged there. */
const slice_id *trace_name_slices(const struct trace *trace, const struct name_run *run);

#endif
