/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of PyTorch's ops as a file may hold them: a line each for the op's name and the four
 * lists. What is counted must be a number that is not negative, or unknown with its reason. */
#include <math.h>
#include <stdlib.h>

#include "analyse/torch/torch_cost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str take_line(struct str *rest)
{
    const char *end = rest->count == 0 ? NULL : memchr(rest->at, '\n', rest->count);
    struct str line = {rest->at, end == NULL ? rest->count : (size_t)(end - rest->at)};

    *rest = str_skip(*rest, line.count + (end != NULL));
    return line;
}

static void check(double value, uint8_t rule)
{
    bool known = rule == COST_SHAPES;

    if (known ? !(value >= 0) : !isnan(value))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size}, name = take_line(&rest);
    struct torch_texts texts = {.dims = take_line(&rest),
                                .types = take_line(&rest),
                                .strides = take_line(&rest),
                                .values = take_line(&rest)};
    struct arena *arena = arena_create();
    struct torch_call *call = arena_new(arena, struct torch_call);
    struct op_cost cost;

    torch_call_read(&texts, arena, call);
    torch_cost(name, call, &cost);
    check(cost.flops, cost.flops_rule);
    check(cost.bytes, cost.bytes_rule);
    arena_destroy(arena);
    return 0;
}
