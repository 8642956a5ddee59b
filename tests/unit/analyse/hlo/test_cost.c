/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of HLO instructions against figures by hand and figures of XLA's own cost analysis. */
#include "check.h"

#include <math.h>

#include "analyse/hlo/cost.h"

/* The cost of one instruction of a module in text; the rest of the module is what it needs. */
static struct op_cost cost_in(const char *module_text, const char *name, const bool *with_events)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct op_cost cost;
    struct bytes blob = {.at = (const uint8_t *)module_text, .count = strlen(module_text)};

    CHECK_OK(name, hlo_module_read(blob, PROGRAM_TEXT, arena, &module, &err), &err);
    uint32_t found = hlo_module_find(&module, str_of(name));
    CHECK(name, found != HLO_NONE);
    struct cost_work *work = cost_work_create(&module, with_events);
    cost_of_instruction(work, found, &cost);
    cost_work_free(work);
    arena_destroy(arena);
    return cost;
}

static void check_cost(const char *what, const struct op_cost *got, double flops, double bytes)
{
    CHECK_INT(what, isnan(got->flops) ? -1 : (int64_t)got->flops, (int64_t)flops);
    CHECK_INT(what, isnan(got->bytes) ? -1 : (int64_t)got->bytes, (int64_t)bytes);
}

/* Figures by hand; those of XLA's own analysis where it has any (tests/golden/truth_costs.py). */
static void instructions(void **state)
{
    (void)state;
    const struct {
        const char *what, *line; /* of %x, over the parameters below */
        double flops, bytes;
    } rows[] = {
        {"dot", "f32[64,32]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
         2.0 * 64 * 32 * 128, 4.0 * (64 * 128 + 128 * 32 + 64 * 32)},
        {"outer product", "f32[64,128,32]{2,1,0} dot(%a, %v), lhs_contracting_dims={}",
         2.0 * 64 * 128 * 32, 4.0 * (64 * 128 + 32 + 64 * 128 * 32)},
        {"convolution, padded",
         "f32[2,16,16,12]{3,2,1,0} convolution(%i, %k), window={size=3x3 pad=1_1x1_1}, "
         "dim_labels=b01f_01io->b01f",
         812544, 44416},
        {"convolution, strided",
         "f32[2,8,8,12]{3,2,1,0} convolution(%i, %k), window={size=3x3 stride=2x2 pad=0_1x0_1}, "
         "dim_labels=b01f_01io->b01f",
         203136, 25984},
        {"convolution, dilated kernel",
         "f32[2,16,16,12]{3,2,1,0} convolution(%i, %k), window={size=3x3 pad=2_2x2_2 "
         "rhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
         743424, 44416},
        {"convolution, dilated input",
         "f32[2,33,33,12]{3,2,1,0} convolution(%i, %k), window={size=3x3 pad=2_2x2_2 "
         "lhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
         884736, 124384},
        {"add", "f32[64,128]{1,0} add(%a, %a)", 64 * 128, 3.0 * 4 * 64 * 128},
        {"exp is no FLOP", "f32[64,128]{1,0} exponential(%a)", 0, 2.0 * 4 * 64 * 128},
        {"reduce", "f32[128]{0} reduce(%a, %z), dimensions={0}, to_apply=%sum", 63 * 128,
         4.0 * (64 * 128 + 1 + 128)},
        {"reduce-window",
         "f32[64,128]{1,0} reduce-window(%a, %z), window={size=1x2 pad=0_0x0_1}, "
         "to_apply=%sum",
         64 * 128, 4.0 * (2 * 64 * 128 + 1)},
        {"slice", "f32[4,128]{1,0} slice(%a), slice={[0:4], [0:128]}", 0, 2.0 * 4 * 4 * 128},
        {"update in place", "f32[64,128]{1,0} dynamic-update-slice(%a, %r, %n, %n)", 0,
         2.0 * 4 * 128 + 4},
        {"gather", "f32[20,128]{1,0} gather(%a, %m), offset_dims={1}", 0,
         2.0 * 4 * 20 * 128 + 4 * 20},
        {"sort", "f32[64,128]{1,0} sort(%a), dimensions={0}, to_apply=%sum", 8192.0 * 13,
         2.0 * 4 * 8192},
        {"bitcast", "f32[8192]{0} bitcast(%a)", 0, 0},
        {"packed", "s4[64]{0:E(4)} convert(%a)", 64, 4.0 * 64 * 128 + 32},
        {"a transfer begins", "(f32[64,128]{1,0}, f32[64,128]{1,0}, u32[]) copy-start(%a)", 0,
         2.0 * 4 * 64 * 128 + 4},
        {"a transfer is awaited", "f32[64,128]{1,0} copy-done(%a)", 0, 0},
        {"all-reduce", "f32[64,128]{1,0} all-reduce(%a), to_apply=%sum", 64 * 128,
         2.0 * 4 * 64 * 128},
        {"an opcode of tomorrow", "f32[64,128]{1,0} soften(%a)", 0, 2.0 * 4 * 64 * 128},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};

        text_puts(&text, "HloModule m\n\n%sum (p: f32[], q: f32[]) -> f32[] {\n"
                         "  %p = f32[] parameter(0)\n  %q = f32[] parameter(1)\n"
                         "  ROOT %s = f32[] add(%p, %q)\n}\n\nENTRY %main () -> f32[] {\n"
                         "  %a = f32[64,128]{1,0} parameter(0)\n"
                         "  %b = f32[128,32]{1,0} parameter(1)\n"
                         "  %i = f32[2,16,16,8]{3,2,1,0} parameter(2)\n"
                         "  %k = f32[3,3,8,12]{3,2,1,0} parameter(3)\n"
                         "  %v = f32[32]{0} parameter(4)\n  %z = f32[] parameter(5)\n"
                         "  %r = f32[1,128]{1,0} parameter(6)\n  %n = s32[] parameter(7)\n"
                         "  %m = s32[20]{0} parameter(8)\n  ROOT %x = ");
        text_puts(&text, rows[i].line);
        text_puts(&text, "\n}\n");
        struct op_cost cost = cost_in(text.at, "x", NULL);
        check_cost(rows[i].what, &cost, rows[i].flops, rows[i].bytes);
        text_free(&text);
    }
}

