/* Where an op belongs in the tree, before its own name.
 *
 *   scope    jit_step / jit(step) / layer_0 / mlp             every path begins with its module
 *   source   model.py:41
 *   module   jit_step / loop fusion
 *   stack    <module> (train.py:80) / main (train.py:61) / loss (model.py:20)
 *   host     python / train / PjitFunction(step) / hipLaunchKernel
 */
#include <stdlib.h>

#include "analyse/flame_parts.h"
#include "analyse/scope.h"

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
static slice_id *find_calls(const struct host_trace *host, struct arena *arena)
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

void paths_open(struct paths *paths, struct growth *growth)
{
    *paths = (struct paths){0};
    if (growth->by == FLAME_HOST)
        paths->call_of_execution = find_calls(growth->selection->host, growth->arena);
    if (growth->by != FLAME_STACK)
        return;
    op_stacks_read(growth->selection->host, NULL, growth->arena, &paths->stacks);
    paths->node_of_frame =
        arena_array(growth->arena, uint32_t, (size_t)paths->stacks.frame_count + 1);
    growth->stack_count += paths->stacks.stack_count;
    growth->cut_count += paths->stacks.cut_count;
    growth->completed_count += paths->stacks.completed_count;
}

void paths_close(struct paths *paths)
{
    map64_free(&paths->node_of_call);
}

/* A level for the op itself must be left. */
static bool has_room(const struct growth *growth, uint32_t node)
{
    return growth->tree.nodes[node].level + 1 < growth->depth;
}

static uint32_t path_of_scope(struct growth *growth, const struct op *op)
{
    const struct trace *trace = growth->selection->host->trace;
    struct str rest = scope_of_op(trace, op), element, module = trace_name(trace, op->module);
    uint32_t node = 0;

    if (growth->question->fold_siblings)
        rest = scope_cut(rest, 0, true, growth->arena);
    /* So that ops without a scope have a place too. */
    if (module.count > 0)
        node = tree_child(&growth->tree, node, module, op->kind);
    while (has_room(growth, node) && scope_next(&rest, &element))
        node =
            tree_child(&growth->tree, node, element.count > 0 ? element : STR("(empty)"), op->kind);
    return node;
}

/* "model.py:41" is line 41 of model.py. */
static void set_place(struct growth *growth, uint32_t node, struct str source)
{
    size_t colon = source.count;
    uint64_t line;

    while (colon > 0 && source.at[colon - 1] != ':')
        colon--;
    if (colon == 0 || !str_to_u64(str_skip(source, colon), &line) || line > UINT32_MAX)
        return;
    growth->tree.nodes[node].file = (struct str){.at = source.at, .count = colon - 1};
    growth->tree.nodes[node].line = (uint32_t)line;
}

static uint32_t path_of_source(struct growth *growth, const struct op *op)
{
    struct str source = trace_name(growth->selection->host->trace, op->source);
    uint32_t node =
        tree_child(&growth->tree, 0, source.count > 0 ? source : STR("(no source)"), op->kind);

    set_place(growth, node, source);
    return node;
}

static uint32_t path_of_module(struct growth *growth, const struct op *op)
{
    const struct trace *trace = growth->selection->host->trace;
    struct str module = trace_name(trace, op->module), category = trace_name(trace, op->category);
    uint32_t node =
        tree_child(&growth->tree, 0, module.count > 0 ? module : STR("(no module)"), op->kind);

    return category.count > 0 && has_room(growth, node)
               ? tree_child(&growth->tree, node, category, op->kind)
               : node;
}

static struct str base_name(struct str path)
{
    size_t at = path.count;

    while (at > 0 && path.at[at - 1] != '/' && path.at[at - 1] != '\\')
        at--;
    return str_skip(path, at);
}

static struct str frame_text(struct arena *arena, const struct op_frame *frame)
{
    struct str function = frame->function.count > 0 ? frame->function : STR("(unnamed)");
    struct str file = base_name(frame->file);

    if (file.count == 0)
        return function;
    return frame->line > 0
               ? str_format(arena, "%.*s (%.*s:%u)", STR_ARG(function), STR_ARG(file), frame->line)
               : str_format(arena, "%.*s (%.*s)", STR_ARG(function), STR_ARG(file));
}

static uint32_t node_of_frame(struct growth *growth, struct paths *paths, uint32_t index)
{
    uint32_t chain[CALLS_MAX], count = 0, node = 0;

    for (; index != NO_FRAME && count < COUNT(chain); index = paths->stacks.frames[index].parent) {
        if (paths->node_of_frame[index] != 0) {
            node = paths->node_of_frame[index] - 1;
            break;
        }
        chain[count++] = index;
    }
    while (count-- > 0) {
        const struct op_frame *frame = &paths->stacks.frames[chain[count]];

        if (has_room(growth, node)) {
            node = tree_child(&growth->tree, node, frame_text(growth->arena, frame), KIND_OTHER);
            growth->tree.nodes[node].file = frame->file;
            growth->tree.nodes[node].line = frame->line;
        }
        paths->node_of_frame[chain[count]] = node + 1;
    }
    return node;
}

static uint32_t path_of_stack(struct growth *growth, struct paths *paths, uint32_t index)
{
    const struct op *op = &growth->selection->host->attribution->ops[index];
    uint32_t frame = paths->stacks.of_op[index];

    if (frame == NO_FRAME)
        return tree_child(&growth->tree, 0, STR("(no Python stack)"), op->kind);
    growth->has_stacks = true;
    return node_of_frame(growth, paths, frame);
}

uint32_t path_of_op(struct growth *growth, struct paths *paths, uint32_t index)
{
    const struct op *op = &growth->selection->host->attribution->ops[index];

    switch (growth->by) {
    case FLAME_SCOPE:
        return path_of_scope(growth, op);
    case FLAME_SOURCE:
        return path_of_source(growth, op);
    case FLAME_STACK:
        return path_of_stack(growth, paths, index);
    default:
        return path_of_module(growth, op);
    }
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

        if (has_room(growth, node) && growth->tree.count < FLAME_NODES_GROWN_MAX)
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
