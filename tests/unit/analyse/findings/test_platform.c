/* SPDX-License-Identifier: Apache-2.0 */
/* Advice by platform: which parts of a text stand where. */
#include "check.h"

#include "analyse/findings/platform.h"

static void fits(void **state)
{
    (void)state;
    static const char text[] = "{jax:`jit`}{torch:`compile`}{!jax+!torch:one launch}"
                               "{gpu+jax:, `--xla_gpu`}{tpu:: short} {x: 1}{";
    const struct {
        unsigned platform;
        const char *want;
    } rows[] = {
        {ON_JAX | ON_GPU | ON_NVIDIA, "`jit`, `--xla_gpu` {x: 1}{"},
        {ON_JAX | ON_TPU, "`jit`: short {x: 1}{"},
        {ON_TORCH | ON_GPU, "`compile` {x: 1}{"},
        {ON_GPU | ON_AMD, "one launch {x: 1}{"},
        {0, "one launch {x: 1}{"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].want, platform_fit(rows[i].platform, str_of(text), arena), rows[i].want);
    CHECK_STR("nothing", platform_fit(ON_JAX, STR(""), arena), "");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
