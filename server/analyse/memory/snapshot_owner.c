/* Whose is it? The innermost call that is neither JAX nor another installed package.
 *
 *   main            train.py:12                          <- the owner
 *     jit           .../site-packages/jax/_src/api.py
 *       compile     .../site-packages/jax/_src/compiler.py
 *
 * Where every call is in a package, it is the innermost outside of JAX, and where all is JAX, the
 * innermost call. Frames without a file (C++, addresses) are nobody's package. One pass over the
 * stacks answers for all, because a parent stands before its children.
 */
#include "analyse/memory/snapshot.h"
#include "decode/hlo/python_owner.h"

stack_id *owners_of(const struct trace *trace, struct arena *arena)
{
    stack_id *owners = arena_array(arena, stack_id, trace->stack_count);
    uint8_t *of_stack = arena_array(arena, uint8_t, trace->stack_count);
    uint8_t *of_name = arena_array(arena, uint8_t, trace->name_count);

    memset(of_name, PYTHON_UNKNOWN, trace->name_count);
    for (stack_id id = 0; id < trace->stack_count; id++) {
        const struct stack *stack = &trace->stacks[id];
        uint8_t *ownership = &of_name[stack->frame.file];

        if (*ownership == PYTHON_UNKNOWN)
            *ownership = (uint8_t)python_owner_of(trace_name(trace, stack->frame.file));
        owners[id] = id;
        of_stack[id] = *ownership;
        if (stack->parent != NO_STACK && of_stack[stack->parent] > *ownership) {
            owners[id] = owners[stack->parent];
            of_stack[id] = of_stack[stack->parent];
        }
    }
    return owners;
}
