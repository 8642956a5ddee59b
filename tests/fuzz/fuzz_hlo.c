/* Any bytes as an HLO proto: a trace that opens and a module that is printed, or a failure with a
 * sentence. */
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/hlo_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

enum { LINES_MAX = 1 << 16 };

static enum status decode(struct input *input, struct memory_blocks *blocks, struct error *err)
{
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, err);
    enum status status = decode_hlo_proto.decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

static void print(struct bytes bytes, struct arena *arena)
{
    struct hlo_module module;
    struct error err = {0};
    struct text out = {0};
    uint32_t computation, instruction;

    if (hlo_module_read(bytes, PROGRAM_PROTO, arena, &module, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
        return;
    }
    for (uint32_t line = 0; line < module.line_count && line < LINES_MAX; line++)
        hlo_put_line(&out, &module, line, &computation, &instruction);
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct bytes bytes = {.at = at, .count = count};
    struct input input;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    if (input_open(STR("jit_f(3).hlo_proto.pb"), bytes, NULL, arena, &input, &err) != OK)
        abort();
    input.packing = PACKING_NONE; /* unpacking has a target of its own */
    enum status status = decode(&input, blocks, &err);
    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    input_close(&input);
    print(bytes, arena);
    arena_destroy(arena);
    return 0;
}
