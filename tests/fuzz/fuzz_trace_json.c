/* Any bytes as Chrome JSON: a trace that opens and goes out again, or a failure with a sentence.
 * Bytes that begin with 0xff are put over the edge of a window, as far as the second one says.
 */
#include <stdlib.h>

#include "decode/decode.h"
#include "export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

enum { EDGE = 1 << 20 };

static enum status decode(struct input *input, struct memory_blocks *blocks, struct error *err)
{
    struct budget budget = budget_default;
    budget.slices_max = 1 << 16;
    budget.tracks_max = 1 << 10;
    budget.names_bytes_max = 16 << 20;
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget, (struct sink_hooks){0}, NULL, err);
    enum status status = decode_trace_json.decode(input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

static enum status count_bytes(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    *(uint64_t *)to += piece.count;
    return OK;
}

static void go_out(const struct trace *trace)
{
    struct export_host host = {.trace = trace, .name = STR("h")};
    struct export_run run = {.hosts = &host, .host_count = 1};
    struct error err = {0};
    uint64_t bytes = 0;

    if (export_chrome(&run, count_bytes, &bytes, &err) != OK || bytes == 0)
        abort();
}

/* The content, behind blanks where it asks for them. */
static struct bytes content_of(const uint8_t *at, size_t count, struct arena *arena)
{
    if (count < 2 || at[0] != 0xff)
        return (struct bytes){.at = at, .count = count};
    size_t blanks = EDGE - at[1];
    uint8_t *room = arena_array(arena, uint8_t, blanks + count - 2);

    memset(room, ' ', blanks);
    memcpy(room + blanks, at + 2, count - 2);
    return (struct bytes){.at = room, .count = blanks + count - 2};
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct input input;
    struct trace trace;
    struct error err = {0}, open_err = {0};

    if (input_open(STR("fuzz"), content_of(at, count, arena), NULL, arena, &input, &err) != OK)
        abort();
    input.packing = PACKING_NONE; /* unpacking has a target of its own */
    decode_trace_json.sniff(&input);
    enum status status = decode(&input, blocks, &err);

    if (status != OK && err.message[0] == '\0')
        abort();
    if (status == OK && trace_open(memory_blocks_in(blocks), arena, &trace, &open_err) != OK)
        abort();
    if (status == OK)
        go_out(&trace);
    input_close(&input);
    arena_destroy(arena);
    return 0;
}
