/* SPDX-License-Identifier: Apache-2.0 */
/* Where an op belongs in the tree, before its own name.
 *
 *   scope    jit_step / jit(step) / layer_0 / mlp             every path begins with its module
 *   source   model.py:41
 *   module   jit_step / loop fusion
 *   phase    backward / jit_step / jit(step) / layer_0 / mlp
 *   stack    <module> (train.py:80) / main (train.py:61) / loss (model.py:20)
 *   host     python / train / PjitFunction(step) / hipLaunchKernel     flame_call.c
 */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "analyse/hlo/phase.h"
#include "analyse/hlo/scope.h"

enum { CALLS_MAX = 512 };

void paths_open(struct paths *paths, struct growth *growth)
{
    *paths = (struct paths){0};
    if (growth->by == FLAME_HOST) {
        paths->call_of_execution = calls_of_executions(growth->selection->host, growth->arena);
        paths->launches = launch_reader_create(growth->selection->host->trace);
    }
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
    map64_free(&paths->node_of_caller);
    map64_free(&paths->child_of);
    launch_reader_free(paths->launches);
}

/* A level for the op itself must be left. */
static bool has_room(const struct growth *growth, uint32_t node)
{
    return growth->tree.nodes[node].level + 1 < growth->depth;
}

static uint32_t path_of_scope(struct growth *growth, const struct op *op, uint32_t node)
{
    const struct trace *trace = growth->selection->host->trace;
    struct str rest = scope_of_op(trace, op), element,
               module = module_name_of(&growth->modules, op);

    if (growth->question->fold_siblings)
        rest = scope_cut(rest, 0, true, growth->arena);
    /* So that ops without a scope have a place too; PyTorch's scopes begin with their modules. */
    if (module.count > 0 && op->caller == 0)
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
    if (node == 0 || colon == 0 || !str_to_u64(str_skip(source, colon), &line) || line > UINT32_MAX)
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
    struct str module = module_name_of(&growth->modules, op),
               category = trace_name(trace, op->category);
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
            if (node != 0) { /* of a tree that is full */
                growth->tree.nodes[node].file = frame->file;
                growth->tree.nodes[node].line = frame->line;
            }
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

static uint32_t node_of_phase(struct growth *growth, const struct op *op)
{
    enum op_phase phase = phase_of_op(growth->selection->host->trace, op);

    return tree_child(&growth->tree, 0, str_of(phase_word(phase)), op->kind);
}

uint32_t path_of_op(struct growth *growth, struct paths *paths, uint32_t index)
{
    const struct op *op = &growth->selection->host->attribution->ops[index];

    switch (growth->by) {
    case FLAME_SCOPE:
        return path_of_scope(growth, op, 0);
    case FLAME_PHASE:
        return path_of_scope(growth, op, node_of_phase(growth, op));
    case FLAME_SOURCE:
        return path_of_source(growth, op);
    case FLAME_STACK:
        return path_of_stack(growth, paths, index);
    default:
        return path_of_module(growth, op);
    }
}
