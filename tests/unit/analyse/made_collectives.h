/* SPDX-License-Identifier: Apache-2.0 */
/* Runs whose devices communicate, for tests of collectives and of rules about them. */
#ifndef JVIEWD_TESTS_MADE_COLLECTIVES_H
#define JVIEWD_TESTS_MADE_COLLECTIVES_H

#include "unit/analyse/made_run.h"

static const char module_text[] =
    "HloModule jit_f\n"
    "\n"
    "ENTRY %main (p: f32[1000]) -> f32[1000] {\n"
    "  %p = f32[1000]{0} parameter(0)\n"
    "  %dot.1 = f32[1000]{0} add(f32[1000]{0} %p, f32[1000]{0} %p)\n"
    "  %ar = f32[1000]{0} all-reduce(f32[1000]{0} %dot.1), replica_groups={{0,1}}, to_apply=%s\n"
    "  %ag-start = (f32[1000]{0}, f32[2000]{0}) all-gather-start(f32[1000]{0} %ar), "
    "replica_groups={{0,1}}, dimensions={0}\n"
    "  %ag-done = f32[2000]{0} all-gather-done((f32[1000]{0}, f32[2000]{0}) %ag-start)\n"
    "  %pp = f32[1000]{0} collective-permute(f32[1000]{0} %ar), source_target_pairs={{0,1},{1,0}}\n"
    "  %aa = f32[1000]{0} all-to-all(f32[1000]{0} %ar), replica_groups={}\n"
    "  %pp-start = (f32[1000]{0}, f32[1000]{0}) collective-permute-start(f32[1000]{0} %ar), "
    "source_target_pairs={{0,1},{1,0}}\n"
    "  %pp-done = f32[1000]{0} collective-permute-done((f32[1000]{0}, f32[1000]{0}) %pp-start)\n"
    "  ROOT %w = f32[1000]{0} while(f32[1000]{0} %pp), condition=%s, body=%s\n"
    "}\n";

/* A program with opcodes as a decoder of HLO tells them. */
static inline void add_program_of(struct made_run *run, struct bytes text)
{
    static const char *const names[][2] = {{"dot.1", "add"},
                                           {"ar", "all-reduce"},
                                           {"ag-start", "all-gather-start"},
                                           {"ag-done", "all-gather-done"},
                                           {"pp", "collective-permute"},
                                           {"aa", "all-to-all"},
                                           {"pp-start", "collective-permute-start"},
                                           {"pp-done", "collective-permute-done"},
                                           {"w", "while"}};
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 99, text);

    sink_program_about(sink, program,
                       (struct program_about){.form = PROGRAM_TEXT, .stage = STAGE_AFTER});
    for (size_t i = 0; i < COUNT(names); i++)
        sink_instruction(sink, (struct instruction){
                                   .program = program,
                                   .name = sink_name(sink, str_of(names[i][0])),
                                   .opcode = sink_name(sink, str_of(names[i][1])),
                                   .category = sink_name(sink, str_of(names[i][1])),
                               });
}

static inline void add_program(struct made_run *run)
{
    add_program_of(run, BYTES(module_text));
}

static inline enum kind kind_of_op(const char *op)
{
    return strcmp(op, "dot.1") == 0 || strcmp(op, "w") == 0 ? KIND_COMPUTE : KIND_COMMUNICATION;
}

static inline void add_op(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                          const char *op, int64_t run_id)
{
    run_slice(run, track, start_ps, dur_ps, op, kind_of_op(op));
    run_text(run, "hlo_op", op);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "program_id", 7);
    run_int(run, "run_id", run_id);
}

#endif