/* Programs that JAX compiled, less what is not counted, with the figures of XLA's own analysis. */
static void as_xla_counts(void **state)
{
    (void)state;
    const struct {
        const char *what, *first, *second, *line; /* types of %a and %b; of %x */
        double flops, bytes;
    } rows[] = {
        {"grouped convolution", "f32[2,16,16,32]{3,2,1,0}", "f32[3,3,8,32]{3,2,1,0}",
         "f32[2,16,16,32]{3,2,1,0} convolution(%a, %b), window={size=3x3 pad=1_1x1_1}, "
         "dim_labels=b01f_01io->b01f, feature_group_count=4",
         2166784, 140288},
        {"depthwise convolution", "f32[2,16,16,32]{3,2,1,0}", "f32[3,3,1,64]{3,2,1,0}",
         "f32[2,14,14,64]{3,2,1,0} convolution(%a, %b), window={size=3x3}, "
         "dim_labels=b01f_01io->b01f, feature_group_count=32",
         451584, 168192},
        {"convolution of lines", "f32[4,128,16]{2,1,0}", "f32[5,16,32]{2,1,0}",
         "f32[4,128,32]{2,1,0} convolution(%a, %b), window={size=5 pad=2_2}, "
         "dim_labels=b0f_0io->b0f",
         2596864, 108544},
        {"fft", "c64[8,256]{1,0}", "f32[]",
         "c64[8,256]{1,0} fft(%a), fft_type=FFT, fft_length={256}", 131072, 32768},
        {"rfft of planes", "f32[4,64,64]{2,1,0}", "f32[]",
         "c64[4,64,33]{2,1,0} fft(%a), fft_type=RFFT, fft_length={64,64}", 4718592, 133120},
        {"sort of pairs", "f32[2000]{0}", "s32[2000]{0}",
         "(f32[2000]{0}, s32[2000]{0}) sort(%a, %b), dimensions={0}, is_stable=true, "
         "to_apply=%sum",
         22000, 32000},
        {"dot of bytes", "s8[64,128]{1,0}", "s8[128,32]{1,0}",
         "s32[64,32]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 524288,
         20480},
        {"dot of complex numbers", "c64[32,40]{1,0}", "c64[40,16]{1,0}",
         "c64[32,16]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 40960,
         19456},
        {"triangular solve, which XLA does not know", "f32[32,32]{0,1}", "f32[32,4]{0,1}",
         "f32[32,4]{0,1} custom-call(%a, %b), custom_call_target=\"lapack_strsm_ffi\"", 32 * 32 * 4,
         4.0 * (32 * 32 + 2 * 32 * 4)},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};

        text_putf(&text,
                  "HloModule m\n\n%%sum (p: f32[], q: f32[]) -> f32[] {\n"
                  "  %%p = f32[] parameter(0)\n  %%q = f32[] parameter(1)\n"
                  "  ROOT %%s = f32[] add(%%p, %%q)\n}\n\nENTRY %%main () -> f32[] {\n"
                  "  %%a = %s parameter(0)\n  %%b = %s parameter(1)\n  ROOT %%x = %s\n}\n",
                  rows[i].first, rows[i].second, rows[i].line);
        struct op_cost cost = cost_in(text.at, "x", NULL);
        check_cost(rows[i].what, &cost, rows[i].flops, rows[i].bytes);
        text_free(&text);
    }
}

