/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about arithmetic: each with a run that triggers it and one that does not. */
#include "unit/analyse/findings_of.h"

/* What ran, on a device of known limits; %a and %b are f32[512,64], %h and %g their bf16. */
#define MODULE(line)                                                                               \
    "HloModule jit_f\n\n%f (p: f32[]) -> f32[64,64] {\n  %c = f32[] parameter(0)\n"                \
    "  ROOT %b.1 = f32[64,64]{1,0} broadcast(%c), dimensions={}\n}\n\n"                            \
    "ENTRY %main () -> f32[] {\n  %a = f32[4096,4096]{1,0} parameter(0)\n"                         \
    "  %h = bf16[4096,4096]{1,0} parameter(1)\n  %q = bf16[8,1024,64]{2,1,0} parameter(2)\n"       \
    "  %o = bf16[4100,9]{1,0} parameter(3)\n  %s = f32[64,64]{1,0} parameter(4)\n"                 \
    "  %k = f32[] constant(1)\n  ROOT %x = " line "\n}\n"

#define DOT ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
#define F32_DOT "f32[4096,4096]{1,0} dot(%a, %a)" DOT
#define BF16_DOT "bf16[4096,4096]{1,0} dot(%h, %h)" DOT
#define SCORES                                                                                     \
    "bf16[8,1024,1024]{2,1,0} dot(%q, %q), lhs_batch_dims={0}, lhs_contracting_dims={2}, "         \
    "rhs_batch_dims={0}, rhs_contracting_dims={2}"

static void make(struct made_run *run, const char *module, const char *scope, const char *op,
                 int runs, int64_t dur_us)
{
    struct bytes blob = {.at = (const uint8_t *)module, .count = strlen(module)};
    struct sink *sink;

    run_begin(run);
    sink = run->made.sink;
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);

    sink_property(sink, stream,
                  (struct arg){.key = sink_name(sink, STR("gpu_device_name")),
                               .type = ARG_STRING,
                               .bits = sink_name(sink, STR("NVIDIA H100 80GB HBM3"))});
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, blob);
    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    sink_instruction(sink, (struct instruction){.program = program,
                                                .name = sink_name(sink, str_of(op)),
                                                .opcode = sink_name(sink, STR("dot")),
                                                .scope = sink_name(sink, str_of(scope))});
    for (int i = 0; i < runs; i++) {
        run_slice(run, stream, i * 2 * dur_us * 1000000, dur_us * 1000000, "kernel", KIND_COMPUTE);
        run_text(run, "hlo_op", op);
        run_text(run, "hlo_module", "jit_f");
        run_int(run, "program_id", 7);
    }
    run_finish(run);
}

