/* SPDX-License-Identifier: Apache-2.0 */
/* FlatBuffers, as far as Arrow's messages need them: written from front to back.
 *
 *   root offset | vtable, table | what it points to: strings, vectors, tables
 *
 * A table's fields are put at once, by their number in the schema; one that points elsewhere is put
 * as 0, and set when its target is written, which is always further behind. Positions count from
 * the beginning of the text, which must be one of 8 bytes in what it becomes a part of.
 * Facts: https://flatbuffers.dev/internals/
 */
#ifndef JVIEWD_SERVE_TABLES_FLAT_H
#define JVIEWD_SERVE_TABLES_FLAT_H

#include "base/bytes.h"

enum { FLAT_FIELDS_MAX = 8 };

struct flat_field {
    uint8_t bytes; /* 1, 2, 4 or 8; 0: the field has its default */
    uint64_t value;
};

void flat_begin(struct text *out);
/* *ret_at[i] is where field i stands, or 0. The table's own position. */
size_t flat_table(struct text *out, const struct flat_field *fields, uint32_t count,
                  size_t ret_at[FLAT_FIELDS_MAX]);
size_t flat_string(struct text *out, struct str value);
/* A vector whose elements are at `bytes` apart and start at a multiple of `align`; zeroed. Where
 * its elements begin; its own position is 4 before. */
size_t flat_vector(struct text *out, uint32_t count, uint32_t bytes, uint32_t align);
/* The field or element at `from` points to `to`; the root is at 0. */
void flat_point(struct text *out, size_t from, size_t to);
/* A scalar inside what was put already. */
void flat_set(struct text *out, size_t at, uint64_t value, uint32_t bytes);
void flat_align(struct text *out, size_t align);

#endif
