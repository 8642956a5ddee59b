/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind /api/kernels: what ran on GPUs, by kernel, and what kept it from running better.
 *
 *   by        a row is
 *   kernel    a name: what differs between its launch shapes is null, variant_count tells
 *   variant   a name with one grid, block, registers and shared memory
 *   activity  one kernel, copy, set or graph, in order of time (kernels_activity.c)
 *   range     one span that the program marked, projected on the devices (kernels_ranges.c)
 *   range-kernel  a kernel in the spans of one name that launched it (kernels_pairs.c)
 *   api       a driver's or runtime's call on the host, as in analyse/ops/top.h
 *   annotation  a span that the program marked (analyse/ops/annotations.h)
 *
 *   host     |--call--|
 *            |        |<-- queue -->|
 *            |<------- launch ----->|
 *   stream   ...before|<--- gap --->|--kernel--|
 *
 * Copies and sets are no kernels where an engine did them, nor are ops of a TPU or of host threads.
 * No row is left out, and the sum of the rows is that of the kernels' slices, to the picosecond.
 */
#ifndef JVIEWD_ANALYSE_OPS_KERNELS_H
#define JVIEWD_ANALYSE_OPS_KERNELS_H

#include "analyse/analyse.h"

struct kernels_question {
    struct str by;         /* "" is "kernel" */
    struct str annotation; /* only what was launched inside of spans of that name; "" all */
};

struct kernels_summary {          /* of all rows, not the page */
    uint64_t kernel_count;        /* that ran */
    uint64_t launch_count;        /* calls of them, a graph's as one; unknown ones one a kernel */
    int64_t occupancy_known_ps;   /* time of kernels whose occupancy is known, ... */
    int64_t half_occupancy_ps;    /* and of those of them that fill less than half */
    int64_t tensor_core_known_ps; /* likewise */
    int64_t tensor_core_ps;
    int64_t graph_ps; /* launched by a graph */
};

/* Columns: kernels_columns; of api and annotation those of their tables. Default sort: "-total_ps,
 * name". ERR_INVALID for an unknown `by` or sort column. */
MUST_CHECK enum status kernels(const struct run_traces *run, const struct restriction *restriction,
                               const struct kernels_question *question, const struct page *page,
                               struct arena *arena, struct table *ret,
                               struct kernels_summary *ret_summary, struct error *err);

/* One launch: grid block registers shared_bytes occupancy limited_by tensor_core tensor_core_by
 * waves tail_share ncu, of an entry that is a kernel. The ncu line is of this very launch. */
void kernel_of_entry(const struct host_trace *host, uint32_t entry, struct arena *arena,
                     struct table *ret);

/* Why there are none; "" when there are. */
struct str kernels_missing(const struct run_traces *run);

#endif
