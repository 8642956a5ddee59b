/* SPDX-License-Identifier: Apache-2.0 */
/* From the call on the host that sent an op to its device.
 *
 *   GPU, TPU   the launch that the attribution names, and the calls around it
 *   XLA:CPU    back through the thread pools' marks to the thread that asked for the work
 */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"

enum { CALLS_MAX = 512, TRIES_MAX = 16, REGION_SLICES_MAX = 64 };

static track_id track_of(const struct trace *trace, slice_id slice)
{
    return trace->rows[trace_row_of(trace, slice)].track;
}

/* An arrow that ends at the slice and comes from another track; NO_SLICE: none. */
static slice_id arrow_to(const struct trace *trace, slice_id slice)
{
    uint64_t from = flow_first_to(trace, slice);

    for (; from < trace->flow_count; from++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[from]];

        if (flow->to != slice)
            break;
        if (track_of(trace, flow->from) != track_of(trace, slice))
            return flow->from;
    }
    return NO_SLICE;
}

enum mark { MARK_NONE, MARK_START, MARK_STOP };

/* By name, so that a text is looked at once; NULL: no pool has marked where its work begins. */
static uint8_t *marks_of_names(const struct trace *trace)
{
    uint8_t *marks = memory_zeroed((size_t)trace->name_count + 1, sizeof(*marks));
    bool any = false;
    for (name_id name = 0; name < trace->name_count; name++) {
        struct str text = trace_name(trace, name);

        if (str_ends(text, STR("::StartRegion")))
            marks[name] = MARK_START;
        else if (str_ends(text, STR("::StopRegion")))
            marks[name] = MARK_STOP;
        any |= marks[name] == MARK_START;
    }
    if (any)
        return marks;
    free(marks);
    return NULL;
}

/* XLA's thread pools mark where a piece of work begins and ends; an arrow leads from the thread
 * that asked for it to the mark before:
 *
 *   ThreadpoolListener::StartRegion   ThunkExecutor::Execute ...   ThreadpoolListener::StopRegion
 */
static slice_id region_of(const struct trace *trace, const uint8_t *marks, slice_id slice)
{
    const struct row *row = &trace->rows[trace_row_of(trace, slice)];

    for (int i = 0; i < REGION_SLICES_MAX && slice > row->first_slice; i++) {
        uint8_t mark = marks[trace_slice(trace, --slice).name];

        if (mark == MARK_START)
            return slice;
        if (mark == MARK_STOP)
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
static slice_id call_of_thread(const struct trace *trace, const uint8_t *marks, slice_id slice)
{
    slice_id call = NO_SLICE;

    for (int i = 0; i < CALLS_MAX; i++) {
        slice_id region = region_of(trace, marks, outermost_of(trace, slice));
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

/* Of an execution whose launch is not recorded the first few ops are asked for it. */
static void find_calls(const struct host_trace *host, const uint8_t *marks, uint8_t *tries,
                       slice_id *calls)
{
    const struct attribution *attribution = host->attribution;
    struct entry_reader reader;

    entry_reader_open(&reader, attribution,
                      ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_EXECUTION) |
                          ENTRY_BIT(ENTRY_LAUNCH));
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        uint32_t execution = entry->execution;

        if (entry->launch != NO_SLICE || execution == NO_EXECUTION ||
            (calls[execution] != NO_SLICE && !is_of_pool(host->trace, calls[execution])) ||
            tries[execution]++ >= TRIES_MAX)
            continue;

        slice_id call = call_of_thread(host->trace, marks, entry->slice);

        if (call != NO_SLICE)
            calls[execution] = call;
    }
}

/* All ops of an execution were sent by one call. */
slice_id *calls_of_executions(const struct host_trace *host, struct arena *arena)
{
    const struct attribution *attribution = host->attribution;
    slice_id *calls = arena_array(arena, slice_id, (size_t)attribution->execution_count + 1);
    uint8_t *marks = marks_of_names(host->trace);

    for (uint32_t i = 0; i < attribution->execution_count; i++)
        calls[i] = attribution->executions[i].launch;
    if (marks != NULL)
        find_calls(host, marks,
                   arena_array(arena, uint8_t, (size_t)attribution->execution_count + 1), calls);
    free(marks);
    return calls;
}

/* The child of that name, whose text is compared once. */
static uint32_t child_of(struct growth *growth, struct paths *paths, uint32_t parent, name_id name)
{
    uint32_t *node = map64_at(&paths->child_of, map64_pair(parent, name), UINT32_MAX);

    if (*node == UINT32_MAX)
        *node = tree_child(&growth->tree, parent, trace_name(growth->selection->host->trace, name),
                           KIND_HOST);
    return *node;
}

/* Below its caller, where a level is left. */
static uint32_t node_below(struct growth *growth, struct paths *paths, uint32_t node, name_id name)
{
    return growth->tree.nodes[node].level + 1 < growth->depth &&
                   growth->tree.count < FLAME_NODES_GROWN_MAX
               ? child_of(growth, paths, node, name)
               : node;
}

static uint32_t node_of_track(struct growth *growth, slice_id slice)
{
    const struct trace *trace = growth->selection->host->trace;
    struct str track = trace_name(trace, trace->tracks[track_of(trace, slice)].name);

    return tree_child(&growth->tree, 0, track.count > 0 ? track : STR("(unnamed)"), KIND_HOST);
}

/* A call that others are made in: asked for once. */
static uint32_t node_of_caller(struct growth *growth, struct paths *paths, slice_id call)
{
    const struct trace *trace = growth->selection->host->trace;
    name_id chain[CALLS_MAX];
    uint32_t count = 0, node = 0;

    if (map64_get(&paths->node_of_caller, call, &node) && node != 0)
        return node - 1;
    for (slice_id at = call; at != NO_SLICE && count < COUNT(chain);) {
        struct slice slice = trace_slice(trace, at);

        chain[count++] = slice.name;
        if (slice.parent == NO_SLICE)
            node = node_of_track(growth, at);
        at = slice.parent;
    }
    while (count-- > 0)
        node = node_below(growth, paths, node, chain[count]);
    *map64_at(&paths->node_of_caller, call, 0) = node + 1;
    return node;
}

static uint32_t node_of_call(struct growth *growth, struct paths *paths, slice_id slice)
{
    struct launch_call call;

    if (!launch_read(paths->launches, slice, &call))
        return node_of_caller(growth, paths, slice);
    return node_below(growth, paths,
                      call.parent == NO_SLICE ? node_of_track(growth, slice)
                                              : node_of_caller(growth, paths, call.parent),
                      call.name);
}

uint32_t path_of_launch(struct growth *growth, struct paths *paths, const struct attributed *entry)
{
    slice_id call = entry->launch;

    if (call == NO_SLICE && entry->execution != NO_EXECUTION)
        call = paths->call_of_execution[entry->execution];
    if (!paths->has_last || call != paths->last_call) { /* one call launches many */
        paths->has_last = true;
        paths->last_call = call;
        paths->last_node = call == NO_SLICE
                               ? tree_child(&growth->tree, 0, STR("(no call recorded)"), KIND_OTHER)
                               : node_of_call(growth, paths, call);
    }
    return paths->last_node;
}
