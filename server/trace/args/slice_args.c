/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the last unpacked blocks of args, for slices that are asked for in any order. */
#include "trace/args/slice_args.h"

void slice_args_open(struct slice_args *args, const struct trace *trace)
{
    *args = (struct slice_args){.trace = trace};
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++)
        args->blocks[index].arena = arena_create();
    args->last = &args->blocks[0];
}

void slice_args_close(struct slice_args *args)
{
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++)
        arena_destroy(args->blocks[index].arena);
}

static bool holds(const struct slice_args_block *block, event_id event)
{
    return event >= block->rows.first_event && event - block->rows.first_event < block->rows.count;
}

/* The block of the event, read in place of the one that was asked for longest ago. */
static struct slice_args_block *find_block(struct slice_args *args, event_id event)
{
    struct slice_args_block *oldest = &args->blocks[0];

    args->asked++;
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++) {
        struct slice_args_block *block = &args->blocks[index];

        if (holds(block, event)) {
            block->asked = args->asked;
            return block;
        }
        if (block->asked < oldest->asked)
            oldest = block;
    }
    arena_reset(oldest->arena);
    oldest->asked = args->asked;
    if (!trace_arg_rows(args->trace, event, oldest->arena, &oldest->rows))
        oldest->rows = (struct arg_rows){0};
    return oldest;
}

uint32_t slice_args_of(struct slice_args *args, event_id event, const struct arg **ret,
                       type_id *ret_type)
{
    *ret = NULL;
    *ret_type = 0;
    if (!holds(args->last, event))
        args->last = find_block(args, event);
    const struct arg_rows *rows = &args->last->rows;
    if (!holds(args->last, event))
        return 0;
    uint32_t index = event - rows->first_event;

    *ret = rows->args + rows->first_arg[index];
    *ret_type = rows->types[index];
    return rows->first_arg[index + 1] - rows->first_arg[index];
}
