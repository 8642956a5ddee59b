/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet tables that are flat: columns of numbers and texts, a value or null in each row.
 *
 *   PAR1  row group*  footer  footer size (4)  PAR1
 *   row group     a chunk a column: [dictionary page] data page*
 *   page          its head (Thrift)  levels  values        packed as a whole, or behind the levels
 *
 *   footer        2 schema*  3 rows  4 row groups* { 1 chunks* { 3 { 1 type  4 codec  5 values
 *                 7 packed size  9 data page offset  11 dictionary page offset } } }  6 writer
 *
 * Read: PLAIN, RLE and dictionary encodings; not packed, Snappy, gzip and zstd; pages of versions 1
 * and 2. Nested and repeated columns are not. Facts: the format's published description.
 */
#ifndef JVIEWD_DECODE_NSYS_JAX_PARQUET_H
#define JVIEWD_DECODE_NSYS_JAX_PARQUET_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/scratch.h"

enum parquet_type {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_INT96 = 3,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTES = 6,
    PARQUET_FIXED_BYTES = 7,
};

struct parquet_column {
    struct str name;
    enum parquet_type type;
    uint32_t fixed_size; /* of PARQUET_FIXED_BYTES */
    bool is_optional;
};

struct parquet_chunk { /* of a column, in a row group */
    uint64_t offset, size, value_count;
    int32_t codec;
};

struct parquet_budget {  /* what may still be made of one table, or of all tables of an archive */
    uint64_t bytes_left; /* that pages unpack to: they stay in memory */
    uint64_t cells_left;
};
struct parquet_budget parquet_budget(void);

struct parquet {
    struct bytes file;
    struct arena *arena;
    const struct parquet_column *columns;
    uint32_t column_count;
    const struct parquet_chunk *chunks; /* group * column_count + column */
    uint32_t group_count;
    uint64_t row_count;
    struct str writer;
    struct parquet_budget *budget;
};

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT };
struct parquet_cell {
    enum cell_kind kind;
    uint32_t count; /* of a text */
    union {
        int64_t integer;
        double real;
        const uint8_t *text; /* as long as the table's arena */
    };
};

bool parquet_is(struct bytes head);
/* `budget` NULL: one of its own. It is drawn on by parquet_read. */
MUST_CHECK enum status parquet_open(struct bytes file, struct parquet_budget *budget,
                                    struct arena *arena, struct parquet *ret, struct error *err);
/* The number of the column of that name; false: there is none. */
bool parquet_find(const struct parquet *parquet, struct str name, uint32_t *ret);
/* All cells of a column: row_count of them, in the scratch. */
MUST_CHECK enum status parquet_read(const struct parquet *parquet, uint32_t column,
                                    struct scratch *scratch, struct parquet_cell **ret,
                                    struct error *err);

#endif
