/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that wait for the ops whose results they take, as the HLO of their program tells. */
#include "unit/analyse/critical/made_steps.h"

#define PARAMETER                                                                                  \
    "HloModule jit_f\n\nENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
#define JOINS                                                                                      \
    PARAMETER "  %a = f32[8]{0} exponential(%p)\n  %b = f32[8]{0} negate(%p)\n"                    \
              "  %cast = f32[8]{0} bitcast(%a)\n  ROOT %c = f32[8]{0} add(%cast, %b)\n}\n"
#define PARTS                                                                                      \
    PARAMETER "  %a = f32[8]{0} exponential(%p)\n  %b = f32[8]{0} negate(%p)\n"                    \
              "  %both = (f32[8]{0}, f32[8]{0}) tuple(%a, %b)\n"                                   \
              "  %part = f32[8]{0} get-tuple-element(%both), index=1\n"                            \
              "  ROOT %c = f32[8]{0} negate(%part)\n}\n"
#define APART                                                                                      \
    PARAMETER "  %a = f32[8]{0} exponential(%p)\n  %b = f32[8]{0} negate(%p)\n"                    \
              "  ROOT %c = f32[8]{0} negate(%b)\n}\n"
#define COPIES                                                                                     \
    PARAMETER "  %copy-start.1 = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%p)\n"                   \
              "  %copy-start.2 = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%p)\n"                   \
              "  %copy-done.1 = f32[8]{0} copy-done(%copy-start.1)\n"                              \
              "  ROOT %copy-done.2 = f32[8]{0} copy-done(%copy-start.2)\n}\n"

static void begin(struct made_run *run, const char *text)
{
    const struct bytes module = {(const uint8_t *)text, strlen(text)};

    run_begin(run);
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, module);

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
}

/* a and b run beside each other, c long after b and right after a.
 *
 *   one   |a 60 ................|
 *   two   |b 20 ...|               |c 35 ..|
 */
static void draw_branches(struct made_run *run)
{
    track_id one = run_thread(run, "tf_XLAEigen/1"), two = run_thread(run, "tf_XLAEigen/2");

    run_cpu_op(run, one, 0, 60 * US, "a", 7, 1, 0, 0);
    run_cpu_op(run, two, 0, 20 * US, "b", 7, 1, 0, 0);
    run_cpu_op(run, two, 65 * US, 35 * US, "c", 7, 1, 0, 0);
}

static void an_operand_holds_its_user(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const char *module;
        const char *path;
    } rows[] = {
        {"c takes a, through a bitcast", JOINS, "a 60, scheduling delay 5, c 35"},
        {"of a tuple's part nobody knows", PARTS, "a 60, ~scheduling delay 5, ~c 35"},
        {"c does not take a", APART, "a 60, ~scheduling delay 5, ~c 35"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        begin(&run, rows[i].module);
        draw_branches(&run);
        run_finish(&run);
        check_path(rows[i].what, &run, -1, rows[i].path);
        run_end(&run);
    }
}

static const char *name_of_op(const struct made_run *run, uint32_t op)
{
    return trace_name(&run->made.trace, run->attribution.ops[op].name).at;
}

static void needs_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *module;
        const char *needs;
    } rows[] = {
        {JOINS, "c<a c<b "},
        {PARTS, ""},
        {APART, "c<b "},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        char told[64] = "";

        begin(&run, rows[i].module);
        draw_branches(&run);
        run_finish(&run);
        for (uint32_t k = 0; k < run.attribution.need_count; k++) {
            const struct op_need *need = &run.attribution.needs[k];
            size_t at = strlen(told);

            snprintf(told + at, sizeof told - at, "%.1s<%.1s ", name_of_op(&run, need->op),
                     name_of_op(&run, need->from));
        }
        CHECK_STR("needs", str_of(told), rows[i].needs);
        run_end(&run);
    }
}

/* Another execution's op is nobody's operand here. */
static void within_one_execution(void **state)
{
    (void)state;
    struct made_run run;

    begin(&run, JOINS);
    track_id one = run_thread(&run, "tf_XLAEigen/1"), two = run_thread(&run, "tf_XLAEigen/2");

    run_cpu_op(&run, one, 0, 60 * US, "a", 7, 1, 0, 0);
    run_cpu_op(&run, two, 0, 20 * US, "b", 7, 2, 0, 0);
    run_cpu_op(&run, two, 65 * US, 35 * US, "c", 7, 2, 0, 0);
    run_finish(&run);
    check_path("of another run", &run, -1, "a 60, ~scheduling delay 5, ~c 35");
    run_end(&run);
}

static void core_op(struct made_run *run, track_id core, int64_t start, int64_t dur,
                    const char *name)
{
    us_slice(run, core, start, dur, name, KIND_COPY);
    run_text(run, "hlo_op", name);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "program_id", 7);
    run_int(run, "run_id", 1);
}

/* Two transfers are on their way: which of them a done awaits is not what ended last. */
static void a_done_awaits_its_own(void **state)
{
    (void)state;
    struct made_run run;

    begin(&run, COPIES);
    track_id core = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    track_id async = run_stream(&run, "Async XLA Ops", ROLE_ASYNC_OPS, 0);
    track_id other = run_stream(&run, "Async XLA Ops 2", ROLE_ASYNC_OPS, 0);

    core_op(&run, core, 0, 10, "copy-start.1");
    core_op(&run, core, 10, 10, "copy-start.2");
    core_op(&run, core, 30, 55, "copy-done.1");
    core_op(&run, core, 90, 10, "copy-done.2");
    us_slice(&run, async, 10, 60, "copy-start.1", KIND_COPY);
    us_slice(&run, other, 20, 60, "copy-start.2", KIND_COPY);
    run_finish(&run);
    check_path("the first", &run, -1,
               "copy-start.1 10, copy-start.1 60, copy-done.1 15, scheduling delay 5, "
               "copy-done.2 10");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operand_holds_its_user),
        cmocka_unit_test(needs_are_kept),
        cmocka_unit_test(within_one_execution),
        cmocka_unit_test(a_done_awaits_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
