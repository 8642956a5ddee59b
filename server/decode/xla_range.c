/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the names of XLA's NVTX ranges. Facts: names as XLA writes them. */
#include "decode/xla_range.h"

struct str xla_range_value(struct str name, struct str key)
{
    for (; name.count > key.count; name = str_skip(name, 1)) {
        if (!str_starts(name, key) || name.at[key.count] != '=')
            continue;
        name = str_skip(name, key.count + 1);
        size_t count = 0;
        while (count < name.count && name.at[count] != ',' && name.at[count] != '#')
            count++;
        return (struct str){.at = name.at, .count = count};
    }
    return STR("");
}

bool xla_range_is_module(struct str name)
{
    return str_starts(name, STR("TSL:XlaModule:"));
}

bool xla_range_is_op(struct str name)
{
    return str_starts(name, STR("TSL:Thunk:")) && str_contains(name, STR("hlo_op="));
}
