/* Which op, program, device and step a slice belongs to.
 *
 * A function of the segment and of ATTRIBUTION_VERSION: computed by analyse/attribute.c, kept
 * beside the segment by store/attribution.c, remade from the segment alone. Only slices of ops and
 * kernels have an entry; entries are in slice order, so those of a row are contiguous.
 */
#ifndef JVIEWD_TRACE_ATTRIBUTION_H
#define JVIEWD_TRACE_ATTRIBUTION_H

#include "trace/trace.h"

enum { ATTRIBUTION_VERSION = 1 };

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

_Static_assert(sizeof(struct op) == 28 && sizeof(struct execution) == 40 &&
                   sizeof(struct attributed) == 48,
               "records without hidden padding: as they are they go to disk");

struct attribution {
    const struct op *ops;
    uint32_t op_count;
    const struct execution *executions;
    uint32_t execution_count;
    const struct attributed *entries; /* by slice */
    uint32_t entry_count;
    const uint32_t *by_device_time; /* indexes of entries by (device, start) */
};

/* NULL when the slice is no op. */
const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice);

#endif
