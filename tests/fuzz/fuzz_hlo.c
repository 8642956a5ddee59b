/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an HLO proto; what is read of it is printed, and its heap replayed. */
#include <stdlib.h>

#include "analyse/memory/heap.h"
#include "any/cost_any.h"
#include "any/decode_any.h"
#include "decode/hlo/hlo_module.h"

enum { LINES_MAX = 1 << 16 };

/* The plan of both memory spaces that modules use: a sum that does not hold is a fault. */
static void plan(const struct hlo_module *module, struct arena *arena)
{
    for (uint32_t space = 0; module->has_buffers && space < 2; space++) {
        struct heap heap;
        struct table table;
        struct error err = {0};
        int64_t bytes;

        if (heap_of(module, space, arena, &heap, &err) != OK ||
            heap_table(module, &heap, &(struct heap_question){0}, &(struct page){.limit = 1000},
                       arena, &table, &bytes, &err) != OK)
            abort();
        if (heap.peak_bytes < INT64_C(1) << 60 && bytes != heap.peak_bytes)
            abort();
    }
}

static void print(struct bytes bytes)
{
    struct arena *arena = arena_create();
    struct hlo_module module;
    struct error err = {0};
    struct text out = {0};
    uint32_t computation, instruction;

    if (hlo_module_read(bytes, PROGRAM_PROTO, arena, &module, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
        module.line_count = 0;
    }
    for (uint32_t line = 0; line < module.line_count && line < LINES_MAX; line++)
        hlo_put_line(&out, &module, line, &computation, &instruction);
    if (err.code == OK) {
        plan(&module, arena);
        cost_any(&module);
    }
    text_free(&out);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct bytes bytes = {.at = at, .count = count};

    decode_any(&(struct any_input){
        .name = STR("jit_f(3).hlo_proto.pb"), .bytes = bytes, .decoder = &decode_hlo_proto});
    print(bytes);
    return 0;
}
