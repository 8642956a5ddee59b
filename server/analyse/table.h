/* Rows to a page: sorting by the words of a request, then cutting. */
#ifndef JVIEWD_ANALYSE_TABLE_H
#define JVIEWD_ANALYSE_TABLE_H

#include "analyse/analyse.h"

/* Orders whole rows of `column_count` cells by "-self_ps,name": integers and reals by value, texts
 * by bytes, null last in either direction; equal rows keep their order. ERR_INVALID names an
 * unknown column. */
MUST_CHECK enum status table_sort(struct cell *cells, uint32_t row_count,
                                  const struct column *columns, uint32_t column_count,
                                  struct str sort, struct arena *arena, struct error *err);
/* Points ret's cells, row_count, row_count_all and next at the page. */
void table_page(struct table *ret, const struct cell *cells, uint32_t row_count,
                const struct page *page);

static inline struct cell cell_integer(int64_t value)
{
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}
static inline struct cell cell_real(double value)
{
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

#endif
