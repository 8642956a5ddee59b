/* From the call on the host that sent an op to its device.
 *
 *   GPU, TPU   the launch that the attribution names, and the calls around it
 *   XLA:CPU    back through the thread pools' marks to the thread that asked for the work
 */
#include <stdlib.h>

#include "analyse/flame_parts.h"

enum { CALLS_MAX = 512, TRIES_MAX = 16, REGION_SLICES_MAX = 64 };

static track_id track_of(const struct trace *trace, slice_id slice)
{
    return trace->rows[trace_row_of(trace, slice)].track;
}

/* An arrow that ends at the slice and comes from another track; NO_SLICE: none. */
static slice_id arrow_to(const struct trace *trace, slice_id slice)
{
    uint64_t from = 0, to = trace->flow_count;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2;

        if (trace->flows[trace->flow_by_to[middle]].to < slice)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < trace->flow_count; from++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[from]];

        if (flow->to != slice)
            break;
        if (track_of(trace, flow->from) != track_of(trace, slice))
            return flow->from;
    }
    return NO_SLICE;
}

/* XLA's thread pools mark where a piece of work begins and ends; an arrow leads from the thread
 * that asked for it to the mark before:
 *
 *   ThreadpoolListener::StartRegion   ThunkExecutor::Execute ...   ThreadpoolListener::StopRegion
 */
static slice_id region_of(const struct trace *trace, slice_id slice)
{
    const struct row *row = &trace->rows[trace_row_of(trace, slice)];

    for (int i = 0; i < REGION_SLICES_MAX && slice > row->first_slice; i++) {
        struct str name = trace_name(trace, trace_slice(trace, --slice).name);

        if (str_ends(name, STR("::StartRegion")))
            return slice;
        if (str_ends(name, STR("::StopRegion")))
            break;
    }
    return NO_SLICE;
}

static slice_id outermost_of(const struct trace *trace, slice_id slice)
{
    for (int i = 0; i < CALLS_MAX; i++) {
        slice_id parent = trace_slice(trace, slice).parent;

        if (parent == NO_SLICE)
            break;
        slice = parent;
    }
    return slice;
}

/* Ops on threads of a pool: back from one piece of work to who asked for it, up to a thread that is
 * of no pool. */
static slice_id call_of_thread(const struct trace *trace, slice_id slice)
{
    slice_id call = NO_SLICE;

    for (int i = 0; i < CALLS_MAX; i++) {
        slice_id region = region_of(trace, outermost_of(trace, slice));
        slice_id from = region == NO_SLICE ? NO_SLICE : arrow_to(trace, region);

        if (from == NO_SLICE)
            break;
        call = slice = from;
    }
    /* The mark that it was asked for stands inside of the call. */
    if (call != NO_SLICE &&
        str_ends(trace_name(trace, trace_slice(trace, call).name), STR("::Record")))
        call = trace_slice(trace, call).parent;
    return call;
}

/* XLA's own threads: who asked them is not recorded. */
static bool is_of_pool(const struct trace *trace, slice_id slice)
{
    return str_starts(trace_name(trace, trace->tracks[track_of(trace, slice)].name), STR("tf_XLA"));
}

/* All ops of an execution were sent by one call: the first few of them are asked for it. */
slice_id *calls_of_executions(const struct host_trace *host, struct arena *arena)
{
    const struct attribution *attribution = host->attribution;
    slice_id *calls = arena_array(arena, slice_id, (size_t)attribution->execution_count + 1);
    uint8_t *tries = arena_array(arena, uint8_t, (size_t)attribution->execution_count + 1);

    for (uint32_t i = 0; i < attribution->execution_count; i++)
        calls[i] = attribution->executions[i].launch;
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = &attribution->entries[i];
        uint32_t execution = entry->execution;

        if (entry->launch != NO_SLICE || execution == NO_EXECUTION ||
            (calls[execution] != NO_SLICE && !is_of_pool(host->trace, calls[execution])) ||
            tries[execution]++ >= TRIES_MAX)
            continue;

        slice_id call = call_of_thread(host->trace, entry->slice);

        if (call != NO_SLICE)
            calls[execution] = call;
    }
    return calls;
}

static uint32_t node_of_call(struct growth *growth, struct paths *paths, slice_id call)
{
    const struct trace *trace = growth->selection->host->trace;
    slice_id chain[CALLS_MAX];
    uint32_t count = 0, node = 0;

    for (slice_id at = call; at != NO_SLICE && count < COUNT(chain);) {
        struct slice slice = trace_slice(trace, at);

        chain[count++] = at;
        if (slice.parent == NO_SLICE) {
            struct str track = trace_name(trace, trace->tracks[trace->rows[slice.row].track].name);

            node =
                tree_child(&growth->tree, 0, track.count > 0 ? track : STR("(unnamed)"), KIND_HOST);
        }
        at = slice.parent;
    }
    while (count-- > 0) {
        struct str name = trace_name(trace, trace_slice(trace, chain[count]).name);

        if (growth->tree.nodes[node].level + 1 < growth->depth &&
            growth->tree.count < FLAME_NODES_GROWN_MAX)
            node = tree_child(&growth->tree, node, name, KIND_HOST);
    }
    *map64_at(&paths->node_of_call, call, 0) = node + 1;
    return node;
}

uint32_t path_of_launch(struct growth *growth, struct paths *paths, const struct attributed *entry)
{
    slice_id call = entry->launch;
    uint32_t node;

    if (call == NO_SLICE && entry->execution != NO_EXECUTION)
        call = paths->call_of_execution[entry->execution];
    if (call == NO_SLICE)
        return tree_child(&growth->tree, 0, STR("(no call recorded)"), KIND_OTHER);
    if (map64_get(&paths->node_of_call, call, &node) && node != 0)
        return node - 1;
    return node_of_call(growth, paths, call);
}
