/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the words of a sort, orders the rows of a table, and cuts the page that is asked for. */
#include "analyse/table.h"

#include <stdlib.h>

enum { SORT_KEYS_MAX = 8, LIMIT_DEFAULT = 50 };

struct sort_key {
    uint32_t column;
    bool descending;
};

struct sort {
    struct sort_key keys[SORT_KEYS_MAX];
    uint32_t key_count;
    const struct cell *cells; /* row by row, key_count each */
};

/* The next word before a comma; false at the end. */
static bool next_word(struct str *rest, struct str *ret, bool *ret_descending)
{
    if (rest->count == 0)
        return false;

    const char *comma = memchr(rest->at, ',', rest->count);
    size_t count = comma != NULL ? (size_t)(comma - rest->at) : rest->count;
    struct str word = {.at = rest->at, .count = count};

    *rest = str_skip(*rest, count + 1);
    *ret_descending = str_starts(word, STR("-"));
    *ret = str_skip(word, *ret_descending ? 1 : 0);
    return true;
}

static enum status parse_sort(const struct table_source *source, struct str text, struct sort *ret,
                              struct error *err)
{
    struct str word;
    bool descending;

    while (next_word(&text, &word, &descending)) {
        uint32_t column = 0;

        while (column < source->column_count &&
               !str_equal(word, str_of(source->columns[column].key)))
            column++;
        if (column == source->column_count)
            return fail(err, ERR_INVALID, "this table has no column \"%.*s\" to sort by",
                        STR_ARG(word));
        if (ret->key_count == SORT_KEYS_MAX)
            return fail(err, ERR_INVALID, "at most %d columns to sort by", SORT_KEYS_MAX);
        ret->keys[ret->key_count++] = (struct sort_key){.column = column, .descending = descending};
    }
    return OK;
}

bool table_sorts_by(struct str sort, const char *column)
{
    struct str word;
    bool descending;

    while (next_word(&sort, &word, &descending)) {
        if (str_equal(word, str_of(column)))
            return true;
    }
    return false;
}

static int compare_reals(double a, double b)
{
    return (a > b) - (a < b);
}

static double as_real(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        return (double)cell->of.integer;
    case CELL_UNSIGNED:
        return (double)cell->of.uint;
    case CELL_REAL:
        return cell->of.real;
    case CELL_BOOL:
        return cell->of.boolean ? 1 : 0;
    default:
        return 0;
    }
}

static int compare_cells(const struct cell *a, const struct cell *b)
{
    if (a->kind == CELL_INTEGER && b->kind == CELL_INTEGER)
        return (a->of.integer > b->of.integer) - (a->of.integer < b->of.integer);
    if (a->kind == CELL_UNSIGNED && b->kind == CELL_UNSIGNED)
        return (a->of.uint > b->of.uint) - (a->of.uint < b->of.uint);
    if (a->kind == CELL_TEXT && b->kind == CELL_TEXT)
        return str_compare(a->of.text, b->of.text);
    return compare_reals(as_real(a), as_real(b));
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct sort *sort = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    for (uint32_t i = 0; i < sort->key_count; i++) {
        const struct cell *x = &sort->cells[(size_t)a * sort->key_count + i];
        const struct cell *y = &sort->cells[(size_t)b * sort->key_count + i];
        bool x_null = x->kind == CELL_NULL, y_null = y->kind == CELL_NULL;

        if (x_null != y_null)
            return x_null ? 1 : -1;

        int order = x_null ? 0 : compare_cells(x, y);

        if (order != 0)
            return sort->keys[i].descending ? -order : order;
    }
    return (a > b) - (a < b);
}

enum status table_order(const struct table_source *source, struct str sort_text,
                        const char *otherwise, struct arena *arena, uint32_t **ret,
                        struct error *err)
{
    struct sort sort = {0};
    uint32_t *order = arena_array(arena, uint32_t, source->row_count);

    TRY(parse_sort(source, sort_text.count > 0 ? sort_text : str_of(otherwise), &sort, err));

    struct cell *cells =
        memory_resize(NULL, (size_t)source->row_count * sort.key_count, sizeof(*cells));

    for (uint32_t row = 0; row < source->row_count; row++) {
        order[row] = row;
        for (uint32_t i = 0; i < sort.key_count; i++)
            cells[(size_t)row * sort.key_count + i] =
                source->cell(source->data, row, sort.keys[i].column);
    }
    sort.cells = cells;
    qsort_r(order, source->row_count, sizeof(*order), compare_rows, &sort);
    free(cells);
    *ret = order;
    return OK;
}

void table_range(const struct page *page, uint32_t row_count, uint32_t *ret_first,
                 uint32_t *ret_end)
{
    uint64_t limit = page->limit > 0 ? page->limit : LIMIT_DEFAULT;
    uint32_t first = page->offset < row_count ? (uint32_t)page->offset : row_count;

    *ret_first = first;
    *ret_end = limit < row_count - first ? first + (uint32_t)limit : row_count;
}

void table_fill(const struct table_source *source, const uint32_t *order, const struct page *page,
                struct arena *arena, struct table *ret)
{
    uint32_t first, end;

    table_range(page, source->row_count, &first, &end);

    struct cell *cells =
        arena_array(arena, struct cell, (size_t)(end - first) * source->column_count);

    for (uint32_t i = first; i < end; i++) {
        for (uint32_t column = 0; column < source->column_count; column++)
            cells[(size_t)(i - first) * source->column_count + column] =
                source->cell(source->data, order[i], column);
    }
    ret->columns = source->columns;
    ret->column_count = source->column_count;
    ret->cells = cells;
    ret->numbers = &order[first];
    ret->row_count = end - first;
    ret->row_count_all = source->row_count;
    ret->next = end < source->row_count ? end : 0;
}

void table_tell_missing(struct table *table, const char *kind, struct str reason,
                        struct arena *arena)
{
    struct answer_note *note = arena_new(arena, struct answer_note);

    if (reason.count == 0)
        return;
    *note =
        (struct answer_note){.kind = kind, .severity = NOTE_INFO, .message = reason, .count = 1};
    table->notes = note;
    table->note_count = 1;
}
