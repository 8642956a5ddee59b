/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to a page: sorting by the words of a request, then cutting. */
#ifndef JVIEWD_ANALYSE_TABLE_H
#define JVIEWD_ANALYSE_TABLE_H

#include <math.h>

#include "analyse/analyse.h"
#include "trace/ps.h"

/* The value of a row and column; rows are numbered as their owner likes. */
typedef struct cell table_cell(const void *data, uint32_t row, uint32_t column);

struct table_source {
    const struct column *columns;
    uint32_t column_count, row_count;
    table_cell *cell;
    const void *data;
};

/* The rows' order by "-self_ps,name" ("" is `otherwise`): numbers by value, texts by bytes, null
 * last either way; equal rows keep theirs. Only the sort columns' cells are asked for. ERR_INVALID
 * names an unknown column. */
MUST_CHECK enum status table_order(const struct table_source *source, struct str sort,
                                   const char *otherwise, struct arena *arena, uint32_t **ret,
                                   struct error *err);
/* Does the sort name this column? For those that cost something. */
bool table_sorts_by(struct str sort, const char *column);
/* Ordinals [first, end) of the rows on the page. */
void table_range(const struct page *page, uint32_t row_count, uint32_t *ret_first,
                 uint32_t *ret_end);
/* The page's cells; keeps the order. */
void table_fill(const struct table_source *source, const uint32_t *order, const struct page *page,
                struct arena *arena, struct table *ret);
/* Why a table without rows has none, as its note; "" tells nothing. */
void table_tell_missing(struct table *table, const char *kind, struct str reason,
                        struct arena *arena);

static inline struct cell cell_integer(int64_t value)
{
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}
/* Neither NaN, which has no place in an order, nor infinity is a value. */
static inline struct cell cell_real(double value)
{
    if (!isfinite(value))
        return (struct cell){.kind = CELL_NULL, .of.text = STR("it is not a number")};
    return (struct cell){.kind = CELL_REAL, .of.real = value};
}
static inline struct cell cell_text(struct str text)
{
    return (struct cell){.kind = CELL_TEXT, .of.text = text};
}
static inline struct cell cell_bool(bool value)
{
    return (struct cell){.kind = CELL_BOOL, .of.boolean = value};
}
static inline struct cell cell_null(struct str reason)
{
    return (struct cell){.kind = CELL_NULL, .of.text = reason};
}
/* What was computed of a sum, where the sum is known (trace/ps.h). */
static inline struct cell cell_of_sum(int64_t sum_ps, struct cell cell)
{
    return ps_is_cut(sum_ps)
               ? cell_null(STR(
                     "the sum exceeds 2^63 ps (106 days), the largest value that can be stored"))
               : cell;
}

#endif