/* What stays inside a fusion costs no memory; a table is read where it is gathered from. */
static void fusions(void **state)
{
    (void)state;
    static const char module[] =
        "HloModule m\n\n%f (p: f32[1000,64], q: s32[20]) -> f32[20,64] {\n"
        "  %p = f32[1000,64]{1,0} parameter(0)\n  %q = s32[20]{0} parameter(1)\n"
        "  %g = f32[20,64]{1,0} gather(%p, %q), offset_dims={1}\n"
        "  %t = f32[20,64]{1,0} tanh(%g)\n  ROOT %s = f32[20,64]{1,0} multiply(%t, %t)\n}\n\n"
        "%u (p: f32[64,128], q: f32[1,128], r: s32[]) -> f32[64,128] {\n"
        "  %p.1 = f32[64,128]{1,0} parameter(0)\n  %q.1 = f32[1,128]{1,0} parameter(1)\n"
        "  %r.1 = s32[] parameter(2)\n  %h.1 = f32[1,128]{1,0} multiply(%q.1, %q.1)\n"
        "  ROOT %d.1 = f32[64,128]{1,0} dynamic-update-slice(%p.1, %h.1, %r.1, %r.1)\n}\n\n"
        "%same (p: f32[64,128]) -> f32[64,128] {\n"
        "  ROOT %p.2 = f32[64,128]{1,0} parameter(0)\n}\n\n"
        "%g (p: f32[64,128]) -> f32[64,128] {\n  %p.3 = f32[64,128]{1,0} parameter(0)\n"
        "  %n.3 = f32[64,128]{1,0} fusion(%p.3), kind=kCustom, calls=%same\n"
        "  ROOT %m.3 = f32[64,128]{1,0} multiply(%n.3, %n.3)\n}\n\n"
        "ENTRY %main () -> f32[] {\n  %a = f32[1000,64]{1,0} parameter(0)\n"
        "  %b = s32[20]{0} parameter(1)\n  %c = f32[64,128]{1,0} parameter(2)\n"
        "  %d = f32[1,128]{1,0} parameter(3)\n  %e = s32[] parameter(4)\n"
        "  %x = f32[20,64]{1,0} fusion(%a, %b), kind=kLoop, calls=%f\n"
        "  %z = f32[64,128]{1,0} fusion(%c), kind=kCustom, calls=%g\n"
        "  ROOT %y = f32[64,128]{1,0} fusion(%c, %d, %e), kind=kLoop, calls=%u\n}\n";
    struct op_cost gathered = cost_in(module, "x", NULL), updated = cost_in(module, "y", NULL);
    struct op_cost nested = cost_in(module, "z", NULL);

    check_cost("handed through", &nested, 64 * 128, 4.0 * 2 * 64 * 128);

    check_cost("gathered", &gathered, 20 * 64, 4.0 * (20 * 64 + 20 + 20 * 64));
    CHECK_INT("tanh", (int64_t)gathered.transcendentals, 20 * 64);
    check_cost("updated in place", &updated, 128, 4.0 * (128 + 128 + 1));
}

