/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a name scope into its elements, and joins elements that differ in a number alone. */
#include "analyse/hlo/scope.h"

struct str scope_of_op(const struct trace *trace, const struct op *op)
{
    struct str scope = trace_name(trace, op->scope);
    size_t count = scope.count;

    if (op->caller != 0) /* "aten::addmm" */
        return scope;
    /* "path:type" of a tf_op; a path of HLO has no colon at its end. */
    while (count > 0 && scope.at[count - 1] != ':' && scope.at[count - 1] != '/' &&
           scope.at[count - 1] != ')' && scope.at[count - 1] != ']')
        count--;
    if (count > 0 && scope.at[count - 1] == ':')
        scope.count = count - 1;
    return scope;
}

bool scope_next(struct str *rest, struct str *ret)
{
    int open = 0;
    size_t count = 0;

    if (rest->count == 0)
        return false;
    for (; count < rest->count; count++) {
        char letter = rest->at[count];

        if (letter == '[' || letter == '(')
            open++;
        else if ((letter == ']' || letter == ')') && open > 0)
            open--;
        else if (letter == '/' && open == 0)
            break;
    }
    *ret = (struct str){.at = rest->at, .count = count};
    *rest = str_skip(*rest, count + 1);
    return true;
}

struct str scope_core(struct str element)
{
    while (element.count > 0 && element.at[element.count - 1] == ')') {
        const char *open = memchr(element.at, '(', element.count);

        if (open == NULL)
            break;
        element = str_skip(element, (size_t)(open - element.at) + 1);
        element.count--;
    }
    return element;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Each "_<digits>" that ends a word becomes "_*". */
static struct str fold_numbers(struct str text, struct arena *arena)
{
    char *to = arena_alloc(arena, text.count + 1, 1);
    size_t count = 0;

    for (size_t at = 0; at < text.count;) {
        size_t end = at + 1;

        to[count++] = text.at[at];
        if (text.at[at] == '_') {
            while (end < text.count && is_digit(text.at[end]))
                end++;
            if (end > at + 1 && (end == text.count || text.at[end] == '/' || text.at[end] == ')'))
                to[count++] = '*';
            else
                end = at + 1;
        }
        at = end;
    }
    return (struct str){.at = to, .count = count};
}

struct str scope_cut(struct str scope, uint32_t depth, bool fold, struct arena *arena)
{
    struct str rest = scope, element;

    if (depth > 0) {
        uint32_t seen = 0;

        while (seen < depth && scope_next(&rest, &element))
            seen++;
        if (seen > 0)
            scope.count = (size_t)(element.at + element.count - scope.at);
    }
    return fold ? fold_numbers(scope, arena) : scope;
}
