/* SPDX-License-Identifier: Apache-2.0 */
/* Files that hold a module: as a proto, as a text, cut off, damaged. */
#include <stdlib.h>

#include "decoded.h"
#include "made_hlo.h"
#include "made_space.h"

static struct str name_of(const struct trace *trace, name_id id)
{
    return trace_name(trace, id);
}

/* Of the content alone: files of equal bytes share a segment, whatever their names. */
static void programs(void **state)
{
    (void)state;
    struct text proto = {0}, lone = {0};
    put_small_module(&lone);
    const struct {
        const char *file;
        struct bytes bytes;
        const char *format;
        int64_t id;
        enum program_stage stage;
        bool has_buffers;
    } rows[] = {
        {"module_0007.jit_f.before_optimizations.hlo.pb", small_proto(&proto), "hlo-proto", 36,
         STAGE_AFTER, true},
        {"f.pb", proto_bytes(&lone), "hlo-proto", 36, STAGE_UNKNOWN, false},
        {"module_0007.jit_f.before_optimizations.txt",
         {(const uint8_t *)hlo_small_text, sizeof hlo_small_text - 1},
         "hlo-text",
         0,
         STAGE_UNKNOWN,
         false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = decoded(NULL, str_of(rows[i].file), rows[i].bytes, arena, &err);
        CHECK_OK(rows[i].file, err.code, &err);
        CHECK_STR(rows[i].file, str_of(trace->format), rows[i].format);
        CHECK_INT(rows[i].file, trace->program_count, 1);
        const struct program *program = &trace->programs[0];
        CHECK_INT(rows[i].file, program->id, rows[i].id);
        CHECK_STR(rows[i].file, name_of(trace, program->name), "jit_f");
        CHECK_INT(rows[i].file, program->stage, rows[i].stage);
        CHECK_INT(rows[i].file, program->has_buffers, rows[i].has_buffers);
        CHECK_INT(rows[i].file, program->computation_count, 2);
        CHECK_INT(rows[i].file, program->instruction_count, 4);
        CHECK_INT(rows[i].file, program->fusion_count, 1);
        name_id tanh;
        CHECK(rows[i].file, trace_find_name(trace, STR("tanh.2"), &tanh));
        const struct instruction *found = trace_instruction(trace, 0, tanh);
        CHECK_STR(rows[i].file, name_of(trace, found->source), "a.py:7");
        CHECK_STR(rows[i].file, name_of(trace, found->scope), "jit(f)/tanh");
        CHECK_STR(rows[i].file, name_of(trace, found->category), "tanh");
        struct bytes blob;
        CHECK_OK(rows[i].file, trace_program_blob(trace, program, arena, &blob, &err), &err);
        CHECK(rows[i].file, blob.count == rows[i].bytes.count &&
                                memcmp(blob.at, rows[i].bytes.at, blob.count) == 0);
        arena_destroy(arena);
    }
    text_free(&proto);
    text_free(&lone);
}

static void documents(void **state)
{
    (void)state;
    const struct {
        const char *file, *text;
        int64_t lines;
    } rows[] = {
        {"module_0003.jit_f.thunk_sequence.txt", "kCopy\nkFusion\n", 2},
        {"report.txt", "BufferAssignment:\nallocation 0", 2},
        {"f.ll", "; ModuleID = 'jit_f'\n", 1},
        {"step.mlir", "module @jit_f {\n}\n\n", 3},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct bytes text = {(const uint8_t *)rows[i].text, strlen(rows[i].text)}, blob;
        const struct trace *trace = decoded(NULL, str_of(rows[i].file), text, arena, &err);
        CHECK_OK(rows[i].file, err.code, &err);
        CHECK_STR(rows[i].file, str_of(trace->format), "xla-dump");
        CHECK_INT(rows[i].file, trace->program_count, 0);
        CHECK_INT(rows[i].file, trace->document_count, 1);
        CHECK_INT(rows[i].file, trace->documents[0].line_count, rows[i].lines);
        CHECK_OK(rows[i].file, trace_document_blob(trace, &trace->documents[0], arena, &blob, &err),
                 &err);
        CHECK_STR(rows[i].file, ((struct str){(const char *)blob.at, blob.count}), rows[i].text);
        arena_destroy(arena);
    }
}

/* Whole instructions before the cut stay, and the damage is said. */
static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text proto = {0};
    struct error err = {0};
    struct bytes whole = small_proto(&proto);
    const uint8_t *fusion = memmem(whole.at, whole.count, "fusion.4", 8);

    const struct trace *trace = decoded(
        NULL, STR("a.pb"), (struct bytes){whole.at, (size_t)(fusion - whole.at)}, arena, &err);

    CHECK_OK("cut", err.code, &err);
    CHECK_INT("instructions", trace->programs[0].instruction_count, 3);
    CHECK_INT("notes", trace->note_count, 1);
    CHECK_STR("note", name_of(trace, trace->notes[0].kind), "corrupt");
    for (size_t count = 1; count < whole.count; count++) {
        struct error ignored = {0};
        (void)decoded(NULL, STR("a.pb"), (struct bytes){whole.at, count}, arena, &ignored);
    }
    text_free(&proto);
    arena_destroy(arena);
}

/* Every prefix of each kind of text, and a bit of every byte: a document, a module or a
 * sentence. */
static void damaged_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "BufferAssignment:\nallocation 0: size 8, parameter 0\n value: <0 a @0> (size=8,offset=0)",
        "module @jit_f {\n  func.func @main(%arg0: tensor<2xf32>) { return }\n}\n",
        "; ModuleID = 'jit_f'\ndefine void @f() { ret void }\n",
        "HloModule jit_f, entry\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t size = strlen(texts[i]);

        for (size_t at = 0; at < 2 * size; at++) {
            size_t kept = at < size ? at : size;
            uint8_t *copy = memory_resize(NULL, kept + 1, 1); /* its end is watched */
            struct arena *arena = arena_create();
            struct error err = {0};

            memcpy(copy + 1, texts[i], kept);
            if (at >= size)
                copy[1 + at - size] ^= (uint8_t)(1 << at % 8);
            const struct trace *trace =
                decoded(NULL, STR("m.txt"), (struct bytes){copy + 1, kept}, arena, &err);
            CHECK(texts[i], trace != NULL ? trace->document_count + trace->program_count <= 1
                                          : err.message[0] != '\0');
            arena_destroy(arena);
            free(copy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs),
        cmocka_unit_test(documents),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
