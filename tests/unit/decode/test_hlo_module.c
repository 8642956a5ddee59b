/* SPDX-License-Identifier: Apache-2.0 */
/* Text, proto and the text printed of the proto are one module; lines, buffers, damage. */
#include "check.h"
#include <stdlib.h>

#include "decode/hlo/hlo_module.h"
#include "made_hlo.h"

static struct bytes text_bytes(const char *text)
{
    return (struct bytes){.at = (const uint8_t *)text, .count = strlen(text)};
}

static struct hlo_module read_ok(const char *what, struct bytes blob, enum program_form form,
                                 struct arena *arena)
{
    struct error err = {0};
    struct hlo_module module;

    CHECK_OK(what, hlo_module_read(blob, form, arena, &module, &err), &err);
    return module;
}

static void put_lines(struct text *out, const struct hlo_module *module)
{
    uint32_t computation, instruction;

    for (uint32_t line = 0; line < module->line_count; line++) {
        hlo_put_line(out, module, line, &computation, &instruction);
        text_puts(out, "\n");
    }
}

static void check_small(const char *what, const struct hlo_module *module)
{
    CHECK_STR(what, module->name, "jit_f");
    CHECK_STR(what, module->entry, "main");
    CHECK_INT(what, module->computation_count, 2);
    CHECK_INT(what, module->instruction_count, 4);
    CHECK_INT(what, module->damaged_count, 0);
    CHECK(what, module->computations[0].is_fused && !module->computations[0].is_entry);
    CHECK(what, !module->computations[1].is_fused && module->computations[1].is_entry);
    CHECK_INT(what, module->computations[1].line, 7);

    const struct hlo_instruction *tanh =
        &module->instructions[hlo_module_find(module, STR("tanh.2"))];
    CHECK_STR(what, tanh->opcode, "tanh");
    CHECK_STR(what, tanh->scope, "jit(f)/tanh");
    CHECK_STR(what, tanh->file, "a.py");
    CHECK_INT(what, tanh->source_line, 7);
    CHECK(what, tanh->is_root);
    CHECK_INT(what, tanh->operand_count, 1);
    CHECK_INT(what, module->operands[tanh->first_operand], 0);

    const struct hlo_instruction *fusion =
        &module->instructions[hlo_module_find(module, STR("fusion.4"))];
    CHECK_STR(what, fusion->fusion_kind, "kLoop");
    CHECK_INT(what, fusion->computation, 1);
    CHECK_INT(what, fusion->called_count, 1);
    CHECK_INT(what, module->called[fusion->first_called], 0);
    CHECK_INT(what, module->operands[fusion->first_operand], 2);
    CHECK_INT(what, hlo_module_find(module, STR("lost")), HLO_NONE);
    CHECK_INT(what, hlo_module_find_computation(module, STR("fused")), 0);
}

/* Text, proto and the text printed of the proto are one module, to the letter. */
static void one_module(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text proto = {0}, lone = {0}, printed = {0};
    struct hlo_module from_text = read_ok("text", text_bytes(hlo_small_text), PROGRAM_TEXT, arena);
    struct hlo_module from_proto = read_ok("proto", small_proto(&proto), PROGRAM_PROTO, arena);

    check_small("text", &from_text);
    check_small("proto", &from_proto);
    CHECK_INT("number", from_proto.id, 36);
    put_lines(&printed, &from_proto);
    CHECK_STR("printed", text_str(&printed), hlo_small_text);
    printed.count = 0;
    put_lines(&printed, &from_text);
    CHECK_STR("as it stands", text_str(&printed), hlo_small_text);
    put_small_module(&lone);
    struct hlo_module alone = read_ok("alone", proto_bytes(&lone), PROGRAM_PROTO, arena);
    check_small("without a HloProto around it", &alone);
    CHECK("no buffers", !alone.has_buffers);
    text_free(&proto);
    text_free(&lone);
    text_free(&printed);
    arena_destroy(arena);
}

static void lines(void **state)
{
    (void)state;
    const struct {
        uint32_t line;
        const char *text;
        uint32_t computation, instruction;
    } rows[] = {
        {0, "HloModule jit_f", HLO_NONE, HLO_NONE},
        {1, "", HLO_NONE, HLO_NONE},
        {2, "%fused (p.1: f32[8]) -> f32[8] {", 0, HLO_NONE},
        {3, "  %p.1 = f32[8]{0} parameter(0)", 0, 0},
        {5, "}", 0, HLO_NONE},
        {9, "  ROOT %fusion.4 = f32[8]{0} fusion(%x.3), kind=kLoop, calls=%fused", 1, 3},
        {99, "", 1, HLO_NONE},
    };
    struct arena *arena = arena_create();
    struct text proto = {0}, out = {0};
    struct hlo_module modules[] = {
        read_ok("text", text_bytes(hlo_small_text), PROGRAM_TEXT, arena),
        read_ok("proto", small_proto(&proto), PROGRAM_PROTO, arena),
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(modules); k++) {
            uint32_t computation, instruction;
            out.count = 0;
            if (rows[i].line < modules[k].line_count) {
                hlo_put_line(&out, &modules[k], rows[i].line, &computation, &instruction);
                CHECK_STR(rows[i].text, text_str(&out), rows[i].text);
                CHECK_INT(rows[i].text, computation, rows[i].computation);
                CHECK_INT(rows[i].text, instruction, rows[i].instruction);
            }
        }
    text_free(&proto);
    text_free(&out);
    arena_destroy(arena);
}

