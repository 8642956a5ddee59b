/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a kept table with a check of every size, and makes the page that is asked for. */
#include "analyse/table.h"
#include "serve/kept/kept_cells.h"

enum { COLUMNS_MAX = 1 << 10, NOTES_MAX = 1 << 16 };

struct reader { /* sticky: past the end, or past a limit, there are only zeros */
    const struct kept_cells *cells;
    uint64_t at;
    bool failed;
};

static uint64_t take(struct reader *reader, uint64_t max)
{
    if (reader->failed || reader->at == reader->cells->counts.words ||
        reader->cells->words[reader->at] > max) {
        reader->failed = true;
        return 0;
    }
    return reader->cells->words[reader->at++];
}

/* NUL-terminated, which opening has checked. */
static struct str text_of(const struct kept_cells *cells, uint64_t id)
{
    uint32_t start = id == 0 ? 0 : cells->ends[id - 1];

    return (struct str){.at = cells->texts + start, .count = cells->ends[id] - start - 1};
}

static struct str take_text(struct reader *reader)
{
    uint64_t id = take(reader, reader->cells->counts.text_count - 1);

    return text_of(reader->cells, id);
}

static void take_columns(struct reader *reader, struct arena *arena, struct table *ret)
{
    ret->column_count = (uint32_t)take(reader, COLUMNS_MAX);

    struct column *columns = arena_array(arena, struct column, ret->column_count);

    for (uint32_t i = 0; i < ret->column_count; i++) {
        columns[i].key = take_text(reader).at;
        columns[i].title = take_text(reader).at;
        columns[i].unit = (enum unit)take(reader, UNIT_TEXT);
        columns[i].by_default = take(reader, 1);
    }
    ret->columns = columns;
    ret->approx_count = (uint32_t)take(reader, COLUMNS_MAX);

    const char **approx = arena_array(arena, const char *, ret->approx_count);

    for (uint32_t i = 0; i < ret->approx_count; i++)
        approx[i] = take_text(reader).at;
    ret->approx = approx;
}

static void take_notes(struct reader *reader, struct arena *arena, struct kept_table *ret)
{
    for (int list = 0; list < KEPT_NOTE_LISTS; list++) {
        uint32_t count = (uint32_t)take(reader, NOTES_MAX);
        struct answer_note *notes = arena_array(arena, struct answer_note, count);

        for (uint32_t i = 0; i < count; i++) {
            notes[i].kind = take_text(reader).at;
            notes[i].severity = (enum note_severity)take(reader, NOTE_ERROR);
            notes[i].message = take_text(reader);
            notes[i].host = take_text(reader);
            notes[i].count = take(reader, UINT64_MAX);
        }
        ret->notes[list] = notes;
        ret->note_counts[list] = count;
    }
    ret->table.notes = ret->notes[KEPT_NOTE_LISTS - 1];
    ret->table.note_count = ret->note_counts[KEPT_NOTE_LISTS - 1];
}

/* Sizes that fit the bytes exactly; no sum of them can wrap, since each is below their number. */
static bool lay_out(struct bytes bytes, struct kept_cells *ret)
{
    const uint8_t *at = bytes.at + sizeof ret->counts;
    const struct kept_counts *counts = &ret->counts;

    if (bytes.count < sizeof ret->counts || bytes.count > UINT32_MAX)
        return false;
    memcpy(&ret->counts, bytes.at, sizeof ret->counts);
    if (counts->words > bytes.count || counts->cells > bytes.count ||
        counts->breakdowns > bytes.count || counts->rows > bytes.count ||
        counts->text_count > bytes.count || counts->text_count == 0 ||
        counts->text_bytes > bytes.count || kept_bytes(counts) != bytes.count)
        return false;
    ret->words = (const void *)at;
    ret->values = ret->words + counts->words;
    ret->breakdowns = (const void *)(ret->values + counts->cells);
    ret->order = (const void *)(ret->breakdowns + KEPT_KINDS * counts->breakdowns);
    ret->ends = ret->order + counts->rows;
    ret->kinds = (const void *)(ret->ends + counts->text_count);
    ret->inexact = ret->kinds + counts->cells;
    ret->texts = (const void *)(ret->inexact + counts->rows);
    return true;
}

static bool texts_are_whole(const struct kept_cells *cells)
{
    uint64_t before = 0;

    for (uint64_t id = 0; id < cells->counts.text_count; id++) {
        uint64_t end = cells->ends[id];

        if (end <= before || end > cells->counts.text_bytes || cells->texts[end - 1] != '\0')
            return false;
        before = end;
    }
    return before == cells->counts.text_bytes;
}

static bool order_is_whole(const struct kept_cells *cells)
{
    for (uint64_t i = 0; i < cells->counts.rows; i++) {
        if (cells->order[i] >= cells->counts.rows)
            return false;
    }
    return true;
}

