/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a table into the bytes that kept_table.c reads. */
#include "analyse/table.h"
#include "base/names.h"
#include "base/sort.h"
#include "serve/kept/kept_cells.h"

enum { FIXED_WORDS = 16, COLUMN_WORDS = 4, NOTE_WORDS = 5 };

struct packer {
    struct names *texts;
    uint64_t *words, *values;
    int64_t *breakdowns;
    uint32_t *order;
    uint8_t *kinds, *inexact;
    struct kept_counts counts;
};

static void put(struct packer *packer, uint64_t word)
{
    packer->words[packer->counts.words++] = word;
}

static void put_text(struct packer *packer, struct str text)
{
    put(packer, names_add(packer->texts, text));
}

static uint64_t value_of(struct packer *packer, const struct cell *cell)
{
    uint64_t value = 0;

    switch (cell->kind) {
    case CELL_NULL:
    case CELL_TEXT:
        return names_add(packer->texts, cell->of.text);
    case CELL_BOOL:
        return cell->of.boolean;
    case CELL_KINDS:
        memcpy(&packer->breakdowns[packer->counts.breakdowns * KEPT_KINDS], cell->of.kinds,
               KEPT_KINDS * sizeof(int64_t));
        return packer->counts.breakdowns++;
    default:
        memcpy(&value, &cell->of, sizeof value);
        return value;
    }
}

static void pack_words(struct packer *packer, const struct kept_table *whole)
{
    const struct table *table = &whole->table;

    put_text(packer, whole->head);
    put_text(packer, table->by);
    put_text(packer, table->of);
    put(packer, (uint64_t)table->total_ps);
    put(packer, (uint64_t)table->total_self_ps);
    put(packer, table->row_count_all);
    put(packer, table->inexact != NULL);
    put(packer, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        put_text(packer, str_of(table->columns[i].key));
        put_text(packer, str_of(table->columns[i].title));
        put(packer, table->columns[i].unit);
        put(packer, table->columns[i].by_default);
    }
    put(packer, table->approx_count);
    for (uint32_t i = 0; i < table->approx_count; i++)
        put_text(packer, str_of(table->approx[i]));
    for (int list = 0; list < KEPT_NOTE_LISTS; list++) {
        put(packer, whole->note_counts[list]);
        for (uint32_t i = 0; i < whole->note_counts[list]; i++) {
            const struct answer_note *note = &whole->notes[list][i];

            put_text(packer, str_of(note->kind));
            put(packer, note->severity);
            put_text(packer, note->message);
            put_text(packer, note->host);
            put(packer, note->count);
        }
    }
}

static bool numbered_before(const uint64_t *a, const uint64_t *b)
{
    return *a < *b;
}
SORT_DEFINE(sort_numbered, uint64_t, numbered_before)

/* Rows go as they are numbered; their order as the table has them stands beside. */
static void pack_rows(struct packer *packer, const struct table *table, struct arena *arena)
{
    uint64_t *numbered = arena_array(arena, uint64_t, table->row_count), at = 0;

    packer->counts.rows = table->row_count;
    packer->counts.cells = (uint64_t)table->row_count * table->column_count;
    for (uint32_t i = 0; i < table->row_count; i++)
        numbered[i] = (uint64_t)table->numbers[i] << 32 | i;
    sort_numbered(numbered, table->row_count);
    for (uint32_t row = 0; row < table->row_count; row++) {
        uint32_t place = (uint32_t)numbered[row];

        packer->order[place] = row;
        packer->inexact[row] = table->inexact != NULL && table->inexact[place];
        for (uint32_t column = 0; column < table->column_count; column++, at++) {
            const struct cell *cell = &table->cells[(size_t)place * table->column_count + column];

            packer->kinds[at] = (uint8_t)cell->kind;
            packer->values[at] = value_of(packer, cell);
        }
    }
}

static void copy(uint8_t **to, const void *from, uint64_t count)
{
    if (count > 0)
        memcpy(*to, from, count);
    *to += count;
}

/* Where each text ends, its NUL with it. */
static void copy_ends(uint8_t **to, const struct packer *packer)
{
    uint32_t end = 0;

    for (name_id id = 0; id < packer->counts.text_count; id++) {
        end += (uint32_t)names_get(packer->texts, id).count + 1;
        copy(to, &end, sizeof end);
    }
}

static struct bytes join(struct packer *packer, struct arena *arena)
{
    struct kept_counts *counts = &packer->counts;

    counts->text_count = names_count(packer->texts);
    counts->text_bytes = names_bytes(packer->texts) + counts->text_count;

    uint64_t count = kept_bytes(counts);
    uint8_t *start = arena_alloc(arena, count, 1), *at = start;

    copy(&at, counts, sizeof *counts);
    copy(&at, packer->words, 8 * counts->words);
    copy(&at, packer->values, 8 * counts->cells);
    copy(&at, packer->breakdowns, 8 * KEPT_KINDS * counts->breakdowns);
    copy(&at, packer->order, 4 * counts->rows);
    copy_ends(&at, packer);
    copy(&at, packer->kinds, counts->cells);
    copy(&at, packer->inexact, counts->rows);
    for (name_id id = 0; id < counts->text_count; id++) {
        struct str text = names_get(packer->texts, id);

        copy(&at, text.at, text.count);
        *at++ = '\0';
    }
    return (struct bytes){.at = start, .count = count};
}

struct bytes kept_table_pack(const struct kept_table *whole, struct arena *arena)
{
    const struct table *table = &whole->table;
    size_t cells = (size_t)table->row_count * table->column_count;
    size_t notes = (size_t)whole->note_counts[0] + whole->note_counts[1];
    struct packer packer = {
        .texts = names_create(),
        .words = arena_array(arena, uint64_t,
                             FIXED_WORDS + COLUMN_WORDS * (size_t)table->column_count +
                                 table->approx_count + NOTE_WORDS * notes),
        .values = arena_array(arena, uint64_t, cells),
        .order = arena_array(arena, uint32_t, table->row_count),
        .kinds = arena_array(arena, uint8_t, cells),
        .inexact = arena_array(arena, uint8_t, table->row_count),
    };
    size_t breakdowns = 0;

    for (size_t i = 0; i < cells; i++)
        breakdowns += table->cells[i].kind == CELL_KINDS;
    packer.breakdowns = arena_array(arena, int64_t, breakdowns * KEPT_KINDS);
    pack_words(&packer, whole);
    pack_rows(&packer, table, arena);

    struct bytes ret = join(&packer, arena);

    names_destroy(packer.texts);
    return ret;
}