static void buffers(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text proto = {0};
    struct hlo_module module = read_ok("proto", small_proto(&proto), PROGRAM_PROTO, arena);

    CHECK("said", module.has_buffers);
    CHECK_INT("buffers", module.buffer_count, 2);
    CHECK_STR("defined by", module.instructions[module.buffers[1].instruction].name, "fusion.4");
    CHECK_INT("allocations", module.allocation_count, 1);
    CHECK_INT("size", module.allocations[0].size_bytes, 64);
    CHECK("live out", module.allocations[0].is_live_out && !module.allocations[0].is_parameter);
    CHECK_INT("assigned", module.allocations[0].assigned_count, 2);
    CHECK_INT("offset", module.assigned[1].offset, 32);
    CHECK_INT("heap", module.heap_traces[0].event_count, 2);
    CHECK_INT("heap events", module.heap_event_count, 2);
    CHECK_INT("a free", module.heap_events[1].kind, HLO_HEAP_FREE);
    text_free(&proto);
    arena_destroy(arena);
}

/* Of one instruction line: what is read from it. */
static void text_forms(void **state)
{
    (void)state;
    const struct {
        const char *what, *line, *name, *opcode, *shape;
        uint32_t operands, called;
        const char *scope, *file;
        int64_t source_line;
    } rows[] = {
        {"no percent signs", "y = f32[] add(x, x)", "y", "add", "f32[]", 2, 0, "", "", 0},
        {"shapes of operands", "%y = f32[] add(f32[] %x, f32[] %x)", "y", "add", "f32[]", 2, 0, "",
         "", 0},
        {"a tuple", "%y = (f32[], /*index=1*/s32[2]{0}) tuple(%x, /*index=1*/%x)", "y", "tuple",
         "(f32[], /*index=1*/s32[2]{0})", 2, 0, "", "", 0},
        {"a constant with commas", "%y = f32[2] constant({1, 2})", "y", "constant", "f32[2]", 0, 0,
         "", "", 0},
        {"brackets in quotes",
         "%y = f32[] custom-call(%x), custom_call_target=\"a\\\")(\", "
         "metadata={op_name=\"f(a=1, b={2})\" source_file=\"m.py\" "
         "source_line=12}",
         "y", "custom-call", "f32[]", 1, 0, "f(a=1, b={2})", "m.py", 12},
        {"two calls", "%y = f32[] while(%x), condition=%c, body=%c", "y", "while", "f32[]", 1, 2,
         "", "", 0},
        {"a list of calls", "%y = f32[] conditional(%x), branch_computations={%c, %c, %lost}", "y",
         "conditional", "f32[]", 1, 3, "", "", 0},
        {"an operand that is not there", "%y = f32[] negate(%lost)", "y", "negate", "f32[]", 1, 0,
         "", "", 0},
        {"cut off in its operands", "%y = f32[] add(%x, ", "y", "add", "f32[]", 1, 0, "", "", 0},
        {"a shape alone", "%y = f32[]", "y", "", "f32[]", 0, 0, "", "", 0},
        {"a tiled layout", "%y = bf16[8,128]{1,0:T(8,128)S(1)} copy(%x)", "y", "copy",
         "bf16[8,128]{1,0:T(8,128)S(1)}", 1, 0, "", "", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct text text = {0};
        text_putf(&text,
                  "HloModule m, is_scheduled=true\n%%c (a: f32[]) -> f32[] {\n}\n"
                  "ENTRY %%e (x: f32[]) -> f32[] {\n  %%x = f32[] parameter(0)\n  %s\n}\n",
                  rows[i].line);
        struct hlo_module module = read_ok(rows[i].what, proto_bytes(&text), PROGRAM_TEXT, arena);
        const struct hlo_instruction *y = &module.instructions[module.instruction_count - 1];
        CHECK_INT(rows[i].what, module.instruction_count, 2);
        CHECK_STR(rows[i].what, y->name, rows[i].name);
        CHECK_STR(rows[i].what, y->opcode, rows[i].opcode);
        CHECK_STR(rows[i].what, ((struct str){(const char *)y->shape.at, y->shape.count}),
                  rows[i].shape);
        CHECK_INT(rows[i].what, y->operand_count, rows[i].operands);
        CHECK_INT(rows[i].what, y->called_count, rows[i].called);
        CHECK_STR(rows[i].what, y->scope, rows[i].scope);
        CHECK_STR(rows[i].what, y->file, rows[i].file);
        CHECK_INT(rows[i].what, y->source_line, rows[i].source_line);
        text_free(&text);
        arena_destroy(arena);
    }
}

static void frames_in_text(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct hlo_module module = read_ok(
        "frames",
        BYTES("HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\nFunctionNames\n1 \"f\"\n\n"
              "FileLocations\n1 {file_name_id=2 function_name_id=1 line=9 column=4}\n\n"
              "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
              "2 {file_location_id=1 parent_frame_id=2}\n3 {file_location_id=1}\n\n"
              "ENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1), "
              "metadata={op_name=\"c\" stack_frame_id=2}\n}\n"),
        PROGRAM_TEXT, arena);
    struct hlo_frame frame;

    CHECK_STR("file", module.instructions[0].file, "b.py");
    CHECK_INT("line", module.instructions[0].source_line, 9);
    CHECK("frame", hlo_frame_get(&module.frames, 2, &frame));
    CHECK_STR("function", frame.function, "f");
    CHECK_INT("parent", frame.parent, 1);
    CHECK("first frame", hlo_frame_get(&module.frames, 1, &frame));
    CHECK_INT("the outermost", frame.parent, 0);
    CHECK("third frame", hlo_frame_get(&module.frames, 3, &frame));
    CHECK_INT("nothing printed", frame.parent, 0);
    CHECK("no such frame", !hlo_frame_get(&module.frames, 4, &frame));
    arena_destroy(arena);
}

/* Two bytes of a file make a record of 32: there is a bound. */
static void too_many_frames(void **state)
{
    (void)state;
    const uint32_t count = HLO_FRAMES_MAX + 1;
    struct arena *arena = arena_create();
    uint8_t *message = arena_array(arena, uint8_t, 2 * (size_t)count);
    struct hlo_frames frames = {0};
    struct error err = {0};

    for (uint32_t i = 0; i < count; i++)
        message[2 * (size_t)i] = 0x22; /* an empty frame */
    struct bytes bytes = {.at = message, .count = 2 * (size_t)count};
    struct pb pb = pb_open(bytes, &err);
    CHECK("told", !hlo_frames_read(&frames, arena, &pb, bytes));
    CHECK_INT("kept", frames.frames.count, HLO_FRAMES_MAX);
    arena_destroy(arena);
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct bytes blob;
        enum program_form form;
    } rows[] = {
        {"no bytes", BYTES(""), PROGRAM_PROTO},
        {"no module", BYTES("\x12\x00"), PROGRAM_PROTO},
        {"no text", BYTES(""), PROGRAM_TEXT},
        {"prose", BYTES("There is no module here.\n"), PROGRAM_TEXT},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct hlo_module module;
        struct error err = {0};
        CHECK_INT(rows[i].what, hlo_module_read(rows[i].blob, rows[i].form, arena, &module, &err),
                  ERR_FORMAT);
        arena_destroy(arena);
    }
}

