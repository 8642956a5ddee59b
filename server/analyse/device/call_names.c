/* SPDX-License-Identifier: Apache-2.0 */
/* Reads functions and programs from the names of calls. */
#include "analyse/device/call_names.h"

bool call_function(struct str name, struct str *ret)
{
    const struct str head = STR("PjitFunction("), compiled = STR("jit(");

    if (!str_starts(name, head) || !str_ends(name, STR(")")))
        return false;
    *ret = (struct str){.at = name.at + head.count, .count = name.count - head.count - 1};
    if (str_starts(*ret, compiled) && str_ends(*ret, STR(")"))) /* compiled ahead of its calls */
        *ret =
            (struct str){.at = ret->at + compiled.count, .count = ret->count - compiled.count - 1};
    return ret->count > 0;
}

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '-' ||
           (byte & 0x80) != 0;
}

/* "jit__lambda" is the program of <lambda>: JAX writes `_` for what no name of a module may have,
 * and none at its end. A name that Python gave twice has more behind it. */
bool call_runs_program(struct str program, struct str function)
{
    if (!str_starts(program, STR("jit_")))
        return false;
    program = str_skip(program, 4);
    while (function.count > 0 &&
           (function.at[function.count - 1] == '_' || !is_word(function.at[function.count - 1])))
        function.count--;
    if (program.count != function.count)
        return false;
    for (size_t i = 0; i < program.count; i++)
        if (program.at[i] != (is_word(function.at[i]) ? function.at[i] : '_'))
            return false;
    return true;
}

bool call_executes(struct str name, struct str *ret_program)
{
    *ret_program = STR("");
    /* "[3] ...Execute" is a device's part of one. */
    if (!str_contains(name, STR("Executable::Execute")) || str_starts(name, STR("[")))
        return false;
    for (size_t i = 0; i < name.count && str_ends(name, STR(")")); i++)
        if (name.at[i] == '(')
            *ret_program = (struct str){.at = name.at + i + 1, .count = name.count - i - 2};
    return true;
}
