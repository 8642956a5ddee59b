/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts brackets, arguments and the return type off a kernel's name, for matching. */
#include "analyse/compare/match.h"

/* Everything in matched brackets falls away; "operator<" and "->" are left as they are. */
static size_t without_brackets(struct str name, char *to)
{
    size_t count = 0, depth = 0;

    for (size_t i = 0; i < name.count; i++) {
        char c = name.at[i];

        if (c == '<' || c == '(') {
            depth++;
        } else if ((c == '>' || c == ')') && depth > 0) {
            depth--;
        } else if (depth == 0) {
            to[count++] = c;
        }
    }
    return depth == 0 ? count : 0;
}

struct str kernel_stem(struct str name, struct arena *arena)
{
    char *stem = arena_alloc(arena, name.count + 1, 1);
    struct str ret = {.at = stem, .count = without_brackets(name, stem)};

    if (ret.count == 0 || ret.count == name.count)
        return name;
    while (ret.count > 0 && ret.at[ret.count - 1] == ' ')
        ret.count--;
    const char *space = memrchr(ret.at, ' ', ret.count);
    return space == NULL ? ret : str_skip(ret, (size_t)(space - ret.at) + 1);
}
