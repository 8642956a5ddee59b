/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of serve/tables: see tables.h. */
#ifndef JVIEWD_SERVE_TABLES_TABLES_PARTS_H
#define JVIEWD_SERVE_TABLES_TABLES_PARTS_H

#include "base/pack/pack.h"
#include "serve/answer/reply.h"
#include "serve/tables/tables.h"

enum { DATA_COLUMNS_MAX = 80, BATCH_ROWS_MAX = 65536 };

struct data_batch {
    const struct cell *cells; /* row by row, in the table's columns: of their types, or null */
    uint32_t row_count;
};

/* Where rows come from. */
struct data_source {
    struct request *req;
    const struct data_table *table;
    const struct run_record *run;
    const struct run_traces *traces;     /* NULL: the table needs none */
    struct cell whose[DATA_COLUMNS_MAX]; /* the columns in front: the same in each row */
    uint32_t own_first, own_end;         /* its own columns: behind these, before the reasons */
    struct arena *arena;                 /* of one batch */

    struct arena *page_arena; /* of views and what the catalog tells: so many rows at once */
    struct table page;
    uint32_t place[DATA_COLUMNS_MAX]; /* of each column in the page's table */
    uint32_t page_row;
    bool has_page;

    struct slices_at { /* of the tables of slices: what comes next */
        uint32_t host;
        row_id row;
        uint32_t chunk; /* of the row */
    } at;
};

/* Into one whose first four members are set. */
void data_source_open(struct data_source *source);
/* The next rows; none: there are no more. They live until the next call. */
MUST_CHECK enum status data_source_next(struct data_source *source, struct data_batch *ret,
                                        struct error *err);
void data_source_close(struct data_source *source);

/* The cell as a column of that type has it: a whole number, a real, a text of UTF-8, or null. */
struct cell data_cell(struct arena *arena, enum data_type type, struct cell cell);
/* {"flops": "the profile holds no HLO"} of a row's own cells; null where all are known. */
struct cell data_reasons(const struct data_source *source, const struct cell *row);
void data_put_whose(struct data_source *source);
MUST_CHECK enum status data_slices_next(struct data_source *source, struct data_batch *ret,
                                        struct error *err);

/* Writers: begun, given batches, ended. */
struct data_writer {
    const struct data_table *table;
    pack_write *write;
    void *to;
    struct text out; /* of the present piece */
    uint64_t offset; /* of it in the file */
    struct arrow_blocks *blocks;
};
struct data_format {
    const char *word, *type, *suffix;
    enum status (*begin)(struct data_writer *writer, struct error *err);
    enum status (*rows)(struct data_writer *writer, const struct data_batch *batch,
                        struct error *err);
    enum status (*end)(struct data_writer *writer, struct error *err);
};
extern const struct data_format data_csv, data_jsonl, data_arrow;
MUST_CHECK enum status data_flush(struct data_writer *writer, struct error *err);
void data_writer_free(struct data_writer *writer);

#endif
