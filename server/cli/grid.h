/* SPDX-License-Identifier: Apache-2.0 */
/* A Markdown table laid out for a terminal.
 *
 *   | name | count |        name    count
 *   |---|---:|         ->   dot.63    120
 *   | dot.63 | 120 |
 *
 * Endpoints already answer people in Markdown, with units and rounding; the terminal shows the same
 * cells, aligned. Where a width is given, the last columns are left out and the widest texts cut in
 * the middle until the line fits; a line below the table names what was left out. Lines that are no
 * table lose what escapes Markdown, and are otherwise as they were.
 */
#ifndef JVIEWD_CLI_GRID_H
#define JVIEWD_CLI_GRID_H

#include "base/bytes.h"

struct grid_style {
    uint32_t width; /* of the terminal; 0: as wide as it comes */
    bool bold_head;
};

/* Appends the laid-out text. */
void grid_layout(struct str markdown, struct grid_style style, struct text *out);

#endif
