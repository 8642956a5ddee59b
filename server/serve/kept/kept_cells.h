/* SPDX-License-Identifier: Apache-2.0 */
/* How the bytes of a kept table lie: shared by who packs them and who opens them. */
#ifndef JVIEWD_SERVE_KEPT_KEPT_CELLS_H
#define JVIEWD_SERVE_KEPT_KEPT_CELLS_H

#include "serve/kept/kept_table.h"

enum { KEPT_KINDS = KIND_COUNT + 1 }; /* of a breakdown */

struct kept_counts { /* of all that follows them */
    uint64_t words, cells, breakdowns, rows, text_count, text_bytes;
};

struct kept_cells {
    struct kept_counts counts;
    const uint64_t *words, *values;
    const int64_t *breakdowns;    /* KEPT_KINDS each */
    const uint32_t *order, *ends; /* the table's own order of its rows */
    const uint8_t *kinds, *inexact;
    const char *texts;
};

static inline uint64_t kept_bytes(const struct kept_counts *counts)
{
    return sizeof *counts + 8 * (counts->words + counts->cells + KEPT_KINDS * counts->breakdowns) +
           4 * (counts->rows + counts->text_count) + counts->cells + counts->rows +
           counts->text_bytes;
}

#endif
