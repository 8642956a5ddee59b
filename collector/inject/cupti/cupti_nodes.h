/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of CUDA graphs: which ranges built them.
 *
 *   thread   [ Thunk:#hlo_op=fusion.3# ]            ...   [ command buffer ]
 *                ^ node 17 is made                           ^ launch: node 40 runs as a kernel
 *   instantiation: node 40 is copied from node 17
 *
 *   ring     node 17, none, stack "TSL Thunk:..."    node 40, from 17
 *
 * A graph is built once and launched often, mostly inside of other ranges than those that built it;
 * so what is open on the thread is told with each node, also while nothing is recorded.
 */
#ifndef JVIEWD_INJECT_CUPTI_NODES_H
#define JVIEWD_INJECT_CUPTI_NODES_H

#include "inject/cupti/cupti_library.h"

/* From here on nodes are told. */
void cupti_nodes_watch(const struct cupti *cupti, void *subscriber);
/* A callback of CUPTI_DOMAIN_RESOURCE, on the thread that makes the node. */
void cupti_nodes_callback(const struct cupti *cupti, uint32_t what,
                          const struct cupti_resource *resource);

#endif
