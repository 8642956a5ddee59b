/* Any bytes as the text of a module, in a file of any name: the first line names it. */
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/hlo_module.h"
#include "decode/hlo_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

static enum status decode(struct input *input, struct memory_blocks *blocks, struct error *err)
{
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, err);
    enum status status = decode_hlo_text.decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

/* What is printed is what was read, but for the end of the last line. */
static void print(struct bytes bytes, struct arena *arena)
{
    struct hlo_module module;
    struct error err = {0};
    struct text out = {0};
    uint32_t computation, instruction;

    if (hlo_module_read(bytes, PROGRAM_TEXT, arena, &module, &err) != OK)
        return;
    for (uint32_t line = 0; line < module.line_count; line++) {
        hlo_put_line(&out, &module, line, &computation, &instruction);
        text_puts(&out, "\n");
        if (computation != HLO_NONE && computation >= module.computation_count)
            abort();
    }
    if (out.count < bytes.count || (bytes.count > 0 && memcmp(out.at, bytes.at, bytes.count) != 0))
        abort();
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    const uint8_t *feed = count == 0 ? NULL : memchr(at, '\n', count);
    size_t name = feed == NULL ? 0 : (size_t)(feed - at);
    struct bytes rest = {.at = at + (feed == NULL ? 0 : name + 1),
                         .count = count - (feed == NULL ? 0 : name + 1)};
    struct str file = {.at = (const char *)at, .count = name};
    struct input input;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    hlo_name_of(file, STR("jit_f"));
    if (input_open(file, rest, NULL, arena, &input, &err) != OK)
        abort();
    input.packing = PACKING_NONE;
    enum status status = decode(&input, blocks, &err);
    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    input_close(&input);
    print(rest, arena);
    arena_destroy(arena);
    return 0;
}
