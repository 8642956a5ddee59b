/* SPDX-License-Identifier: Apache-2.0 */
/* Stack frames of HLO as one tree: whole stacks, cut ones, and those completed by others. */
#include "unit/analyse/made_run.h"

#include "analyse/flame/flame.h"
#include "analyse/hlo/op_stacks.h"

/* Frames as HLO text has them: a line a call, each below the one before; ids count from 1. */
struct made_stacks {
    struct text files, functions, locations, frames, instructions;
    uint32_t function_count, frame_count;
};

/* Adds the stack "f:1 g:2 ..." (the outermost call first) and an instruction that it made. */
static void add_stack(struct made_stacks *stacks, const char *calls, const char *instruction)
{
    uint32_t parent = 0;
    char copy[1024], *rest = copy;

    snprintf(copy, sizeof copy, "%s", calls);
    for (char *call; (call = strtok_r(rest, " ", &rest)) != NULL;) {
        char *line = strchr(call, ':');

        *line++ = '\0';
        text_putf(&stacks->functions, "%u \"%s\"\n", ++stacks->function_count, call);
        text_putf(&stacks->locations,
                  "%u {file_name_id=1 function_name_id=%u line=%s end_line=%s column=1 "
                  "end_column=2}\n",
                  stacks->function_count, stacks->function_count, line, line);
        text_putf(&stacks->frames, "%u {file_location_id=%u parent_frame_id=%u}\n",
                  ++stacks->frame_count, stacks->function_count, parent + 1);
        parent = stacks->frame_count;
    }
    text_putf(&stacks->instructions, "  %%%s = f32[] constant(0)", instruction);
    if (parent > 0)
        text_putf(&stacks->instructions, ", metadata={op_name=\"x\" stack_frame_id=%u}", parent);
    text_puts(&stacks->instructions, "\n");
}

static void put_module(struct made_run *run, struct made_stacks *stacks,
                       const char *const *instructions)
{
    struct sink *sink = run->made.sink;
    struct text text = {0};

    text_puts(&text, "HloModule jit_f\n\nFileNames\n1 \"model.py\"\n\nFunctionNames\n");
    text_put(&text, stacks->functions.at, stacks->functions.count);
    text_puts(&text, "\nFileLocations\n");
    text_put(&text, stacks->locations.at, stacks->locations.count);
    text_puts(&text, "\nStackFrames\n");
    text_put(&text, stacks->frames.at, stacks->frames.count);
    text_puts(&text, "\nENTRY %main {\n");
    text_put(&text, stacks->instructions.at, stacks->instructions.count);
    text_puts(&text, "}\n");

    program_id program =
        sink_program(sink, 7, sink_name(sink, STR("jit_f")), 99,
                     (struct bytes){.at = (const uint8_t *)text.at, .count = text.count});

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    for (; *instructions != NULL; instructions++)
        sink_instruction(sink, (struct instruction){
                                   .program = program,
                                   .name = sink_name(sink, str_of(*instructions)),
                                   .opcode = sink_name(sink, STR("dot")),
                               });
    text_free(&text);
    text_free(&stacks->functions);
    text_free(&stacks->locations);
    text_free(&stacks->frames);
    text_free(&stacks->instructions);
}

/* Ops a, b, ... of one stack each run for 10, 20, ... ns, one after the other. */
static void make_run(struct made_run *run, const char *const *calls, size_t count)
{
    static const char *const names[] = {"a", "b", "c", "d", NULL};
    struct made_stacks stacks = {0};
    int64_t at_ps = 0;

    run_begin(run);
    for (size_t i = 0; i < count; i++)
        add_stack(&stacks, calls[i], names[i]);
    put_module(run, &stacks, names);

    track_id pool = run_thread(run, "pool");

    for (size_t i = 0; i < count; i++) {
        run_cpu_op(run, pool, at_ps, (int64_t)(i + 1) * 10000, names[i], 7, 1, 0, 0);
        at_ps += (int64_t)(i + 1) * 10000;
    }
    run_finish(run);
}

