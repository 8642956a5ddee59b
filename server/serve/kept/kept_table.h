/* SPDX-License-Identifier: Apache-2.0 */
/* A table as bytes and back: all of its rows, of which any page, order and format is made.
 *
 *   counts | words | values | breakdowns | order | ends | kinds | inexact | texts
 *
 *   words        what stands beside the rows, number by number: columns, notes, sums
 *   values       of each cell: a number, a text's id, or which breakdown
 *   order        of the table: rows themselves stand as their maker numbered them
 *   texts        each once, from the end of the one before to its own, with a NUL behind
 *
 * Made and read by the same program on the same machine, so numbers stand as they are in memory.
 * What is read is checked all the same: every id, every index, every size.
 */
#ifndef JVIEWD_SERVE_KEPT_KEPT_TABLE_H
#define JVIEWD_SERVE_KEPT_KEPT_TABLE_H

#include "analyse/analyse.h"

enum { KEPT_NOTE_LISTS = 2 }; /* of the request, and of the table */

struct kept_table {
    struct str head; /* the reply's JSON up to where the table begins */
    const struct answer_note *notes[KEPT_NOTE_LISTS];
    uint32_t note_counts[KEPT_NOTE_LISTS];
    struct table table; /* opened, without its cells */
    const struct kept_cells *cells;
};

/* `whole` has a head, notes, and a table with cells; the notes of the table are the second list.
 * The bytes live in the arena. */
struct bytes kept_table_pack(const struct kept_table *whole, struct arena *arena);
/* False: they are none. Texts and cells are borrowed from the bytes, which are aligned to 8. */
bool kept_table_open(struct bytes bytes, struct arena *arena, struct kept_table *ret);

/* Are the rows of this page among those that were kept? */
bool kept_table_has(const struct kept_table *kept, const struct page *page);
/* The table as its maker would have made this page. */
MUST_CHECK enum status kept_table_page(const struct kept_table *kept, const struct page *page,
                                       struct arena *arena, struct table *ret, struct error *err);

#endif
