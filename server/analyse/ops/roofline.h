/* SPDX-License-Identifier: Apache-2.0 */
/* How far each op is from the limits of its device.
 *
 *   FLOP/s
 *     |            ____________ roof of a type: bf16, tf32, f32
 *     |          /   . dot.63
 *     |        /  . fusion.44
 *     |      /      slope: bytes/s of a memory
 *     +------------------------- FLOPs a byte
 *
 * Rows are those of analyse/ops/top.h by op, with the columns of a roofline. Rates are of one
 * device: time and work of all that ran are summed alike. A roof that nobody states is not drawn.
 */
#ifndef JVIEWD_ANALYSE_OPS_ROOFLINE_H
#define JVIEWD_ANALYSE_OPS_ROOFLINE_H

#include "analyse/analyse.h"

struct roof {
    bool is_memory;
    struct str name; /* "bf16", "HBM" */
    double per_s;    /* FLOPs or bytes */
    struct str source;
};

struct device_link; /* analyse/device/device_link.h */

struct roofline_device {   /* all devices of a host that ran are taken for one kind */
    struct str host, name; /* name "" unknown */
    uint32_t device_count; /* that ran ops */
    const struct roof *roofs;
    uint32_t roof_count;
    const struct device_link *link;
    struct str reason; /* why roofs are missing; "" none is */
    struct str doubt;  /* of a figure of the profile that is not taken; "" none */
};

struct roofline_bound { /* how much of the time a limit holds */
    struct str
        word; /* "compute", "memory", "communication", "waiting" (for transfers), "unknown" */
    int64_t self_ps;
};
enum { ROOFLINE_BOUNDS = 5 };

struct roofline {
    const struct roofline_device *devices;
    uint32_t device_count;
    struct roofline_bound bounds[ROOFLINE_BOUNDS];
    /* The program as a whole, over the self time of its ops; what is NAN is unknown. */
    int64_t self_ps;
    double flops, bytes, compute_s, memory_s;
    uint64_t op_count, unknown_count; /* ops, and those without FLOPs or bytes */
    struct str missing;               /* why no op has a cost; "" some have */
};

/* Why no op of the run has FLOPs and bytes; "" some have, or nobody has looked yet. */
struct str roofline_missing(const struct run_traces *run);

/* Columns: key name kind category module scope source phase type count total_ps self_ps share flops
 * bytes intensity flops_per_s bytes_per_s roof_flops_per_s peak_share bound_by counted. Default
 * sort:
 * "-self_ps,name". */
MUST_CHECK enum status roofline(const struct run_traces *run, const struct restriction *restriction,
                                const struct page *page, struct arena *arena, struct table *ret,
                                struct roofline *ret_roofline, struct error *err);

#endif
