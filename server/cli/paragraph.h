/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on a terminal.
 *
 *    1  Each step waits 3.12 ms for input,
 *       9.2 % of its time, in data_loading.
 *
 * A line ends between two words, and those below it are indented. Into a file or a pipe a sentence
 * is one line, so that it can be searched.
 */
#ifndef JVIEWD_CLI_PARAGRAPH_H
#define JVIEWD_CLI_PARAGRAPH_H

#include <stdint.h>

#include "base/bytes.h"

/* Appends the text, cut into lines of `width` columns (0: not cut), and ends the last one. */
void paragraph_layout(struct str text, uint32_t indent, uint32_t width, struct text *out);
/* The same to stdout, as wide as its terminal, and no wider than is read with ease. */
void paragraph_put(struct str text, uint32_t indent);

#endif