static void custom_calls(void **state)
{
    (void)state;
    const struct {
        const char *what, *shape, *rest;
        enum cost_rule rule;
        double flops, bytes;
    } rows[] = {
        {"GEMM", "(bf16[64,32]{1,0}, s8[4194304]{0})",
         "custom_call_target=\"__cublas$gemm\", backend_config={\"gemm_backend_config\":{"
         "\"beta\":0,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
         "\"rhs_contracting_dimensions\":[\"0\"]}}}",
         COST_TARGET, 2.0 * 64 * 32 * 128, 2.0 * (64 * 128 + 128 * 32 + 64 * 32)},
        {"oneDNN", "bf16[64,32]{1,0}",
         "custom_call_target=\"__onednn$matmul\", backend_config={\"onednn_matmul_config\":{}}",
         COST_TARGET, 2.0 * 64 * 32 * 128, 2.0 * (64 * 128 + 128 * 32 + 64 * 32)},
        {"Pallas, as it says", "bf16[64,32]{1,0}",
         "custom_call_target=\"tpu_custom_call\", backend_config={\"custom_call_config\":{"
         "\"cost_estimate\":{\"flops\":\"1234\",\"transcendentals\":\"5\","
         "\"bytes_accessed\":\"678\"}}}",
         COST_TOLD, 1234, 678},
        {"unknown", "bf16[64,32]{1,0}", "custom_call_target=\"my_kernel\"", COST_CUSTOM_CALL, -1,
         2.0 * (64 * 128 + 128 * 32 + 64 * 32)},
        {"LU", "(bf16[64,128]{1,0}, s32[64]{0}, s32[])", "custom_call_target=\"lapack_sgetrf_ffi\"",
         COST_TARGET, 2.0 * (64.0 * 128 * 64 - 192.0 * 64 * 64 / 2 + 64.0 * 64 * 64 / 3),
         2.0 * (64 * 128 + 128 * 32 + 64 * 128) + 4 * 65},
        {"Q of a QR", "bf16[64,128]{1,0}", "custom_call_target=\"cusolver_orgqr_ffi\"", COST_TARGET,
         4.0 * 64 * 128 * 32 - 2.0 * 192 * 32 * 32 + 4.0 * 32 * 32 * 32 / 3,
         2.0 * (64 * 128 + 128 * 32 + 64 * 128)},
        {"nothing", "bf16[64,32]{1,0}", "custom_call_target=\"Sharding\"", COST_TARGET, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};

        text_puts(&text, "HloModule m\n\nENTRY %main () -> f32[] {\n"
                         "  %a = bf16[64,128]{1,0} parameter(0)\n"
                         "  %b = bf16[128,32]{1,0} parameter(1)\n  ROOT %x = ");
        text_putf(&text, "%s custom-call(%%a, %%b), %s\n}\n", rows[i].shape, rows[i].rest);
        struct op_cost cost = cost_in(text.at, "x", NULL);
        check_cost(rows[i].what, &cost, rows[i].flops, rows[i].bytes);
        CHECK_INT(rows[i].what, cost.flops_rule, rows[i].rule);
        text_free(&text);
    }
}

