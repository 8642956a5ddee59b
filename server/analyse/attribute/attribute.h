/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to its attribution: which op of which program each slice is, on which device, in
 * which execution, and how long it really took.
 *
 *   XLA:CPU   slices with the arg hlo_op, on any thread, where the file has no device's tracks
 *             (else they are launches); device = device_ordinal; an op ends at its `end:` partner
 *             (_p of the op = _c of the partner) when that is later, but never after the first
 *             use of its value; what is in a loop the HLO says, else the time
 *   GPU       slices of device streams; op = the last of the "a::b" list of hlo_op, else the
 *             kernel itself; an execution begins where the program's first op comes again
 *   TPU       slices of ROLE_OPS tracks, on the device's clock where the file has it; an execution
 *             is the module's slice around them. ROLE_ASYNC_OPS would count them twice: what the
 *             device waits for stands in ROLE_OPS as a "-done" op
 *
 * Scope, source and category come from the program's instruction, else from the event's own args,
 * else from those of its type. Ops of one track nest by their closed attributed intervals;
 * self time is what no direct child covers.
 */
#ifndef JVIEWD_ANALYSE_ATTRIBUTE_ATTRIBUTE_H
#define JVIEWD_ANALYSE_ATTRIBUTE_ATTRIBUTE_H

#include "base/error.h"
#include "base/scratch.h"
#include "trace/attribution.h"

struct attribute_hooks {
    bool two_threads;
    /* Called once entries are whole, which is before totals and kernels are: on two threads these
     * are made meanwhile. Then only `entries`, `entry_count`, `by_device_time`, `kernel_of` and
     * `kernel_count` may be read. NULL: nobody wants that. */
    void (*entries)(void *data, const struct attribution *of);
    void *data;
};

/* The result lives in the scratch, for it grows with the ops; it is the same with two threads. A
 * trace without ops yields an empty attribution. */
MUST_CHECK enum status attribute(const struct trace *trace, struct scratch *scratch,
                                 struct attribute_hooks hooks, struct attribution *ret,
                                 struct error *err);

#endif
