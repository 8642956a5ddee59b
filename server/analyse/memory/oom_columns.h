/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a table of memory that ran out, of a module (heap_fit_table.c) and of what was
 * told (oom_told.c). */
#ifndef JVIEWD_ANALYSE_MEMORY_OOM_COLUMNS_H
#define JVIEWD_ANALYSE_MEMORY_OOM_COLUMNS_H

#include "analyse/analyse.h"

enum oom_column {
    OOM_KIND,
    OOM_WHAT,
    OOM_BYTES,
    OOM_SHARE,
    OOM_LESS,
    OOM_SCOPE,
    OOM_SOURCE,
    OOM_TEXT,
    OOM_COLUMN_COUNT,
};
extern const struct column oom_columns[OOM_COLUMN_COUNT];

#endif
