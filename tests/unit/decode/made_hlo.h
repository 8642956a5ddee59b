/* SPDX-License-Identifier: Apache-2.0 */
/* One small module, as a proto and as the text that XLA prints of it. */
#ifndef JVIEWD_TESTS_MADE_HLO_H
#define JVIEWD_TESTS_MADE_HLO_H

#include "proto.h"

static const char hlo_small_text[] =
    "HloModule jit_f\n"
    "\n"
    "%fused (p.1: f32[8]) -> f32[8] {\n"
    "  %p.1 = f32[8]{0} parameter(0)\n"
    "  ROOT %tanh.2 = f32[8]{0} tanh(%p.1), metadata={op_name=\"jit(f)/tanh\" "
    "source_file=\"a.py\" source_line=7}\n"
    "}\n"
    "\n"
    "ENTRY %main (x.3: f32[8]) -> f32[8] {\n"
    "  %x.3 = f32[8]{0} parameter(0)\n"
    "  ROOT %fusion.4 = f32[8]{0} fusion(%x.3), kind=kLoop, calls=%fused\n"
    "}\n";

static inline void put_f32_8(struct text *to, uint32_t number)
{
    struct text shape = {0}, layout = {0};

    put_number(&shape, 2, 11);
    put_bytes(&shape, 3, STR("\x08"));
    put_bytes(&layout, 1, (struct str){.at = "\0", .count = 1});
    put_message(&shape, 5, &layout);
    put_message(to, number, &shape);
    text_free(&shape);
    text_free(&layout);
}

/* What was put into `rest` stands behind name, opcode and shape. */
static inline void put_hlo_instruction(struct text *computation, const char *name,
                                       const char *opcode, int64_t id, struct text *rest)
{
    struct text instruction = {0};

    put_text(&instruction, 1, name);
    put_text(&instruction, 2, opcode);
    put_f32_8(&instruction, 3);
    text_put(&instruction, rest->at, rest->count);
    rest->count = 0;
    put_number(&instruction, 35, id);
    put_message(computation, 2, &instruction);
    text_free(&instruction);
}

static inline void end_computation(struct text *module, struct text *computation, const char *name,
                                   const char *parameter, int64_t id, int64_t root, bool is_fused)
{
    struct text whole = {0}, shape = {0};

    put_text(&whole, 1, name);
    text_put(&whole, computation->at, computation->count);
    computation->count = 0;
    put_f32_8(&shape, 1);
    put_f32_8(&shape, 2);
    put_text(&shape, 3, parameter);
    put_message(&whole, 4, &shape);
    put_number(&whole, 5, id);
    put_number(&whole, 6, root);
    put_number(&whole, 7, is_fused);
    put_message(module, 3, &whole);
    text_free(&whole);
    text_free(&shape);
}

/* A buffer assignment: two values in one allocation of 64 bytes, and a heap of two events. */
static inline void put_buffers(struct text *to, uint32_t number)
{
    struct text all = {0}, part = {0}, inner = {0};

    for (int64_t id = 1; id <= 2; id++) {
        put_number(&part, 1, id);
        put_number(&part, 2, 32);
        put_number(&inner, 4, id == 1 ? 3 : 4);
        put_message(&part, 3, &inner);
        put_message(&all, 1, &part);
    }
    put_number(&part, 1, 0);
    put_number(&part, 2, 64);
    put_number(&part, 7, 1);
    for (int64_t id = 1; id <= 2; id++) {
        put_number(&inner, 1, id);
        put_number(&inner, 2, 32 * (id - 1));
        put_number(&inner, 3, 32);
        put_message(&part, 9, &inner);
    }
    put_message(&all, 3, &part);
    put_bytes(&part, 1, STR("\x08\x01"));
    put_bytes(&part, 1, STR("\x08\x01"));
    put_message(&all, 4, &part);
    put_message(to, number, &all);
    text_free(&all);
    text_free(&part);
    text_free(&inner);
}

/* The module of hlo_small_text; its source comes by stack frame. */
static inline void put_small_module(struct text *module)
{
    struct text computation = {0}, rest = {0}, part = {0};

    put_text(module, 1, "jit_f");
    put_text(module, 2, "main");
    put_number(&rest, 9, 0);
    put_hlo_instruction(&computation, "p.1", "parameter", 1, &rest);
    put_text(&part, 2, "jit(f)/tanh");
    put_number(&part, 15, 1);
    put_message(&rest, 7, &part);
    put_bytes(&rest, 36, STR("\x01"));
    put_hlo_instruction(&computation, "tanh.2", "tanh", 2, &rest);
    end_computation(module, &computation, "fused", "p.1", 10, 2, true);
    put_number(&rest, 9, 0);
    put_hlo_instruction(&computation, "x.3", "parameter", 3, &rest);
    put_text(&rest, 11, "kLoop");
    put_bytes(&rest, 36, STR("\x03"));
    put_bytes(&rest, 38, STR("\x0a"));
    put_hlo_instruction(&computation, "fusion.4", "fusion", 4, &rest);
    end_computation(module, &computation, "main", "x.3", 11, 4, false);
    put_number(module, 5, 36);
    put_text(&part, 1, "a.py");
    put_bytes(&part, 3, STR("\x08\x01\x18\x07"));
    put_bytes(&part, 4, STR("\x08\x01"));
    put_message(module, 17, &part);
    text_free(&computation);
    text_free(&rest);
    text_free(&part);
}

static inline struct bytes small_proto(struct text *to)
{
    struct text module = {0};

    put_small_module(&module);
    put_message(to, 1, &module);
    put_buffers(to, 3);
    text_free(&module);
    return proto_bytes(to);
}

#endif
