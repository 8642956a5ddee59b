/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as folded stacks, a line a node. */
#include "analyse/flame/flame.h"

static void fold_node(const struct flame *flame, uint32_t index, struct text *path,
                      struct text *ret)
{
    const struct flame_node *node = &flame->nodes[index];
    size_t before = path->count;
    int64_t weight = str_equal(flame->unit, STR("ps"))
                         ? node->self_ps / 1000 + (node->self_ps % 1000 >= 500)
                         : node->self_ps;

    if (index > 0) {
        if (before > 0)
            text_puts(path, ";");
        for (size_t i = 0; i < node->name.count; i++) {
            char letter = node->name.at[i];

            /* Signs of the format itself, and what would break a line. */
            text_put(path, letter == ';' || (unsigned char)letter < ' ' ? "_" : &letter, 1);
        }
        if (weight > 0)
            text_putf(ret, "%.*s %lld\n", (int)path->count, path->at, (long long)weight);
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        fold_node(flame, node->first_child + i, path, ret);
    path->count = before;
}

void flame_folded(const struct flame *flame, struct text *ret)
{
    struct text path = {0};

    if (flame->node_count > 0)
        fold_node(flame, 0, &path, ret);
    text_free(&path);
}
