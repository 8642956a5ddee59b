/* SPDX-License-Identifier: Apache-2.0 */
/* Runs any bytes through every decoder and the reader of what came out. */
#include "decode_any.h"

#include <stdlib.h>

static enum status decode(const struct any_input *any, struct input *input,
                          struct memory_blocks *blocks, struct error *err)
{
    struct budget budget = budget_default;
    budget.slices_max = 1 << 16;
    budget.tracks_max = 1 << 10;
    budget.stacks_max = 1 << 16;
    budget.names_bytes_max = 16 << 20;
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget, (struct sink_hooks){0}, NULL, err);
    enum status status = any->decoder->decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

void decode_any(const struct any_input *any)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct input input, beside;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    if (input_open(any->name, any->bytes, NULL, arena, &input, &err) != OK)
        abort();
    if (any->beside_name.count > 0) {
        if (input_open(any->beside_name, any->beside, NULL, arena, &beside, &err) != OK)
            abort();
        input.beside = &beside;
        input.beside_count = 1;
    }
    if (!any->may_be_packed)
        input.packing = PACKING_NONE;
    decode_identify(&input);
    enum status status = decode(any, &input, blocks, &err);
    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    if (status == OK && any->look != NULL)
        any->look(&trace);
    input_close(&input);
    if (any->beside_name.count > 0)
        input_close(&beside);
    arena_destroy(arena);
}
