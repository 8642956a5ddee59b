/* SPDX-License-Identifier: Apache-2.0 */
/* Name scopes cut into elements, and joined without their numbers. */
#include "check.h"

#include "analyse/hlo/scope.h"

static void cutting(void **state)
{
    (void)state;
    const struct {
        const char *scope;
        uint32_t depth;
        bool fold;
        const char *want;
    } rows[] = {
        {"jit(f)/layer_0/dot", 0, false, "jit(f)/layer_0/dot"},
        {"jit(f)/layer_0/dot", 1, false, "jit(f)"},
        {"jit(f)/layer_0/dot", 2, false, "jit(f)/layer_0"},
        {"jit(f)/layer_0/dot", 9, false, "jit(f)/layer_0/dot"},
        {"jit(f)/layer_0/dot", 2, true, "jit(f)/layer_*"},
        {"jit(f)/transpose(jvp(layer_12))/mlp", 0, true, "jit(f)/transpose(jvp(layer_*))/mlp"},
        {"a_1b/c_22/_3", 0, true, "a_1b/c_*/_*"},
        {"dot_general", 0, true, "dot_general"},
        {"conv2d", 0, true, "conv2d"},
        {"while(a/b)/body", 1, false, "while(a/b)"},
        {"dot[x=a/b]/y", 1, false, "dot[x=a/b]"},
        {"", 2, true, ""},
        {"/a", 1, false, ""},
        {"a_", 0, true, "a_"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();

        CHECK_STR(rows[i].scope,
                  scope_cut(str_of(rows[i].scope), rows[i].depth, rows[i].fold, arena),
                  rows[i].want);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cutting)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
