/* SPDX-License-Identifier: Apache-2.0 */
/* What the peaks need for a program's FLOPs: by type, without what is recomputed, and of steps of
 * which not all is known. */
#include "unit/analyse/made_run.h"

#include <math.h>

#include "analyse/findings/overview.h"
#include "analyse/ops/efficiency.h"

enum { US = 1000000 };

#define MODULE                                                                                     \
    "HloModule jit_f\n\nENTRY %main (h: bf16[4096,4096]) -> bf16[4096,4096] {\n"                   \
    "  %h = bf16[4096,4096]{1,0} parameter(0)\n"                                                   \
    "  %x = bf16[4096,4096]{1,0} dot(%h, %h), lhs_contracting_dims={1}, rhs_contracting_dims={0}"  \
    "\n"                                                                                           \
    "  %r = bf16[4096,4096]{1,0} dot(%h, %h), lhs_contracting_dims={1}, rhs_contracting_dims={0}"  \
    "\n"                                                                                           \
    "  ROOT %u = bf16[4096,4096]{1,0} custom-call(%x, %r), custom_call_target=\"mine\"\n}\n"

#define REVERSES                                                                                   \
    "HloModule jit_f\n\nENTRY %main (h: bf16[4096,4096]) -> bf16[4096,4096] {\n"                   \
    "  %h = bf16[4096,4096]{1,0} parameter(0)\n"                                                   \
    "  %x = bf16[4096,4096]{1,0} reverse(%h), dimensions={0}\n"                                    \
    "  ROOT %r = bf16[4096,4096]{1,0} reverse(%x), dimensions={0}\n}\n"

static const double dot_flops = 2.0 * 4096 * 4096 * 4096, bf16_peak = 989.4e12;

static void op(struct made_run *run, track_id stream, int64_t at_us, int64_t dur_us,
               const char *name)
{
    run_slice(run, stream, at_us * US, dur_us * US, "kernel", KIND_COMPUTE);
    run_text(run, "hlo_op", name);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "program_id", 7);
}

/* Four steps of 2,000 us: a product, the same again, and `unknown_us` of what nobody knows. */
static void make(struct made_run *run, const char *module, const char *device, int64_t dot_us,
                 int64_t unknown_us)
{
    static const struct {
        const char *name, *scope;
    } ops[] = {{"x", "jit(f)/jvp()/dot"},
               {"r", "jit(f)/transpose(jvp())/rematted_computation/dot"},
               {"u", "jit(f)/jvp()/mine"}};
    struct bytes blob = {.at = (const uint8_t *)module, .count = strlen(module)};

    run_begin(run);
    struct sink *sink = run->made.sink;
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);
    track_id steps = run_stream(run, "Steps", ROLE_STEPS, 0);

    sink_property(sink, stream,
                  (struct arg){.key = sink_name(sink, STR("gpu_device_name")),
                               .type = ARG_STRING,
                               .bits = sink_name(sink, str_of(device))});
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, blob);
    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    for (size_t i = 0; i < COUNT(ops); i++)
        sink_instruction(sink,
                         (struct instruction){.program = program,
                                              .name = sink_name(sink, str_of(ops[i].name)),
                                              .opcode = sink_name(sink, STR("dot")),
                                              .scope = sink_name(sink, str_of(ops[i].scope))});
    for (int64_t step = 0; step < 4; step++) {
        char name[8];

        op(run, stream, step * 2000, dot_us, "x");
        op(run, stream, step * 2000 + dot_us, dot_us, "r");
        if (unknown_us > 0)
            op(run, stream, step * 2000 + 2 * dot_us, unknown_us, "u");
        snprintf(name, sizeof name, "%d", (int)step);
        run_slice(run, steps, step * 2000 * US, (int64_t)2000 * US, name, KIND_OTHER);
    }
    run_finish(run);
}

static void check_close(const char *what, double got, double want)
{
    if (fabs(got - want) > 2e-3 * fabs(want))
        print_error("%s: %.9g, not %.9g\n", what, got, want);
    CHECK(what, fabs(got - want) <= 2e-3 * fabs(want));
}

static void sums(void **state)
{
    (void)state;
    struct efficiency found;
    struct made_run run;

    make(&run, MODULE, "NVIDIA H100 80GB HBM3", 200, 100);
    CHECK_OK(
        "efficiency",
        efficiency_find(&run.run, &(struct restriction){0}, run.made.arena, &found, &run.made.err),
        &run.made.err);
    check_close("of the model", found.flops, 4 * dot_flops);
    check_close("once more", found.recomputed_flops, 4 * dot_flops);
    check_close("at the peak", found.model_s, 4 * dot_flops / bf16_peak);
    CHECK_INT("all that computes", found.compute_ps, (int64_t)4 * 500 * US);
    CHECK_INT("of that known", found.known_ps, (int64_t)4 * 400 * US);
    check_close("at the roof", found.roof_s, 8 * dot_flops / bf16_peak);
    CHECK_STR("peak", found.peak, "bf16");
    run_end(&run);
}

static void of_steps(void **state)
{
    (void)state;
    const struct {
        const char *what, *device;
        int64_t dot_us, unknown_us;
        double mfu; /* 0: none */
        bool is_least;
        const char *reason, *module;
    } rows[] = {
        {"all is known", "NVIDIA H100 80GB HBM3", 200, 0, 2e-12 * 68719476736 / 989.4 / 2e-3, false,
         "", NULL},
        {"a part is not", "NVIDIA H100 80GB HBM3", 200, 100, 2e-12 * 68719476736 / 989.4 / 2e-3,
         true, "", NULL},
        {"most is not", "NVIDIA H100 80GB HBM3", 200, 900, 0, false,
         "FLOPs are known for 31 % of the time of ops only", NULL},
        {"no such device", "Cray-1", 200, 0, 0, false, NULL, NULL},
        {"nothing is computed", "NVIDIA H100 80GB HBM3", 200, 0, 0, false,
         "no op of the steps works at a peak of its device: none multiplies matrices", REVERSES},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct overview found;
        struct made_run run;

        make(&run, rows[i].module != NULL ? rows[i].module : MODULE, rows[i].device, rows[i].dot_us,
             rows[i].unknown_us);
        CHECK_OK(rows[i].what,
                 overview(memo_create(&run.run, &(struct restriction){0}, run.made.arena), &found,
                          &run.made.err),
                 &run.made.err);
        CHECK_INT(rows[i].what, found.counted, 4);
        CHECK_INT(rows[i].what, found.efficiency.has_mfu, rows[i].mfu > 0);
        CHECK_INT(rows[i].what, found.efficiency.is_least, rows[i].is_least);
        if (rows[i].mfu > 0)
            check_close(rows[i].what, found.efficiency.mfu, rows[i].mfu);
        if (rows[i].reason != NULL)
            CHECK_STR(rows[i].what, found.efficiency.mfu_reason, rows[i].reason);
        else
            CHECK(rows[i].what, found.efficiency.mfu_reason.count > 0);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(of_steps)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
