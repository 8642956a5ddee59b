/* SPDX-License-Identifier: Apache-2.0 */
/* Inside compare*.c. */
#ifndef JVIEWD_ANALYSE_COMPARE_COMPARE_PARTS_H
#define JVIEWD_ANALYSE_COMPARE_COMPARE_PARTS_H

#include "analyse/compare/compare.h"
#include "analyse/compare/diff_parts.h"

struct comparing {
    const struct diff_side *sides;
    const struct measured *measured; /* one a run */
    uint32_t count;
    struct arena *arena;
    struct comparison *out;
    uint32_t capacity; /* of out->rows */
};

/* A new row whose values are null. */
struct compare_row *compare_add(struct comparing *all, const char *group, struct str key,
                                enum unit unit);
/* Marks the least of the known numbers, where they are not all alike. */
void compare_mark(struct compare_row *row, uint32_t count);

void compare_ops(struct comparing *all, uint32_t op_limit);
/* Properties that the files record (versions, flags, devices) where runs differ. */
void compare_setup(struct comparing *all);

#endif