static void read_and_print(struct bytes blob, enum program_form form)
{
    struct arena *arena = arena_create();
    struct hlo_module module;
    struct text out = {0};
    struct error err = {0};

    if (hlo_module_read(blob, form, arena, &module, &err) == OK)
        put_lines(&out, &module);
    text_free(&out);
    arena_destroy(arena);
}

/* Sanitizers watch: no byte outside is read, whatever the module is. */
static void any_damage(void **state)
{
    (void)state;
    struct text proto = {0};
    struct bytes samples[] = {small_proto(&proto), text_bytes(hlo_small_text)};

    for (size_t form = 0; form < COUNT(samples); form++) {
        uint8_t *copy = memory_resize(NULL, samples[form].count, 1);
        for (size_t count = 0; count <= samples[form].count; count++) {
            uint8_t *prefix = memory_resize(NULL, count + 1, 1); /* its end is watched */
            memcpy(prefix + 1, samples[form].at, count);
            read_and_print((struct bytes){prefix + 1, count}, (enum program_form)form);
            free(prefix);
        }
        for (size_t bit = 0; bit < samples[form].count * 8; bit++) {
            memcpy(copy, samples[form].at, samples[form].count);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            read_and_print((struct bytes){copy, samples[form].count}, (enum program_form)form);
        }
        free(copy);
    }
    text_free(&proto);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_module),     cmocka_unit_test(lines),
        cmocka_unit_test(buffers),        cmocka_unit_test(text_forms),
        cmocka_unit_test(frames_in_text), cmocka_unit_test(too_many_frames),
        cmocka_unit_test(refused),        cmocka_unit_test(any_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