static void rules(void **state)
{
    (void)state;
    const struct {
        const char *what, *rule, *module, *scope;
        int runs, dur_us;
        bool finds;
    } rows[] = {
        {"f32", "f32-products", MODULE(F32_DOT), "jit(f)/dot", 5, 500, true},
        {"bf16", "f32-products", MODULE(BF16_DOT), "jit(f)/dot", 5, 500, false},
        {"asks for all bits", "tf32-off", MODULE(F32_DOT ", operand_precision={highest,highest}"),
         "jit(f)/dot", 5, 5000, true},
        {"asks for none", "tf32-off", MODULE(F32_DOT), "jit(f)/dot", 5, 5000, false},
        {"2.7 TFLOP/s", "no-matrix-units", MODULE(BF16_DOT), "jit(f)/dot", 5, 50000, true},
        {"275 TFLOP/s", "no-matrix-units", MODULE(BF16_DOT), "jit(f)/dot", 5, 500, false},
        {"transposed", "layout-copies",
         MODULE("f32[4096,4096]{0,1} transpose(%a), dimensions={1,0}"), "jit(f)/transpose", 5, 50,
         true},
        {"a product", "layout-copies", MODULE(F32_DOT), "jit(f)/dot", 5, 50, false},
        {"again", "rematerialisation", MODULE(F32_DOT), "jit(f)/rematted_computation/dot", 5, 500,
         true},
        {"once", "rematerialisation", MODULE(F32_DOT), "jit(f)/dot", 5, 500, false},
        {"constants", "same-each-step", MODULE("f32[64,64]{1,0} fusion(%k), kind=kLoop, calls=%f"),
         "jit(f)/full", 5, 50, true},
        {"an argument", "same-each-step",
         MODULE("f32[64,64]{1,0} fusion(%s), kind=kLoop, calls=%f"), "jit(f)/full", 5, 50, false},
        {"S x S", "attention-scores", MODULE(SCORES), "jit(f)/attention", 5, 500, true},
        {"deep", "attention-scores", MODULE(BF16_DOT), "jit(f)/dot", 5, 500, false},
        {"9", "off-tile-shapes",
         MODULE("bf16[9,9]{1,0} dot(%o, %o), lhs_contracting_dims={0}, "
                "rhs_contracting_dims={0}"),
         "jit(f)/dot", 5, 500, true},
        {"4096", "off-tile-shapes", MODULE(BF16_DOT), "jit(f)/dot", 5, 500, false},
        {"many short", "small-memory-bound-ops", MODULE("f32[64,64]{1,0} add(%s, %s)"),
         "jit(f)/add", 200, 3, true},
        {"few", "small-memory-bound-ops", MODULE("f32[64,64]{1,0} add(%s, %s)"), "jit(f)/add", 20,
         3, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        /* Names of transposes say what they are. */
        const char *op = strstr(rows[i].module, "transpose(") != NULL ? "transpose.1" : "x";
        struct text module = {0};
        const char *at = strstr(rows[i].module, "ROOT %x");

        text_put(&module, rows[i].module, (size_t)(at - rows[i].module));
        text_putf(&module, "ROOT %%%s%s", op, at + strlen("ROOT %x"));
        make(&run, module.at, rows[i].scope, op, rows[i].runs, rows[i].dur_us);
        const struct finding *found = run_finding(&run, rows[i].rule);
        CHECK(rows[i].what, (found != NULL) == rows[i].finds);
        CHECK(rows[i].what, found == NULL || found->evidence_count == 1);
        run_end(&run);
        text_free(&module);
    }
}

/* As XLA compiles `lax.scan(lambda sum, x: (sum + x @ x, None), zeros, xs)`, what each turn gives
 * on of the sum being `gives`; beside it `user` of the zeros. */
#define SCAN(gives, user)                                                                          \
    "HloModule jit_f\n\n%fill (p: f32[]) -> f32[64,64] {\n  %p = f32[] parameter(0)\n"             \
    "  ROOT %b.1 = f32[64,64]{1,0} broadcast(%p), dimensions={}\n}\n\n"                            \
    "%sum (p: f32[64,64], q: f32[64,64]) -> f32[64,64] {\n  %q = f32[64,64]{1,0} parameter(0)\n"   \
    "  %r = f32[64,64]{1,0} parameter(1)\n  ROOT %add.4 = f32[64,64]{1,0} add(%q, %r)\n}\n\n"      \
    "%body (t: (s32[], f32[64,64])) -> (s32[], f32[64,64]) {\n"                                    \
    "  %t = (s32[], f32[64,64]{1,0}) parameter(0)\n"                                               \
    "  %one = s32[] constant(1)\n  %turn = s32[] get-tuple-element(%t), index=0\n"                 \
    "  %acc = f32[64,64]{1,0} get-tuple-element(%t), index=1\n"                                    \
    "  %next = s32[] add(%turn, %one)\n"                                                           \
    "  %wrapped_add = f32[64,64]{1,0} fusion(%acc, %acc), kind=kLoop, calls=%sum\n"                \
    "  ROOT %out = (s32[], f32[64,64]{1,0}) tuple(%next, " gives ")\n}\n\n"                        \
    "%test (t: (s32[], f32[64,64])) -> pred[] {\n  %u = (s32[], f32[64,64]{1,0}) parameter(0)\n"   \
    "  %eight = s32[] constant(8)\n  %at = s32[] get-tuple-element(%u), index=0\n"                 \
    "  ROOT %lt = pred[] compare(%at, %eight), direction=LT\n}\n\n"                                \
    "ENTRY %main () -> f32[64,64] {\n  %zero = s32[] constant(0)\n  %none = f32[] constant(0)\n"   \
    "  %wrapped_broadcast = f32[64,64]{1,0} fusion(%none), kind=kLoop, calls=%fill\n"              \
    "  %tuple = (s32[], f32[64,64]{1,0}) tuple(%zero, %wrapped_broadcast)\n"                       \
    "  %while.5 = (s32[], f32[64,64]{1,0}) while(%tuple), condition=%test, body=%body\n" user      \
    "  ROOT %sum.1 = f32[64,64]{1,0} get-tuple-element(%while.5), index=1\n}\n"

/* The zeros that a scan adds to are written over, and must be made each time. */
static void zeros_of_an_accumulator(void **state)
{
    (void)state;
    const struct {
        const char *what, *module;
        bool finds;
    } rows[] = {
        {"added to", SCAN("%wrapped_add", ""), false},
        {"only read", SCAN("%acc", ""), true},
        {"a part written over",
         SCAN("%acc", "  %w = f32[64,64]{1,0} dynamic-update-slice(%wrapped_broadcast, %sum.1, "
                      "%zero, %zero)\n"),
         false},
        {"a part of another one written over",
         SCAN("%acc", "  %w = f32[64,64]{1,0} dynamic-update-slice(%sum.1, %wrapped_broadcast, "
                      "%zero, %zero)\n"),
         true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        make(&run, rows[i].module, "jit(f)/broadcast_in_dim", "wrapped_broadcast", 5, 50);
        CHECK(rows[i].what, (run_finding(&run, "same-each-step") != NULL) == rows[i].finds);
        run_end(&run);
    }
}

/* bf16 products are 989.4 / 494.7 times as fast as TF32's: half of the time of the steps that
 * count, which the last of five inferred ones does not. */
static void win(void **state)
{
    (void)state;
    struct made_run run;

    make(&run, MODULE(F32_DOT), "jit(f)/dot", "x", 5, 500);
    const struct finding *finding = run_finding(&run, "f32-products");
    CHECK("told", finding != NULL && finding->has_win);
    CHECK_INT("half", finding->win_ps, 4 * INT64_C(250000000));
    CHECK_SAYS(&run, "f32-products", "100 % of op time");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(zeros_of_an_accumulator),
        cmocka_unit_test(win),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
