/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a table that was kept: none, or every page of it can be made, in each order and in
 * each format. */
#include <stdlib.h>

#include "any/place_any.h"
#include "serve/answer/table_out.h"
#include "serve/kept/kept_table.h"

enum { ROWS_MAX = 8, COLUMNS_MAX = 8 };

static volatile uint64_t seen; /* all of it is read */

static void look(const struct kept_table *kept, const struct page *page)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct table table;
    uint64_t sum = 0;

    if (kept_table_page(kept, page, arena, &table, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
        arena_destroy(arena);
        return;
    }
    if (table.row_count > page->limit)
        abort();
    for (uint64_t i = 0; i < (uint64_t)table.row_count * table.column_count; i++) {
        const struct cell *cell = &table.cells[i];

        if (cell->kind == CELL_TEXT || cell->kind == CELL_NULL)
            for (size_t at = 0; at < cell->of.text.count; at++)
                sum += (unsigned char)cell->of.text.at[at];
        if (cell->kind == CELL_KINDS)
            sum += (uint64_t)cell->of.kinds[KIND_COUNT];
    }
    seen += sum;
    arena_destroy(arena);
}

static void look_at_beside(const struct kept_table *kept)
{
    seen += kept->head.count;

    for (int list = 0; list < KEPT_NOTE_LISTS; list++)
        for (uint32_t i = 0; i < kept->note_counts[list]; i++)
            seen += strlen(kept->notes[list][i].kind) + kept->notes[list][i].message.count;
    for (uint32_t i = 0; i < kept->table.column_count; i++)
        seen += strlen(kept->table.columns[i].key) + strlen(kept->table.columns[i].title);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    uint64_t *aligned = arena_alloc(arena, size / 8 + 1, 8);
    struct kept_table kept;

    if (size > 0)
        memcpy(aligned, data, size);
    if (kept_table_open((struct bytes){(const uint8_t *)aligned, size}, arena, &kept)) {
        look_at_beside(&kept);
        for (uint64_t offset = 0; offset < ROWS_MAX; offset += 3)
            look(&kept, &(struct page){.offset = offset, .limit = ROWS_MAX});
        for (uint32_t i = 0; i < kept.table.column_count && i < COLUMNS_MAX; i++)
            look(&kept,
                 &(struct page){.limit = ROWS_MAX, .sort = str_of(kept.table.columns[i].key)});
    }
    arena_destroy(arena);
    return 0;
}
