/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of stacks: profiles of one moment, or sums over a while, as tables.
 *
 *   snapshot   a file of the run that is no host: device memory, a CPU profile
 *   type       what is summed: "space" in bytes, "cpu" in nanoseconds
 *   owner      of a sample: the innermost call that is the user's own, as far as paths tell; what
 *              lies in a directory of installed packages is not
 *
 * A row sums the samples of one owner, device and kind. With a base the same rows of another
 * snapshot stand beside them: what grew, what is new, what is gone.
 */
#ifndef JVIEWD_ANALYSE_MEMORY_SNAPSHOT_H
#define JVIEWD_ANALYSE_MEMORY_SNAPSHOT_H

#include "analyse/analyse.h"

struct snapshots { /* of a run: by time where all say it, else by name, numbers in it by value */
    const struct host_trace *const *items;
    uint32_t count;
    bool by_time;
};

void snapshots_of(const struct run_traces *run, struct arena *arena, struct snapshots *ret);
/* By name, the end of one or "" for the newest; ERR_NOT_FOUND says which there are. */
MUST_CHECK enum status snapshot_find(const struct snapshots *snapshots, struct str name,
                                     const struct host_trace **ret, struct error *err);

/* The type of that name, or of that unit; "": the one the file prefers, else the last of bytes,
 * else the last. */
bool sample_type_find(const struct trace *trace, struct str name, struct str unit, uint32_t *ret);
int64_t sample_type_total(const struct trace *trace, uint32_t type);
/* What one of the unit is in picoseconds, where it is a time; else 0. */
int64_t unit_ps(struct str unit);

struct snapshot_question {
    struct str snapshot, base; /* names; base "": none */
    struct str type;
    struct str by; /* owner (default), function, source, frame, device, kind */
};

struct snapshot_table {
    struct snapshots snapshots;
    const struct host_trace *snapshot, *base; /* NULL: none */
    uint32_t type, base_type;
    struct str by, unit; /* "bytes", "ps", "count", or as the file says */
    int64_t total, base_total;
    struct table table; /* name, source, device, kind, value, share, count, and of the base */
};

/* By stack of the trace: the stack whose frame owns what was found there. */
stack_id *owners_of(const struct trace *trace, struct arena *arena);

/* ERR_NOT_FOUND for names that are not there. No snapshots: an empty table. */
MUST_CHECK enum status snapshot_table(const struct run_traces *run,
                                      const struct snapshot_question *question,
                                      const struct page *page, struct arena *arena,
                                      struct snapshot_table *ret, struct error *err);

#endif
