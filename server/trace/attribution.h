/* Which op, program, device and step a slice belongs to.
 *
 * A function of the segment and of ATTRIBUTION_VERSION: computed by analyse/attribute.c, kept
 * beside the segment by store/attribution.c, remade from the segment alone. Only slices of ops and
 * kernels have an entry; entries are in slice order, so those of a row are contiguous.
 */
#ifndef JVIEWD_TRACE_ATTRIBUTION_H
#define JVIEWD_TRACE_ATTRIBUTION_H

#include "trace/trace.h"

enum { ATTRIBUTION_VERSION = 2 };

#define NO_OP UINT32_MAX
#define NO_EXECUTION UINT32_MAX
#define NO_STEP INT64_MIN

struct op { /* one instruction of one program, or a kernel or name where there is no program */
    program_id program;
    name_id name;     /* of the instruction, or of the slice */
    name_id scope;    /* 0 unknown */
    name_id source;   /* 0 unknown */
    name_id category; /* 0 unknown */
    name_id module;   /* its name as the file says it; 0 unknown */
    enum kind kind;
};

struct execution { /* one run of a program on a device */
    program_id program;
    int32_t device;
    uint64_t run_id;
    slice_id launch; /* on the host, NO_SLICE unknown */
    uint32_t zero;
    int64_t start_ps, end_ps; /* file time: hull of its ops */
};

struct attributed { /* one op slice */
    slice_id slice;
    uint32_t op, execution; /* execution may be NO_EXECUTION */
    int32_t device;
    bool first; /* first event of this op in this execution: what `count` counts */
    uint8_t zeros[7];
    int64_t start_ps, dur_ps; /* attributed: the device's clock, or up to the `end:` partner */
    int64_t self_ps;          /* by nesting of ops of one device, also across threads */
};

struct op_total { /* of all entries of one op */
    uint32_t event_count;
    uint32_t count;        /* of those that are `first` */
    uint32_t module_count; /* executions whose first entry it is, and entries of no execution */
    slice_id first;        /* NO_SLICE: it has no entries */
    int64_t total_ps, self_ps, min_ps, max_ps;
};

/* Quantiles cannot be added up: they are kept for each row that a table over the whole trace has,
 * by each property that joins ops. */
enum spread_by {
    SPREAD_BY_OP,
    SPREAD_BY_MODULE,
    SPREAD_BY_SCOPE,
    SPREAD_BY_SOURCE,
    SPREAD_BY_CATEGORY,
    SPREAD_BY_COUNT
};

struct op_spread {
    uint32_t by;
    uint32_t op;          /* of the row's ops the one whose first entry is first */
    uint32_t event_count; /* of all ops of the row */
    uint32_t approximate; /* 1: from a histogram */
    int64_t p50_ps, p95_ps, stdev_ps;
};

struct device_total { /* of all entries of one device */
    int32_t device;
    uint32_t zero;
    int64_t start_ps, end_ps; /* their hull */
    int64_t busy_ps;          /* their union */
};

_Static_assert(sizeof(struct op) == 28 && sizeof(struct execution) == 40 &&
                   sizeof(struct attributed) == 48 && sizeof(struct op_total) == 48 &&
                   sizeof(struct op_spread) == 40 && sizeof(struct device_total) == 32,
               "records without hidden padding: as they are they go to disk");

struct attribution {
    const struct op *ops;
    uint32_t op_count;
    const struct execution *executions;
    uint32_t execution_count;
    const struct attributed *entries; /* by slice */
    uint32_t entry_count;
    const uint32_t *by_device_time; /* indexes of entries by (device, start) */
    /* What answers for the whole trace, so that no entry need be read; NULL: not made. */
    const struct op_total *totals; /* one an op */
    const struct device_total *devices;
    uint32_t device_count;
    const struct op_spread *spreads; /* by (by, op); none where there are very many ops */
    uint32_t spread_count;
};

/* NULL when the slice is no op. */
const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice);

#endif
