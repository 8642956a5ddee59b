/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a kernel of NCCL or RCCL says.
 *
 *   ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)
 *                 kind      op  type ring protocol
 *   ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)
 *   ncclDevKernel_Generic_4(...)      kind, algorithm and type are told at run time only
 *
 * Names: NCCL 2.7 to 2.2x, as seen in profiles. By name, so as right as the name is.
 */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVE_KERNEL_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVE_KERNEL_H

#include "analyse/comm/collectives.h"

struct collective_kernel {
    enum collective_kind kind;             /* COLLECTIVE_OTHER: a kernel for several */
    struct str algorithm, protocol, dtype; /* "" unknown */
};

/* False: the name is no kernel of these libraries. */
bool collective_kernel_read(struct str name, struct collective_kernel *ret);
/* The kind of "all_reduce", "_all_gather_base", "allreduce_", "nccl:all_to_all": what frameworks
 * call them. */
bool collective_call_read(struct str name, enum collective_kind *ret);

#endif
