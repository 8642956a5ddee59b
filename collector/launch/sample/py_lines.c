/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes co_linetable in the forms of CPython 3.10 and 3.11. Facts: Objects/locations.md of
 * CPython. */
#include "launch/sample/py_lines.h"

enum { NO_LINE = -128, UNIT_BYTES = 2, KIND_LONG = 14, KIND_NO_COLUMNS = 13, KIND_ONE_LINE = 10 };

static uint32_t line_of(int64_t line)
{
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

static uint32_t pairs_line(struct bytes table, int64_t line, uint64_t at)
{
    uint64_t end = 0;

    for (size_t pair = 0; pair + 1 < table.count; pair += 2) {
        int8_t step = (int8_t)table.at[pair + 1];

        end += table.at[pair];
        line += step == NO_LINE ? 0 : step;
        if (at < end)
            return step == NO_LINE ? 0 : line_of(line);
    }
    return 0;
}

static int64_t signed_varint(struct bytes table, size_t at)
{
    uint64_t value = 0;

    for (int shift = 0; at < table.count && shift < 36; shift += 6) {
        value |= (uint64_t)(table.at[at] & 63) << shift;
        if ((table.at[at++] & 64) == 0)
            break;
    }
    return (value & 1) != 0 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static uint32_t entries_line(struct bytes table, int64_t line, uint64_t at)
{
    uint64_t end = 0;

    for (size_t entry = 0; entry < table.count;) {
        int kind = table.at[entry] >> 3 & 15;

        end += (uint64_t)((table.at[entry] & 7) + 1) * UNIT_BYTES;
        if (kind == KIND_LONG || kind == KIND_NO_COLUMNS)
            line += signed_varint(table, entry + 1);
        else if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS)
            line += kind - KIND_ONE_LINE;
        if (at < end)
            return kind == 15 ? 0 : line_of(line);
        for (entry++; entry < table.count && (table.at[entry] & 0x80) == 0;)
            entry++;
    }
    return 0;
}

uint32_t py_line(uint32_t version, struct bytes table, int64_t first_line, uint64_t at)
{
    return version < 0x030b ? pairs_line(table, first_line, at)
                            : entries_line(table, first_line, at);
}
