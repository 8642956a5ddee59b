/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of sampled stacks: what profilers found at each call, summed along the calls.
 *
 *   samples   stack 7: 10  stack 7: 30  stack 9: 5         weights  [7] 40  [9] 5
 *   stacks    3 main -- 7 matmul -- 9 copy                 nodes    main - matmul 40 - copy 5
 *
 * The weights of equal stacks are summed first, so that the tree costs one step a stack, however
 * many samples there are. Frames of one function and file are one node, whatever their lines.
 */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "analyse/memory/snapshot.h"
#include "analyse/steps/restrict.h"
#include "trace/ps.h"

enum { STACK_DEPTH_MAX = 512 };

struct weights { /* by stack of one trace */
    int64_t *values;
    uint64_t *counts;
};

static struct row_windows sample_windows(const struct selection *selection,
                                         const struct sample *sample)
{
    return sample->track == NO_TRACK
               ? (struct row_windows){selection->windows, selection->window_count}
               : selection_windows_of_track(selection, sample->track);
}

static bool sample_is_inside(const struct selection *selection, const struct sample *sample)
{
    if (selection == NULL)
        return true;
    if (sample->track == NO_TRACK ? !selection->all_tracks : !selection->tracks[sample->track])
        return false;
    if (!selection->cut_in_time)
        return true;
    return sample->at_ps != SAMPLE_NO_TIME &&
           windows_inside(sample_windows(selection, sample), sample->at_ps, 0) >= 0;
}

/* One trace's samples of one type; `without_stack` takes those that have none. */
static struct weights sum_samples(const struct trace *trace, const struct selection *selection,
                                  uint32_t type, int64_t scale, struct tree_node *without_stack)
{
    struct weights weights = {
        .values = memory_zeroed((size_t)trace->stack_count + 1, sizeof(*weights.values)),
        .counts = memory_zeroed((size_t)trace->stack_count + 1, sizeof(*weights.counts)),
    };
    for (uint32_t i = 0; i < trace->stack_sample_count; i++) {
        const struct sample *sample = &trace->samples[i];
        uint64_t value =
            (uint64_t)trace->sample_values[(uint64_t)i * trace->sample_type_count + type];
        bool has_stack = sample->stack != NO_STACK;
        int64_t *sum = has_stack ? &weights.values[sample->stack] : &without_stack->self_ps;

        if (!sample_is_inside(selection, sample))
            continue;
        *sum = ps_sum(*sum, (int64_t)(value * (uint64_t)scale));
        *(has_stack ? &weights.counts[sample->stack] : &without_stack->count) += 1;
    }
    return weights;
}

struct frame_names { /* texts of (function, file), each made once */
    const struct trace *trace;
    struct arena *arena;
    struct map64 text_of;
    struct str *texts;
    uint32_t count, capacity;
};

/* "matmul (layers.py)", "libc.so.6+0x1a2b": Python's functions share their names. */
static struct str name_frame(const struct trace *trace, const struct frame *frame,
                             struct arena *arena)
{
    struct str function = trace_name(trace, frame->function), file = trace_name(trace, frame->file);

    if (function.count == 0)
        function = STR("(unnamed)");
    if (!str_ends(file, STR(".py")))
        return function;
    for (size_t i = file.count; i-- > 0;) {
        if (file.at[i] == '/')
            return str_format(arena, "%.*s (%.*s)", STR_ARG(function),
                              STR_ARG(str_skip(file, i + 1)));
    }
    return str_format(arena, "%.*s (%.*s)", STR_ARG(function), STR_ARG(file));
}

static struct str frame_name(struct frame_names *names, const struct frame *frame)
{
    uint32_t *at = map64_at(&names->text_of, map64_pair(frame->function, frame->file), UINT32_MAX);

    if (*at != UINT32_MAX)
        return names->texts[*at];
    if (names->count == names->capacity) {
        names->capacity = names->capacity == 0 ? 64 : 2 * names->capacity;
        names->texts = memory_resize(names->texts, names->capacity, sizeof(*names->texts));
    }
    *at = names->count;
    return names->texts[names->count++] = name_frame(names->trace, frame, names->arena);
}

/* Which stacks lead to a sample. */
static void mark_callers(const struct trace *trace, const struct weights *weights, bool *is_used)
{
    for (stack_id id = trace->stack_count; id-- > 0;) {
        is_used[id] |= weights->counts[id] > 0;
        if (is_used[id] && trace->stacks[id].parent != NO_STACK)
            is_used[trace->stacks[id].parent] = true;
    }
}

