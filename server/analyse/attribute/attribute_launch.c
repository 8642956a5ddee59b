/* SPDX-License-Identifier: Apache-2.0 */
/* Which call on the host each op of a device came from.
 *
 *   host    |cuLaunchKernel|            correlation 7
 *                      \_ _ _ _ _ _ _
 *   stream                           |gemm|   correlation 7
 *
 * Decoders make an arrow of each pair that one id joins; arrows by their end and entries by their
 * slice both ascend, so one walk along the two joins them. A module's slice on a device is launched
 * as a whole: its execution takes the arrow that ends there.
 */
#include "analyse/attribute/attribute_parts.h"

/* The row of the slice, which is mostly that of the one before. */
static bool is_on_host(const struct trace *trace, slice_id slice, const struct row **row)
{
    if (*row == NULL || slice < (*row)->first_slice || slice - (*row)->first_slice >= (*row)->count)
        *row = &trace->rows[trace_row_of(trace, slice)];
    return trace->tracks[(*row)->track].device < 0;
}

/* HIP's kernels do not say that they came out of a graph; the call that launched them does. */
static void tell_graph(struct attribute_work *work, struct attributed *entry, name_id graph_launch)
{
    if (graph_launch != 0 && entry->graph == GRAPH_NONE &&
        trace_slice(work->trace, entry->launch).name == graph_launch)
        entry->graph = GRAPH_NODE;
}

void launches_find(struct attribute_work *work)
{
    const struct trace *trace = work->trace;
    const struct row *row = NULL;
    uint32_t entry = 0;
    name_id kind, graph_launch;

    if (!trace_find_name(trace, STR("hipGraphLaunch"), &graph_launch))
        graph_launch = 0;
    if (!work->has_devices || !trace_find_name(trace, STR("kernel launch"), &kind))
        return;
    for (uint64_t i = 0; i < trace->flow_count && entry < work->entry_count; i++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[i]];

        while (entry < work->entry_count && work->entries[entry].slice < flow->to)
            entry++;
        if (flow->kind == kind && entry < work->entry_count &&
            work->entries[entry].slice == flow->to && work->entries[entry].launch == NO_SLICE &&
            is_on_host(trace, flow->from, &row)) {
            work->entries[entry].launch = flow->from;
            tell_graph(work, &work->entries[entry], graph_launch);
        }
    }
}

slice_id launch_of_slice(const struct trace *trace, slice_id slice)
{
    const struct row *row = NULL;
    uint64_t low = flow_first_to(trace, slice);

    for (; low < trace->flow_count; low++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[low]];

        if (flow->to != slice)
            break;
        if (is_on_host(trace, flow->from, &row))
            return flow->from;
    }
    return NO_SLICE;
}
