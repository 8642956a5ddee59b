/* SPDX-License-Identifier: Apache-2.0 */
/* How fast an HLO proto becomes a trace, against a bare walk of its fields.
 *
 *   bench_hlo      walk_mb_per_s, decode_mb_per_s, share
 *
 * A module of 40,000 instructions as XLA's GPU compiler leaves them: scopes, sources and opcodes
 * repeat, names do not. CPU time, best of five rounds, both in turn. The walk reads every field of
 * modules, computations, instructions, shapes and metadata, and keeps nothing; decoding does
 * everything up to the finished trace, the packed copy of the proto included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decode/decode.h"
#include "decode/protobuf.h"
#include "unit/decode/proto.h"

enum { COMPUTATIONS = 2500, INSTRUCTIONS_EACH = 16, ROUNDS = 5 };

static void put_instruction(struct text *computation, uint32_t ordinal)
{
    static const char *const opcodes[] = {"parameter", "multiply", "add", "bitcast", "fusion"};
    const char *opcode = opcodes[ordinal % COUNT(opcodes)];
    struct text instruction = {0}, part = {0}, name = {0};

    text_putf(&name, "%s.%u", opcode, ordinal);
    put_bytes(&instruction, 1, text_str(&name));
    put_text(&instruction, 2, opcode);
    put_number(&part, 2, 11);
    put_bytes(&part, 3, STR("\x80\x10\x80\x06"));
    put_bytes(&part, 5, STR("\x0a\x02\x01\x00\x80\x01\x01"));
    put_message(&instruction, 3, &part);
    name.count = 0;
    text_putf(&name, "jit(train_step)/jit(main)/transformer/layer_%u/mlp/dot_general[%u]",
              ordinal / 400 % 24, ordinal / 40 % 10);
    put_bytes(&part, 2, text_str(&name));
    put_text(&part, 3, "/usr/lib/python3/model/layers.py");
    put_number(&part, 4, ordinal / 40 % 90 + 10);
    put_message(&instruction, 7, &part);
    put_number(&instruction, 35, 1000000 + ordinal);
    if (ordinal > 0) {
        put_varint(&part, 1000000 + ordinal - 1);
        put_message(&instruction, 36, &part);
    }
    put_text(&instruction, 68, "");
    put_text(&instruction, 82, "");
    put_message(computation, 2, &instruction);
    text_free(&instruction);
    text_free(&part);
    text_free(&name);
}

static struct bytes make_proto(struct text *proto)
{
    struct text module = {0}, computation = {0}, name = {0};

    put_text(&module, 1, "jit_train_step");
    put_text(&module, 2, "main");
    for (uint32_t i = 0; i < COMPUTATIONS; i++) {
        name.count = 0;
        text_putf(&name, "fused_computation.%u", i);
        put_bytes(&computation, 1, text_str(&name));
        for (uint32_t k = 0; k < INSTRUCTIONS_EACH; k++)
            put_instruction(&computation, i * INSTRUCTIONS_EACH + k);
        put_number(&computation, 5, i + 1);
        put_number(&computation, 7, 1);
        put_message(&module, 3, &computation);
    }
    put_message(proto, 1, &module);
    text_free(&module);
    text_free(&computation);
    text_free(&name);
    return proto_bytes(proto);
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Proto 0, module 1, computation 2, instruction 3, shape or metadata 4. */
static uint64_t walk(struct bytes message, unsigned level)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    uint64_t count = 0;

    for (struct pb_field field; pb_next(&pb, &field); count++) {
        bool deeper = (level == 0 && field.number == 1) || (level == 1 && field.number == 3) ||
                      (level == 2 && field.number == 2) ||
                      (level == 3 && (field.number == 3 || field.number == 7));
        if (deeper && field.wire == PB_BYTES)
            count += walk(field.bytes, level + 1);
    }
    return count;
}

static void decode(struct bytes proto)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct input input;
    struct error err = {0};
    enum status status = input_open(STR("made.hlo.pb"), proto, NULL, arena, &input, &err);
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, &err);

    if (status == OK)
        status = decode_hlo_proto.decode(&input, sink, &err);
    if (status == OK)
        status = sink_finish(sink, &err);
    if (status != OK) {
        fprintf(stderr, "bench_hlo: %s\n", err.message);
        exit(1);
    }
    sink_destroy(sink);
    input_close(&input);
    arena_destroy(arena);
}

int main(void)
{
    struct text text = {0};
    struct bytes proto = make_proto(&text);
    double walk_s = 1e9, decode_s = 1e9;
    volatile uint64_t fields = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double begin = cpu_s();
        fields = walk(proto, 0);
        double middle = cpu_s();
        decode(proto);
        double end = cpu_s();
        walk_s = middle - begin < walk_s ? middle - begin : walk_s;
        decode_s = end - middle < decode_s ? end - middle : decode_s;
    }
    double megabytes = (double)proto.count / 1e6;
    printf("walk_mb_per_s %.0f\ndecode_mb_per_s %.0f\nshare %.3f\n", megabytes / walk_s,
           megabytes / decode_s, walk_s / decode_s);
    (void)fields;
    text_free(&text);
    return 0;
}
