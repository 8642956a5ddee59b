/* SPDX-License-Identifier: Apache-2.0 */
/* What names of dumped files say of the module inside. */
#include "check.h"
#include "decode/hlo/hlo_name.h"

static void names(void **state)
{
    (void)state;
    const struct {
        const char *file, *module; /* what the content says of its name */
        const char *want_module, *want_stage_name;
        enum program_stage stage;
        int64_t number; /* -1 none */
    } rows[] = {
        {"module_0041.jit_step.before_optimizations.txt", "", "jit_step", "before_optimizations",
         STAGE_BEFORE, 41},
        {"module_0041.jit_step.sm_8.0_gpu_after_optimizations.hlo.pb.xz", "", "jit_step",
         "sm_8.0_gpu_after_optimizations", STAGE_AFTER, 41},
        {"module_0041.jit_step.0001.spmd.after_a.before_b.txt", "", "jit_step",
         "0001.spmd.after_a.before_b", STAGE_PASS, 41},
        {"module_0003.jit_f.2.cpu_after_optimizations.txt.gz", "", "jit_f.2",
         "cpu_after_optimizations", STAGE_AFTER, 3},
        {"module_0003.a.b.c.txt", "a.b", "a.b", "c", STAGE_PASS, 3},
        {"module_0003.a.b.c.txt", "", "a", "b.c", STAGE_PASS, 3},
        {"module_0003.a.txt", "", "a", "", STAGE_UNKNOWN, 3},
        {"module_0003.a.autotune_results.pbtxt.xz", "", "a", "autotune_results", STAGE_PASS, 3},
        {"module_0003.a.ir-with-opt.ll", "", "a", "ir-with-opt.ll", STAGE_PASS, 3},
        {"module_0003.before_optimizations.txt", "", "", "before_optimizations", STAGE_BEFORE, 3},
        {"module_99999999999999999999.a.txt", "", "module_99999999999999999999.a", "",
         STAGE_UNKNOWN, -1},
        {"module_x.a.txt", "", "module_x.a", "", STAGE_UNKNOWN, -1},
        {"module_0003", "", "", "", STAGE_UNKNOWN, 3},
        {"jit__normal(11).hlo_proto.pb", "", "jit__normal", "", STAGE_AFTER, 11},
        {"jit__normal(x).hlo_proto.pb", "", "jit__normal(x)", "", STAGE_UNKNOWN, -1},
        {"NO_MODULE.hlo_proto.pb", "", "NO_MODULE", "", STAGE_UNKNOWN, -1},
        {"", "", "", "", STAGE_UNKNOWN, -1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hlo_name name = hlo_name_of(str_of(rows[i].file), str_of(rows[i].module));
        CHECK_STR(rows[i].file, name.module, rows[i].want_module);
        CHECK_STR(rows[i].file, name.stage_name, rows[i].want_stage_name);
        CHECK_INT(rows[i].file, name.stage, rows[i].stage);
        CHECK_INT(rows[i].file, name.has_number ? (int64_t)name.number : -1, rows[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
