/* SPDX-License-Identifier: Apache-2.0 */
/* Whose is it? The innermost call that is neither JAX nor another installed package.
 *
 *   main            train.py:12                          <- the owner
 *     jit           .../site-packages/jax/_src/api.py
 *       compile     .../site-packages/jax/_src/compiler.py
 *
 * A comprehension is a call of its own before Python 3.12, and nobody's name for it: the owner is
 * the function around it. Where every call is in a package, it is the innermost outside of JAX, and
 * where all is JAX, the innermost call. Frames without a file (C++, addresses) are nobody's
 * package. One pass over the stacks answers for all, because a parent stands before its children.
 */
#include "analyse/memory/snapshot.h"
#include "decode/hlo/python_owner.h"

static bool is_comprehension(struct str function)
{
    return str_equal(function, STR("<listcomp>")) || str_equal(function, STR("<dictcomp>")) ||
           str_equal(function, STR("<setcomp>")) || str_equal(function, STR("<genexpr>"));
}

/* By stack: itself, or of a comprehension the function that it stands in. What calls a generator's
 * next (`sum`) may lie between. */
static stack_id function_around(const struct trace *trace, const stack_id *around, stack_id id)
{
    const struct stack *stack = &trace->stacks[id];

    if (!is_comprehension(trace_name(trace, stack->frame.function)))
        return id;
    for (stack_id at = stack->parent; at != NO_STACK; at = trace->stacks[at].parent) {
        if (trace->stacks[at].frame.file == stack->frame.file)
            return around[at];
    }
    return id;
}

stack_id *owners_of(const struct trace *trace, struct arena *arena)
{
    stack_id *owners = arena_array(arena, stack_id, trace->stack_count);
    uint8_t *of_stack = arena_array(arena, uint8_t, trace->stack_count);
    stack_id *around = arena_array(arena, stack_id, trace->stack_count);
    uint8_t *of_name = arena_array(arena, uint8_t, trace->name_count);

    memset(of_name, PYTHON_UNKNOWN, trace->name_count);
    for (stack_id id = 0; id < trace->stack_count; id++) {
        const struct stack *stack = &trace->stacks[id];
        uint8_t *ownership = &of_name[stack->frame.file];

        if (*ownership == PYTHON_UNKNOWN)
            *ownership = (uint8_t)python_owner_of(trace_name(trace, stack->frame.file));
        owners[id] = around[id] = function_around(trace, around, id);
        of_stack[id] = *ownership;
        if (stack->parent != NO_STACK && of_stack[stack->parent] > *ownership) {
            owners[id] = owners[stack->parent];
            of_stack[id] = of_stack[stack->parent];
        }
    }
    return owners;
}
