/* Any bytes as a Perfetto trace: a trace that opens, or a failure with a sentence. */
#include <stdlib.h>

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

static enum status decode(struct input *input, struct memory_blocks *blocks, struct error *err)
{
    struct budget budget = budget_default;
    budget.slices_max = 1 << 16;
    budget.tracks_max = 1 << 10;
    budget.names_bytes_max = 16 << 20;
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget, (struct sink_hooks){0}, NULL, err);
    enum status status = decode_perfetto.decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct input input;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    if (input_open(STR("fuzz"), (struct bytes){.at = at, .count = count}, NULL, arena, &input,
                   &err) != OK)
        abort();
    input.packing = PACKING_NONE; /* unpacking has a target of its own */
    decode_identify(&input);
    enum status status = decode(&input, blocks, &err);
    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    input_close(&input);
    arena_destroy(arena);
    return 0;
}
