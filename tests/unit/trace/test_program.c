/* SPDX-License-Identifier: Apache-2.0 */
/* The table of programs keeps blobs and documents, and refuses blobs that lie. */
#include "made_trace.h"

static void kept(void **state)
{
    (void)state;
    struct made made;
    struct arena *arena = arena_create();
    struct bytes blob;

    made_begin(&made);
    name_id name = sink_name(made.sink, STR("jit_f"));
    program_id program = sink_program(made.sink, 7, name, 0, BYTES("HloModule jit_f\n"));
    sink_program_fingerprint(made.sink, program, 99);
    sink_program_about(made.sink, program,
                       (struct program_about){.form = PROGRAM_TEXT,
                                              .stage = STAGE_AFTER,
                                              .computation_count = 3,
                                              .fusion_count = 2,
                                              .has_buffers = true});
    sink_program_about(made.sink, 5, (struct program_about){0}); /* there is none */
    for (int i = 2; i >= 1; i--)                                 /* not in the order of names */
        sink_instruction(made.sink, (struct instruction){
                                        .program = program,
                                        .name = sink_name(made.sink, i == 1 ? STR("") : STR("b")),
                                        .opcode = name});
    made_finish(&made);

    const struct program *kept = &made.trace.programs[0];
    CHECK_INT("fingerprint", kept->fingerprint, 99);
    CHECK_INT("form", kept->form, PROGRAM_TEXT);
    CHECK_INT("stage", kept->stage, STAGE_AFTER);
    CHECK_INT("computations", kept->computation_count, 3);
    CHECK_INT("fusions", kept->fusion_count, 2);
    CHECK("buffers", kept->has_buffers);
    CHECK_INT("instructions", kept->instruction_count, 2);
    CHECK("found", trace_instruction(&made.trace, 0, made.trace.instructions[1].name) ==
                       &made.trace.instructions[1]);
    CHECK_OK("blob", trace_program_blob(&made.trace, kept, arena, &blob, &made.err), &made.err);
    CHECK_STR("blob", ((struct str){(const char *)blob.at, blob.count}), "HloModule jit_f\n");
    made_end(&made);
    arena_destroy(arena);
}

static void documents(void **state)
{
    (void)state;
    const struct {
        const char *what, *content;
        uint64_t lines;
    } rows[] = {
        {"nothing", "", 0},
        {"a line", "kCopy\n", 1},
        {"a line without an end", "kCopy", 1},
        {"two, the last without an end", "kCopy\nkFusion", 2},
        {"an empty one", "\n\n", 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made made;
        struct arena *arena = arena_create();
        struct bytes blob;

        made_begin(&made);
        sink_document(made.sink, (struct bytes){.at = (const uint8_t *)rows[i].content,
                                                .count = strlen(rows[i].content)});
        made_finish(&made);
        CHECK_INT(rows[i].what, made.trace.document_count, 1);
        CHECK_INT(rows[i].what, made.trace.documents[0].line_count, rows[i].lines);
        CHECK_OK(
            rows[i].what,
            trace_document_blob(&made.trace, &made.trace.documents[0], arena, &blob, &made.err),
            &made.err);
        CHECK_STR(rows[i].what, ((struct str){(const char *)blob.at, blob.count}), rows[i].content);
        made_end(&made);
        arena_destroy(arena);
    }
}

/* A program whose blob lies, in a copy of the table. */
static void blobs_that_lie(void **state)
{
    (void)state;
    struct made made;
    struct arena *arena = arena_create();
    struct bytes blob;

    made_begin(&made);
    sink_program(made.sink, 7, 0, 0, BYTES("HloModule jit_f\n"));
    made_finish(&made);
    struct program lying = made.trace.programs[0];
    lying.blob_bytes++;
    struct error err = {0};
    CHECK("longer than it says", trace_program_blob(&made.trace, &lying, arena, &blob, &err) != OK);
    CHECK("a sentence", err.message[0] != '\0');
    lying = made.trace.programs[0];
    lying.blob_packed_bytes /= 2;
    err = (struct error){0};
    CHECK("cut off", trace_program_blob(&made.trace, &lying, arena, &blob, &err) != OK);
    made_end(&made);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept),
        cmocka_unit_test(documents),
        cmocka_unit_test(blobs_that_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
