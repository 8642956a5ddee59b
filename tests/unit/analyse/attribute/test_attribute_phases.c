/* SPDX-License-Identifier: Apache-2.0 */
/* What part of a step ops are that their own scopes leave open: by calls, loops, what they fuse,
 * and by the gradients of TensorFlow's layers. */
#include "unit/analyse/made_run.h"

#include "analyse/hlo/phase.h"

static const char module_text[] =
    "HloModule jit_step\n\n"
    "FileNames\n1 \"/lib/optax/_src/transform.py\"\n2 \"train.py\"\n\n"
    "FunctionNames\n1 \"update_fn\"\n2 \"step\"\n\n"
    "FileLocations\n"
    "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n"
    "2 {file_name_id=2 function_name_id=2 line=2 end_line=2 column=1 end_column=2}\n\n"
    "StackFrames\n"
    "1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n\n"
    "%both (p: f32[]) -> f32[] {\n"
    "  %p.1 = f32[] parameter(0)\n"
    "  %f.1 = f32[] sine(%p.1), metadata={op_name=\"jit(step)/jvp()/sin\"}\n"
    "  ROOT %b.1 = f32[] cosine(%f.1), metadata={op_name=\"jit(step)/transpose(jvp())/cos\"}\n"
    "}\n\n"
    "%one (p: f32[]) -> f32[] {\n"
    "  %p.2 = f32[] parameter(0)\n"
    "  ROOT %f.2 = f32[] sine(%p.2), metadata={op_name=\"jit(step)/jvp()/sin\"}\n"
    "}\n\n"
    "%body (p: f32[]) -> f32[] {\n"
    "  %p.3 = f32[] parameter(0)\n"
    "  %in_loop = f32[] copy(%p.3)\n"
    "  ROOT %metric = f32[] add(%in_loop, %p.3), metadata={op_name=\"jit(step)/add\"}\n"
    "}\n\n"
    "%twice (p: f32[]) -> f32[] {\n"
    "  %p.4 = f32[] parameter(0)\n"
    "  ROOT %in_two = f32[] copy(%p.4)\n"
    "}\n\n"
    "ENTRY %main (p: f32[]) -> f32[] {\n"
    "  %p.5 = f32[] parameter(0)\n"
    "  %by_calls = f32[] add(%p.5, %p.5), metadata={op_name=\"jit(step)/add\" stack_frame_id=2}\n"
    "  %by_user = f32[] add(%p.5, %p.5), metadata={op_name=\"jit(step)/add\" stack_frame_id=1}\n"
    "  %copied = f32[] copy(%p.5)\n"
    "  %mixed = f32[] fusion(%p.5), kind=kLoop, calls=%both\n"
    "  %agreed = f32[] fusion(%p.5), kind=kLoop, calls=%one\n"
    "  %loop = f32[] while(%p.5), condition=%one, body=%body, "
    "metadata={op_name=\"jit(step)/transpose(jvp())/while\"}\n"
    "  %call.1 = f32[] call(%p.5), to_apply=%twice, metadata={op_name=\"jit(step)/jvp()/f\"}\n"
    "  ROOT %call.2 = f32[] call(%p.5), to_apply=%twice, "
    "metadata={op_name=\"jit(step)/transpose(jvp())/f\"}\n"
    "}\n";

static void by_the_module(void **state)
{
    (void)state;
    const struct {
        const char *op, *scope, *want;
    } rows[] = {
        {"by_calls", "jit(step)/add", "optimizer"},
        {"by_user", "jit(step)/add", "unknown"},
        {"copied", "", "unknown"},
        {"mixed", "", "unknown"},
        {"agreed", "", "forward"},
        {"in_loop", "", "backward"},
        {"metric", "jit(step)/add", "unknown"},
        {"in_two", "", "unknown"},
        {"not_in_it", "jit(step)/jvp()/sin", "forward"},
    };
    struct made_run run;

    run_begin(&run);

    struct sink *sink = run.made.sink;
    program_id program =
        sink_program(sink, 7, sink_name(sink, STR("jit_step")), 99,
                     (struct bytes){(const uint8_t *)module_text, strlen(module_text)});

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    for (size_t i = 0; i < COUNT(rows); i++)
        sink_instruction(
            sink,
            (struct instruction){
                .program = program,
                .name = sink_name(sink, str_of(rows[i].op)),
                .opcode = sink_name(sink, STR("add")),
                .scope = rows[i].scope[0] == '\0' ? 0 : sink_name(sink, str_of(rows[i].scope)),
            });

    track_id pool = run_thread(&run, "pool");

    for (size_t i = 0; i < COUNT(rows); i++)
        run_cpu_op(&run, pool, (int64_t)i * 100, 50, rows[i].op, 7, 1, 0, 0);
    run_finish(&run);
    CHECK_INT("ops", run.attribution.op_count, COUNT(rows));
    for (uint32_t i = 0; i < run.attribution.op_count; i++)
        CHECK_STR(rows[i].op,
                  str_of(phase_word(phase_of_op(run.host.trace, &run.attribution.ops[i]))),
                  rows[i].want);
    run_end(&run);
}

/* Of layers in "sequential/dense" a gradient is in the trace; of the metric there is none. */
static void by_gradients(void **state)
{
    (void)state;
    const struct {
        const char *scope, *want;
    } rows[] = {
        {"gradient_tape/sequential/dense/MatMul/MatMul_1", "backward"},
        {"sequential/dense/MatMul", "forward"},
        {"sequential/dense/BiasAdd", "forward"},
        {"sequential/other/Relu", "unknown"},
        {"metric/Equal", "unknown"},
        {"Adam/Adam/update/ResourceApplyAdam", "optimizer"},
    };
    struct made_run run;

    run_begin(&run);

    track_id stream = run_stream(&run, "stream 7", ROLE_OPS, 0);

    for (size_t i = 0; i < COUNT(rows); i++) {
        run_slice(&run, stream, (int64_t)i * 100, 50, rows[i].scope, KIND_COMPUTE);
        run_text(&run, "tf_op", rows[i].scope);
    }
    run_finish(&run);
    CHECK_INT("ops", run.attribution.op_count, COUNT(rows));
    for (uint32_t i = 0; i < run.attribution.op_count; i++)
        CHECK_STR(rows[i].scope,
                  str_of(phase_word(phase_of_op(run.host.trace, &run.attribution.ops[i]))),
                  rows[i].want);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_module),
                                       cmocka_unit_test(by_gradients)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
