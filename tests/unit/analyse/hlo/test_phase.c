/* SPDX-License-Identifier: Apache-2.0 */
/* What part of a step a scope says, and the calls that made an instruction. */
#include "check.h"

#include "analyse/hlo/phase.h"

static void scopes(void **state)
{
    (void)state;
    const struct {
        const char *scope, *want;
    } rows[] = {
        {"jit(step)/jvp(layer_0)/dot_general", "forward"},
        {"jit(step)/transpose(jvp(layer_0))/dot_general", "backward"},
        {"jit(step)/jvp(transpose(jvp(layer_0)))/mul", "backward"},
        {"jit(step)/transpose(jvp(layer_0))/jvp(layer_0)/checkpoint/mul", "backward"},
        {"jit(step)/transpose(jvp())/while/body/checkpoint/rematted_computation/block/sin",
         "recomputation"},
        {"jit(step)/optimizer/sub", "optimizer"},
        {"jit(step)/jit(apply_updates)/add", "optimizer"},
        {"jit(step)/fused_adamw/mul", "optimizer"},
        {"Adam/Adam/update_8/ResourceApplyAdam", "optimizer"},
        {"train/FusedAdam/mul", "optimizer"},
        {"gradient_tape/sequential/dense/MatMul", "backward"},
        {"jit(step)/sub", "unknown"},
        {"jit(adam_step)/sub", "unknown"},
        {"pmap(optax_step)/sub", "unknown"},
        {"jit(step)/madam/sub", "unknown"},
        {"sequential/dropout/ArithmeticOptimizer/Cast", "unknown"},
        {"jit(transpose)/transpose", "unknown"},
        {"jit(jvp)/add", "unknown"},
        {"jit(step)/jvp()/mul;jit(step)/jvp()/broadcast_in_dim", "forward"},
        {"jit(step)/jvp()/mul;jit(step)/transpose(jvp())/mul", "unknown"},
        {"jit(step)/jvp()/mul;jit(step)/mul", "unknown"},
        {"", "unknown"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].scope, str_of(phase_word(phase_of_scope(str_of(rows[i].scope)))),
                  rows[i].want);
}

static void calls(void **state)
{
    (void)state;
    const struct {
        const char *what, *files[3], *want; /* of the calls, the innermost first */
    } rows[] = {
        {"optax itself", {"/lib/optax/_src/transform.py", "train.py"}, "optimizer"},
        {"a helper of optax",
         {"/lib/optax/tree_utils/_tree_math.py", "/lib/optax/transforms/_clipping.py", "train.py"},
         "optimizer"},
        {"a helper that the program calls",
         {"/lib/optax/tree_utils/_tree_math.py", "train.py", "/lib/optax/_src/base.py"},
         "unknown"},
        {"a loss of optax", {"/lib/optax/losses/_classification.py", "train.py"}, "unknown"},
        {"the program's loss in a line search of optax",
         {"train.py", "/lib/optax/_src/linesearch.py"},
         "unknown"},
        {"Flax", {"/lib/flax/nnx/training/optimizer.py", "train.py"}, "optimizer"},
        {"the program", {"train.py"}, "unknown"},
        {"a directory that only sounds so", {"/home/optaxing/train.py"}, "unknown"},
        {"no calls", {NULL}, "unknown"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct hlo_frames frames = {0};
        uint64_t count = 0;

        for (; count < COUNT(rows[i].files) && rows[i].files[count] != NULL; count++) {
            uint64_t parent = count + 1 < COUNT(rows[i].files) && rows[i].files[count + 1] != NULL
                                  ? count + 2
                                  : 0;

            assert_true(hlo_frames_add_text(&frames.files, arena, str_of(rows[i].files[count])) &&
                        hlo_frames_add_record(&frames.locations, arena,
                                              (struct hlo_numbers){{count + 1, 0, 1, 1}}) &&
                        hlo_frames_add_record(&frames.frames, arena,
                                              (struct hlo_numbers){{count + 1, parent, 0, 0}}));
        }
        CHECK_STR(rows[i].what, str_of(phase_word(phase_of_calls(&frames, count > 0 ? 1 : 0))),
                  rows[i].want);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scopes), cmocka_unit_test(calls)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
