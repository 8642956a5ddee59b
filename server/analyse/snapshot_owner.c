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
#include "analyse/snapshot.h"

enum ownership { OWNER_UNKNOWN, OWNER_JAX, OWNER_PACKAGE, OWNER_USER };

static enum ownership ownership_of(struct str file)
{
    static const char *const jax[] = {"/jax/_src/", "-packages/jax/", "-packages/jaxlib/"};
    static const char *const packages[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

    if (str_starts(file, STR("jax/_src/")))
        return OWNER_JAX;
    for (size_t i = 0; i < COUNT(jax); i++) {
        if (str_contains(file, str_of(jax[i])))
            return OWNER_JAX;
    }
    for (size_t i = 0; i < COUNT(packages); i++) {
        if (str_contains(file, str_of(packages[i])))
            return OWNER_PACKAGE;
    }
    /* Python's own code has no path: "<frozen runpy>", "<string>". */
    return str_starts(file, STR("<")) ? OWNER_PACKAGE : OWNER_USER;
}

stack_id *owners_of(const struct trace *trace, struct arena *arena)
{
    stack_id *owners = arena_array(arena, stack_id, trace->stack_count);
    uint8_t *of_stack = arena_array(arena, uint8_t, trace->stack_count);
    uint8_t *of_name = arena_array(arena, uint8_t, trace->name_count);

    memset(of_name, OWNER_UNKNOWN, trace->name_count);
    for (stack_id id = 0; id < trace->stack_count; id++) {
        const struct stack *stack = &trace->stacks[id];
        uint8_t *ownership = &of_name[stack->frame.file];

        if (*ownership == OWNER_UNKNOWN)
            *ownership = (uint8_t)ownership_of(trace_name(trace, stack->frame.file));
        owners[id] = id;
        of_stack[id] = *ownership;
        if (stack->parent != NO_STACK && of_stack[stack->parent] > *ownership) {
            owners[id] = owners[stack->parent];
            of_stack[id] = of_stack[stack->parent];
        }
    }
    return owners;
}