/* cuDNN's dimension numbers are those of the forward convolution, whatever the result is. */
static void library_convolutions(void **state)
{
    (void)state;
    const struct {
        const char *target, *first, *second, *result;
    } rows[] = {
        {"__cudnn$convForward", "f32[2,16,16,8]", "f32[3,3,8,12]", "f32[2,16,16,12]"},
        {"__cudnn$convBackwardInput", "f32[2,16,16,12]", "f32[3,3,8,12]", "f32[2,16,16,8]"},
        {"__cudnn$convBackwardFilter", "f32[2,16,16,8]", "f32[2,16,16,12]", "f32[3,3,8,12]"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text = {0};

        text_putf(&text,
                  "HloModule m\n\nENTRY %%main () -> f32[] {\n  %%a = %s{3,2,1,0} parameter(0)\n"
                  "  %%b = %s{3,2,1,0} parameter(1)\n"
                  "  ROOT %%x = (%s{3,2,1,0}, u8[1024]{0}) custom-call(%%a, %%b), "
                  "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
                  "custom_call_target=\"%s\"\n}\n",
                  rows[i].first, rows[i].second, rows[i].result, rows[i].target);
        struct op_cost cost = cost_in(text.at, "x", NULL);
        check_cost(rows[i].target, &cost, 812544, 44416);
        text_free(&text);
    }
}

/* A loop's body is counted by its own events; without them by its trips, if the compiler knows. */
static void loops(void **state)
{
    (void)state;
    static const char module[] =
        "HloModule m\n\n%body (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  ROOT %b = f32[8]{0} add(%p, %p)\n}\n\n%cond (q: f32[8]) -> pred[] {\n"
        "  %q = f32[8]{0} parameter(0)\n  ROOT %c = pred[] constant(true)\n}\n\n"
        "ENTRY %main () -> f32[] {\n  %a = f32[8]{0} parameter(0)\n"
        "  %x = f32[8]{0} while(%a), condition=%cond, body=%body, "
        "backend_config={\"known_trip_count\":{\"n\":\"12\"}}\n"
        "  ROOT %y = f32[8]{0} while(%x), condition=%cond, body=%body\n}\n";
    const bool with_events[3] = {true, false, true};
    struct op_cost counted = cost_in(module, "x", NULL), unknown = cost_in(module, "y", NULL);
    struct op_cost seen = cost_in(module, "y", with_events);

    check_cost("twelve trips", &counted, 12 * 8, 12.0 * 3 * 4 * 8);
    check_cost("nobody knows", &unknown, -1, -1);
    CHECK_INT("why", unknown.flops_rule, COST_TRIPS);
    check_cost("events show the body", &seen, 0, 0);
    CHECK_INT("why", seen.flops_rule, COST_CONTROL);
}

/* Modules that no compiler writes end, and quickly. */
static void hostile(void **state)
{
    (void)state;
    static const char endless[] =
        "HloModule m\n\n%f (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  ROOT %b = f32[8]{0} call(%p), to_apply=%f\n}\n\nENTRY %main () -> f32[] {\n"
        "  %a = f32[8]{0} parameter(0)\n  ROOT %x = f32[8]{0} call(%a), to_apply=%f\n}\n";
    static const char huge[] =
        "HloModule m\n\nENTRY %main () -> f32[] {\n"
        "  %a = f32[2,2000000000,8]{2,1,0} parameter(0)\n"
        "  %k = f32[2000000000,8,12]{2,1,0} parameter(1)\n"
        "  ROOT %x = f32[2,2000000000,12]{2,1,0} convolution(%a, %k), "
        "window={size=2000000000 lhs_dilate=2}, dim_labels=b0f_0io->b0f\n}\n";
    struct op_cost cost = cost_in(endless, "x", NULL);

    check_cost("who calls himself", &cost, 0, 0);
    cost = cost_in(huge, "x", NULL);
    CHECK("more than can be counted", isnan(cost.flops));
    CHECK_INT("more than can be counted", cost.flops_rule, COST_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions),
        cmocka_unit_test(as_xla_counts),
        cmocka_unit_test(fusions),
        cmocka_unit_test(custom_calls),
        cmocka_unit_test(library_convolutions),
        cmocka_unit_test(loops),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
