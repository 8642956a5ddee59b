/* SPDX-License-Identifier: Apache-2.0 */
/* A table as JSON rows, CSV or Markdown: the same numbers in each.
 *
 *   JSON   {"name":"dot.3","self_ps":1200,"flops":null,"reasons":{"flops":"no HLO"}}
 *   CSV    name,self_ps,flops        RFC 4180; headers are the JSON names
 *          dot.3,1200,
 *   MD     | name | self (ms) |      the columns a terminal shows, humanised
 */
#ifndef JVIEWD_SERVE_ANSWER_TABLE_OUT_H
#define JVIEWD_SERVE_ANSWER_TABLE_OUT_H

#include "serve/answer/reply.h"

void json_put_cell(struct json *json, const struct cell *cell);
/* The members of one row and their reasons, inside of an open object. */
void json_put_cells(struct json *json, const struct table *table, uint32_t row);
/* {...},{...}: what stands inside of an open list. */
void json_put_row_objects(struct json *json, const struct table *table);
/* "rows": [...] */
void json_put_rows(struct json *json, const struct table *table);
/* "approx": [...] */
void json_put_approx(struct json *json, const struct table *table);
/* "row_count", "next", "rows", "notes", "approx"; nothing where the table is made to be kept. One
 * that a filter left without rows says so in a note, here and as text. */
void json_put_table(struct json *json, const struct request *req, const struct table *table);
/* How many notes, 1 or 0, are to say that a sum among the rows ended (trace/ps.h): none where one
 * of these does. */
uint32_t table_cut_note(const struct table *table, const struct answer_note *notes, uint32_t count,
                        const struct answer_note **ret);
/* The same with the notes that were told then: those of the request and the table's. */
void json_put_table_noted(struct json *json, const struct answer_note *const lists[2],
                          const uint32_t counts[2], const struct table *table);

/* Of an answer that is empty: how many notes, 1 or 0, are to say that the question's filters leave
 * nothing. */
uint32_t nothing_fits_note(const struct request *req, struct answer_note *ret);

/* format=csv or md: answers and is true; else false and nothing was done. */
bool reply_table_text(const struct request *req, struct reply *reply, const struct table *table);

/* format=csv or md of an answer that is one thing and stands as JSON: its fields (fields.h). */
MUST_CHECK enum status reply_fields(const struct request *req, struct reply *reply,
                                    struct error *err);

/* A name that cannot act: no cell, link, tag or emphasis ends or begins in it. */
void markdown_put(struct text *out, struct str value);
void table_csv(struct text *out, const struct table *table);
void table_markdown(struct text *out, const struct table *table);

#endif