static void folded(void **state)
{
    (void)state;
    const struct {
        const char *what, *calls[4], *by, *folded;
        int cut_noted;
    } rows[] = {
        {"whole stacks share their callers",
         {"<module>:1 main:2 loss:3", "<module>:1 main:2 loss:4"},
         "stack",
         "<module> (model.py:1);main (model.py:2);loss (model.py:4);b 20\n"
         "<module> (model.py:1);main (model.py:2);loss (model.py:3);a 10\n",
         0},
        {"an op without a stack",
         {"<module>:1 main:2", ""},
         "stack",
         "(no Python stack);b 20\n<module> (model.py:1);main (model.py:2);a 10\n",
         0},
        {"cut, and completed by a whole one of the same two calls",
         {"<module>:1 run:9 c1:1", "run:9 c1:1 c2:1 c3:1 c4:1 c5:1 c6:1 c7:1 c8:1 c9:1"},
         "stack",
         "<module> (model.py:1);run (model.py:9);c1 (model.py:1);c2 (model.py:1);"
         "c3 (model.py:1);c4 (model.py:1);c5 (model.py:1);c6 (model.py:1);c7 (model.py:1);"
         "c8 (model.py:1);c9 (model.py:1);b 20\n"
         "<module> (model.py:1);run (model.py:9);c1 (model.py:1);a 10\n",
         1},
        {"cut, and two whole ones claim it",
         {"<module>:1 run:9 c1:1", "<module>:2 run:9 c1:1",
          "run:9 c1:1 c2:1 c3:1 c4:1 c5:1 c6:1 c7:1 c8:1 c9:1"},
         "stack",
         "(callers cut off);run (model.py:9);c1 (model.py:1);c2 (model.py:1);c3 (model.py:1);"
         "c4 (model.py:1);c5 (model.py:1);c6 (model.py:1);c7 (model.py:1);c8 (model.py:1);"
         "c9 (model.py:1);c 30\n"
         "<module> (model.py:2);run (model.py:9);c1 (model.py:1);b 20\n"
         "<module> (model.py:1);run (model.py:9);c1 (model.py:1);a 10\n",
         1},
        {"a thread begins in no module, and is not cut at three calls",
         {"target:5 f:6 g:7"},
         "stack",
         "target (model.py:5);f (model.py:6);g (model.py:7);a 10\n",
         0},
        {"no frames at all: by track", {"", ""}, "track", "pool;b 20\npool;a 10\n", 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct error err = {0};
        struct flame flame_;
        struct text text = {0};
        size_t count = 0;

        while (count < COUNT(rows[i].calls) && rows[i].calls[count] != NULL)
            count++;
        make_run(&run, rows[i].calls, count);
        CHECK_OK(rows[i].what,
                 flame(&run.run, &(struct restriction){0},
                       &(struct flame_question){.by = STR("stack")}, run.made.arena, &flame_, &err),
                 &err);
        CHECK_STR(rows[i].what, flame_.by, rows[i].by);
        flame_folded(&flame_, &text);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].folded);
        CHECK_INT(rows[i].what, flame_.note_count, rows[i].cut_noted);
        text_free(&text);
        run_end(&run);
    }
}

/* Damaged programs tell nothing and break nothing: every prefix, and each byte changed. */
static void damaged(void **state)
{
    (void)state;
    static const char *const names[] = {"a", NULL};
    const char text[] = "HloModule m\n\nFileNames\n1 \"f.py\"\n\nFunctionNames\n1 \"g\"\n\n"
                        "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7}\n\n"
                        "StackFrames\n1 {file_location_id=1}\n2 {file_location_id=1 "
                        "parent_frame_id=3}\n\nENTRY %e {\n"
                        "  ROOT %a = f32[] constant(0), metadata={stack_frame_id=2}\n}\n";

    for (size_t i = 0; i < 2 * sizeof text; i++) {
        char copy[sizeof text];
        struct made_run run;
        struct op_stacks stacks;

        memcpy(copy, text, sizeof text);
        copy[i / 2] = (char)(copy[i / 2] ^ (i % 2 != 0 ? 0x12 : 0x01));
        run_begin(&run);
        program_id program =
            sink_program(run.made.sink, 7, sink_name(run.made.sink, STR("m")), 1,
                         (struct bytes){.at = (const uint8_t *)copy,
                                        .count = i % 2 != 0 ? sizeof text - 1 : i / 2});
        sink_program_about(run.made.sink, program, (struct program_about){.form = PROGRAM_TEXT});
        sink_instruction(run.made.sink,
                         (struct instruction){.program = program,
                                              .name = sink_name(run.made.sink, str_of(names[0]))});
        run_cpu_op(&run, run_thread(&run, "t"), 0, 10, "a", 7, 1, 0, 0);
        run_finish(&run);
        op_stacks_read(&run.host, NULL, run.made.arena, &stacks);
        for (uint32_t k = 0; k < stacks.frame_count; k++)
            CHECK("parents stand before",
                  stacks.frames[k].parent == NO_FRAME || stacks.frames[k].parent < k);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded),
        cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
