/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a file that lies in memory, for tests and their tools. */
#ifndef JVIEWD_TESTS_DECODED_H
#define JVIEWD_TESTS_DECODED_H

#include "decode/decode.h"
#include "trace/block.h"

/* As `decoded`, with files that are read together with it. */
static inline const struct trace *decoded_with(const struct decoder *decoder, struct str name,
                                               struct bytes bytes, struct input *beside,
                                               uint32_t beside_count, struct arena *arena,
                                               struct error *err)
{
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct trace *trace = arena_new(arena, struct trace);
    struct identity identity = {.decoder = decoder};
    struct input input;

    if (input_open(name, bytes, NULL, arena, &input, err) != OK)
        return NULL;
    input.beside = beside;
    input.beside_count = beside_count;
    if (decoder == NULL)
        identity = decode_identify(&input);
    if (identity.decoder == NULL) {
        input_close(&input);
        (void)fail(err, ERR_UNSUPPORTED, "%s: %s", identity.format, identity.reason);
        return NULL;
    }
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, err);
    enum status status = identity.decoder->decode(&input, sink, err);

    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    input_close(&input);
    if (status != OK || trace_open(memory_blocks_in(blocks), arena, trace, err) != OK)
        return NULL;
    return trace;
}

/* The trace of the bytes as a file of that name, in the arena; NULL and why. `decoder` NULL: the
 * one that the content asks for. */
static inline const struct trace *decoded(const struct decoder *decoder, struct str name,
                                          struct bytes bytes, struct arena *arena,
                                          struct error *err)
{
    return decoded_with(decoder, name, bytes, NULL, 0, arena, err);
}

#endif
