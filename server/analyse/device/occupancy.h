/* SPDX-License-Identifier: Apache-2.0 */
/* How many warps of a kernel fit on one multiprocessor at once, and what stops more.
 *
 *   warps      a block's threads in warps of 32, until the multiprocessor holds no more
 *   blocks     however small
 *   registers  a warp takes its threads' registers, rounded up; there are 65,536
 *   shared     a block takes its bytes, rounded up, and from compute capability 8.0 on 1 KiB more
 *
 * The share of the warps that would fit is the theoretical occupancy. Limits by compute capability:
 * "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++ Programming Guide; units
 * of allocation: NVIDIA's occupancy calculator. AMD's CDNA 2 and 3: 8 waves a SIMD, 4 SIMDs a CU,
 * 512 vector registers a lane in units of 8, 64 KiB of LDS a CU ("CDNA3 ISA", AMD).
 */
#ifndef JVIEWD_ANALYSE_DEVICE_OCCUPANCY_H
#define JVIEWD_ANALYSE_DEVICE_OCCUPANCY_H

#include "trace/attribution.h"

enum occupancy_limit {
    LIMIT_UNKNOWN,
    LIMIT_NONE, /* all warps fit */
    LIMIT_WARPS,
    LIMIT_BLOCKS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_COUNT
};
const char *occupancy_limit_word(enum occupancy_limit limit); /* NULL: unknown or none */

struct processor {         /* of a device; zeroed: unknown */
    uint32_t major, minor; /* compute capability */
    bool amd;              /* then they are of its architecture: 9.0 ... */
    uint32_t count;        /* multiprocessors of the device; 0 unknown */
};

struct occupancy {
    uint32_t share; /* in 1/10,000; NOT_RECORDED unknown */
    enum occupancy_limit limit;
    uint32_t blocks;    /* that fit on one multiprocessor at once; 0 unknown */
    const char *reason; /* why it is unknown */
};
/* Of a launch shape, whatever the file says of it. */
struct occupancy occupancy_compute(struct processor processor, const struct kernel *kernel);

/* How many times the device is filled before all blocks of the launch have run; 0 unknown. */
double occupancy_waves(struct processor processor, const struct occupancy *of,
                       const struct kernel *kernel);

/* What the file says its device is. */
struct processor processor_of(const struct trace *trace, int32_t device);

#endif