static bool cells_are_whole(const struct kept_cells *cells)
{
    for (uint64_t i = 0; i < cells->counts.cells; i++) {
        uint8_t kind = cells->kinds[i];
        bool is_text = kind == CELL_NULL || kind == CELL_TEXT;

        if (kind > CELL_KINDS || (is_text && cells->values[i] >= cells->counts.text_count) ||
            (kind == CELL_KINDS && cells->values[i] >= cells->counts.breakdowns))
            return false;
    }
    return true;
}

bool kept_table_open(struct bytes bytes, struct arena *arena, struct kept_table *ret)
{
    struct kept_cells *cells = arena_new(arena, struct kept_cells);
    struct reader reader = {.cells = cells};
    struct table *table = &ret->table;

    *ret = (struct kept_table){.cells = cells};
    if (!lay_out(bytes, cells) || !texts_are_whole(cells) || !order_is_whole(cells) ||
        !cells_are_whole(cells))
        return false;
    ret->head = take_text(&reader);
    table->by = take_text(&reader);
    table->of = take_text(&reader);
    table->total_ps = (int64_t)take(&reader, UINT64_MAX);
    table->total_self_ps = (int64_t)take(&reader, UINT64_MAX);
    table->row_count_all = take(&reader, UINT64_MAX);
    if (take(&reader, 1) != 0)
        table->inexact = (const bool *)cells->inexact;
    take_columns(&reader, arena, table);
    take_notes(&reader, arena, ret);
    table->row_count = (uint32_t)cells->counts.rows;
    return !reader.failed && reader.at == cells->counts.words &&
           (uint64_t)table->row_count * table->column_count == cells->counts.cells;
}

bool kept_table_has(const struct kept_table *kept, const struct page *page)
{
    const struct table *table = &kept->table;

    return table->row_count == table->row_count_all ||
           (page->sort.count == 0 && page->offset < table->row_count &&
            page->limit <= table->row_count - page->offset);
}

struct rows {
    const struct kept_cells *cells;
    const double *shares; /* NULL: until they are in order there are none */
    uint32_t column_count, share_column;
};

static struct cell cell_at(const void *data, uint32_t row, uint32_t column)
{
    const struct rows *rows = data;
    const struct kept_cells *cells = rows->cells;
    size_t at = (size_t)row * rows->column_count + column;
    struct cell cell = {.kind = (enum cell_kind)cells->kinds[at]};

    if (column == rows->share_column)
        return cell_real(rows->shares == NULL ? 0 : rows->shares[row]);
    if (cell.kind == CELL_NULL || cell.kind == CELL_TEXT)
        cell.of.text = text_of(cells, cells->values[at]);
    else if (cell.kind == CELL_BOOL)
        cell.of.boolean = cells->values[at] != 0;
    else if (cell.kind == CELL_KINDS)
        cell.of.kinds = &cells->breakdowns[cells->values[at] * KEPT_KINDS];
    else
        memcpy(&cell.of, &cells->values[at], sizeof cells->values[at]);
    return cell;
}

static uint32_t column_of(const struct table *table, const char *key)
{
    uint32_t column = 0;

    while (column < table->column_count && strcmp(table->columns[column].key, key) != 0)
        column++;
    return column;
}

/* The one column that depends on the order: what all rows up to this one take of the whole. */
static void cumulate(struct rows *rows, const struct table *table, const uint32_t *order,
                     struct arena *arena)
{
    uint32_t self_column = column_of(table, "self_ps");
    double *shares = arena_array(arena, double, table->row_count), sum = 0;

    if (rows->share_column == table->column_count || self_column == table->column_count)
        return;
    for (uint32_t i = 0; i < table->row_count && table->total_self_ps > 0; i++) {
        sum += (double)cell_at(rows, order[i], self_column).of.integer;
        shares[order[i]] = sum / (double)table->total_self_ps;
    }
    rows->shares = shares;
}

static bool any_inexact(const struct table *whole, const struct table *page, const uint8_t *inexact)
{
    for (uint32_t i = 0; i < page->row_count; i++) {
        if (whole->inexact == NULL || inexact[page->numbers[i]] != 0)
            return true;
    }
    return whole->inexact == NULL;
}

enum status kept_table_page(const struct kept_table *kept, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    const struct table *whole = &kept->table;
    struct rows rows = {.cells = kept->cells,
                        .column_count = whole->column_count,
                        .share_column = column_of(whole, "cumulative_share")};
    const struct table_source source = {.columns = whole->columns,
                                        .column_count = whole->column_count,
                                        .row_count = whole->row_count,
                                        .cell = cell_at,
                                        .data = &rows};
    const uint32_t *order = kept->cells->order;
    uint32_t *sorted;

    *ret = *whole;
    if (page->sort.count > 0) {
        TRY(table_order(&source, page->sort, "", arena, &sorted, err));
        order = sorted;
    }
    cumulate(&rows, whole, order, arena);
    table_fill(&source, order, page, arena, ret);
    ret->row_count_all = whole->row_count_all;
    if (ret->next == 0 && ret->row_count > 0 &&
        page->offset + ret->row_count < whole->row_count_all)
        ret->next = page->offset + ret->row_count;
    if (!any_inexact(whole, ret, kept->cells->inexact))
        ret->approx_count = 0;
    return OK;
}