static void grow(struct flame_tree *tree, const struct trace *trace, const struct weights *weights,
                 uint32_t depth, struct arena *arena)
{
    uint32_t *node_of = memory_resize(NULL, trace->stack_count + 1u, sizeof(*node_of));
    bool *is_used = memory_zeroed((size_t)trace->stack_count + 1, sizeof(*is_used));
    struct frame_names names = {.trace = trace, .arena = arena};

    mark_callers(trace, weights, is_used);
    for (stack_id id = 0; id < trace->stack_count; id++) {
        const struct stack *stack = &trace->stacks[id];

        if (!is_used[id])
            continue;

        uint32_t parent = stack->parent == NO_STACK ? 0 : node_of[stack->parent], node = parent;

        if (tree->nodes[parent].level < depth && tree->count < FLAME_NODES_GROWN_MAX)
            node = tree_child(tree, parent, frame_name(&names, &stack->frame), KIND_HOST);
        if (node != parent) {
            tree->nodes[node].file = trace_name(trace, stack->frame.file);
            tree->nodes[node].line = stack->frame.line;
        }
        node_of[id] = node;
        tree->nodes[node].self_ps = ps_sum(tree->nodes[node].self_ps, weights->values[id]);
        tree->nodes[node].count += weights->counts[id];
    }
    map64_free(&names.text_of);
    free(names.texts);
    free(node_of);
    free(is_used);
}

static void add_trace(struct flame_tree *tree, const struct trace *trace,
                      const struct selection *selection, uint32_t type, uint32_t depth,
                      struct arena *arena)
{
    int64_t ps = unit_ps(trace_name(trace, trace->sample_types[type].unit));
    struct tree_node without_stack = {0};
    struct weights weights = sum_samples(trace, selection, type, ps > 0 ? ps : 1, &without_stack);

    grow(tree, trace, &weights, depth, arena);
    if (without_stack.count > 0) {
        uint32_t node = tree_child(tree, 0, STR("(no stack)"), KIND_OTHER);

        tree->nodes[node].self_ps = ps_sum(tree->nodes[node].self_ps, without_stack.self_ps);
        tree->nodes[node].count += without_stack.count;
    }
    free(weights.values);
    free(weights.counts);
}

static void tell(const struct trace *trace, uint32_t type, struct flame *ret)
{
    struct str unit = trace_name(trace, trace->sample_types[type].unit);

    ret->type = trace_name(trace, trace->sample_types[type].name);
    ret->unit = unit_ps(unit) > 0 ? STR("ps") : unit;
    ret->of = STR("samples");
}

static enum status grow_hosts(struct flame_tree *tree, const struct run_traces *run,
                              const struct restriction *restriction, struct str type_name,
                              struct str unit, uint32_t depth, struct arena *arena,
                              struct flame *ret, struct error *err)
{
    struct selection *selections;
    uint32_t count, type;

    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct trace *trace = selections[i].host->trace;

        if (trace->stack_sample_count == 0 ||
            !sample_type_find(trace, ret->type.count > 0 ? ret->type : type_name, unit, &type))
            continue;
        if (ret->type.count == 0)
            tell(trace, type, ret);
        add_trace(tree, trace, &selections[i], type, depth, arena);
    }
    return OK;
}

enum status flame_stacks(const struct run_traces *run, const struct restriction *restriction,
                         const struct flame_question *question, bool hosts_only,
                         struct flame_tree *tree, struct arena *arena, struct flame *ret,
                         struct error *err)
{
    const struct str unit = str_equal(question->by, STR("bytes")) ? STR("bytes") : STR("");
    const uint32_t depth = question->depth > 0 && question->depth < STACK_DEPTH_MAX
                               ? question->depth
                               : STACK_DEPTH_MAX;
    const struct host_trace *snapshot;
    struct snapshots snapshots;
    uint32_t type;

    if (question->snapshot.count == 0)
        TRY(grow_hosts(tree, run, restriction, question->type, unit, depth, arena, ret, err));
    if (ret->type.count > 0 || hosts_only)
        return OK;
    snapshots_of(run, arena, &snapshots);
    if (snapshots.count == 0)
        return question->snapshot.count > 0
                   ? snapshot_find(&snapshots, question->snapshot, &snapshot, err)
                   : OK;
    TRY(snapshot_find(&snapshots, question->snapshot, &snapshot, err));
    if (!sample_type_find(snapshot->trace, question->type, unit, &type))
        return fail(err, ERR_NOT_FOUND, "%.*s has no samples of type \"%.*s\"%s%.*s",
                    STR_ARG(snapshot->name), STR_ARG(question->type), unit.count > 0 ? " in " : "",
                    STR_ARG(unit));
    tell(snapshot->trace, type, ret);
    ret->snapshot = snapshot->name;
    tree->nodes[0].name = snapshot->name;
    add_trace(tree, snapshot->trace, NULL, type, depth, arena);
    return OK;
}
