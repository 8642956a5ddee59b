/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a view's row (struct view of serve/offers.h): its columns are those of the analysis'
 * table by name, and a cell of kinds is a column a kind ("compute_ps"). */
#ifndef JVIEWD_SERVE_ANSWER_VIEW_CELLS_H
#define JVIEWD_SERVE_ANSWER_VIEW_CELLS_H

#include "analyse/analyse.h"

#define VIEW_NO_PLACE UINT32_MAX

/* Of the view's column in the table, for view_cell; VIEW_NO_PLACE: the table has none. */
uint32_t view_place(const struct table *table, const char *name);
/* Null, without a reason, where the table has no such column. */
struct cell view_cell(const struct table *table, uint32_t row, uint32_t place);

struct json_t; /* of Jansson */
/* A value as JSON has it; a list is a text with blanks between. */
struct cell json_cell(const struct json_t *value, struct arena *arena);

#endif
