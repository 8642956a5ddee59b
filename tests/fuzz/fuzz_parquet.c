/* Any bytes as a Parquet table of nsys-jax: a trace that opens, or a failure with a sentence. */
#include <stdlib.h>

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

static enum status decode(struct input *input, const struct decoder *decoder,
                          struct memory_blocks *blocks, struct error *err)
{
    struct budget budget = budget_default;
    budget.slices_max = 1 << 16;
    budget.tracks_max = 1 << 10;
    budget.names_bytes_max = 16 << 20;
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget, (struct sink_hooks){0}, NULL, err);
    enum status status = decoder->decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

static void try_one(struct bytes bytes, const struct decoder *decoder)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct input input;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    if (input_open(STR("fuzz"), bytes, NULL, arena, &input, &err) != OK)
        abort();
    decode_identify(&input);
    enum status status = decode(&input, decoder, blocks, &err);
    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    input_close(&input);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct bytes bytes = {.at = at, .count = count};

    try_one(bytes, &decode_nsys_jax_ranges);
    try_one(bytes, &decode_nsys_jax_table);
    return 0;
}
