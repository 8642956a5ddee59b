/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of open intervals that yields each interval's parent. */
#include "analyse/scan/nest.h"

#include <stdlib.h>

#include "base/arena.h"

struct nest nest_create(uint32_t group_count)
{
    struct nest nest = {.group_count = group_count};

    nest.groups = memory_resize(NULL, group_count, sizeof(*nest.groups));
    for (uint32_t i = 0; i < group_count; i++)
        nest.groups[i] = (struct nest_stack){0};
    return nest;
}

void nest_free(struct nest *nest)
{
    for (uint32_t i = 0; i < nest->group_count; i++)
        free(nest->groups[i].items);
    free(nest->groups);
}

bool nest_push(struct nest *nest, uint32_t group, uint32_t index, int64_t end_ps, int64_t from_ps,
               int64_t to_ps, uint32_t *ret_parent, int64_t *ret_covered_ps)
{
    struct nest_stack *stack = &nest->groups[group];

    while (stack->count > 0 && stack->items[stack->count - 1].end_ps < end_ps)
        stack->count--;

    bool inside = stack->count > 0;

    if (inside) {
        struct nest_item *parent = &stack->items[stack->count - 1];
        int64_t begin_ps = from_ps > parent->covered_to_ps ? from_ps : parent->covered_to_ps;

        *ret_parent = parent->index;
        *ret_covered_ps = to_ps > begin_ps ? to_ps - begin_ps : 0;
        if (to_ps > parent->covered_to_ps)
            parent->covered_to_ps = to_ps;
    }
    if (stack->count == stack->capacity) {
        stack->capacity = stack->capacity == 0 ? 16 : 2 * stack->capacity;
        stack->items = memory_resize(stack->items, stack->capacity, sizeof(*stack->items));
    }
    stack->items[stack->count++] =
        (struct nest_item){.index = index, .end_ps = end_ps, .covered_to_ps = INT64_MIN};
    return inside;
}
