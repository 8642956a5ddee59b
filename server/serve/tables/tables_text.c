/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as text: CSV with one line of names, as every table of REST has it, and an object a line. */
#include "serve/answer/table_out.h"
#include "serve/tables/tables_parts.h"

enum status data_flush(struct data_writer *writer, struct error *err)
{
    struct bytes piece = {.at = (const uint8_t *)writer->out.at, .count = writer->out.count};

    if (piece.count > 0)
        TRY(writer->write(writer->to, piece, err));
    writer->offset += piece.count;
    writer->out.count = 0;
    return OK;
}

/* The names, then the rows; the names alone where there are none. */
static void put_csv(struct text *out, const struct data_table *table,
                    const struct data_batch *batch)
{
    struct column columns[DATA_COLUMNS_MAX] = {0};
    const struct table rows = {.columns = columns,
                               .column_count = table->column_count,
                               .cells = batch->cells,
                               .row_count = batch->row_count};

    for (uint32_t i = 0; i < table->column_count; i++)
        columns[i].key = table->columns[i].name;
    table_csv(out, &rows);
}

static enum status begin_csv(struct data_writer *writer, struct error *err)
{
    put_csv(&writer->out, writer->table, &(struct data_batch){0});
    return data_flush(writer, err);
}

static enum status rows_csv(struct data_writer *writer, const struct data_batch *batch,
                            struct error *err)
{
    struct text names = {0}, all = {0};

    put_csv(&names, writer->table, &(struct data_batch){0});
    put_csv(&all, writer->table, batch);
    text_put(&writer->out, all.at + names.count, all.count - names.count);
    text_free(&names);
    text_free(&all);
    return data_flush(writer, err);
}

static enum status end_text(struct data_writer *writer, struct error *err)
{
    return data_flush(writer, err);
}

static enum status begin_jsonl(struct data_writer *writer, struct error *err)
{
    (void)writer;
    (void)err;
    return OK;
}

static enum status rows_jsonl(struct data_writer *writer, const struct data_batch *batch,
                              struct error *err)
{
    const struct data_table *table = writer->table;
    const struct cell *cell = batch->cells;

    for (uint32_t row = 0; row < batch->row_count; row++) {
        struct json json = json_into(&writer->out);

        json_open(&json, '{');
        for (uint32_t i = 0; i < table->column_count; i++) {
            json_key(&json, table->columns[i].name);
            json_put_cell(&json, cell++);
        }
        json_close(&json, '}');
        text_puts(&writer->out, "\n");
    }
    return data_flush(writer, err);
}

const struct data_format data_csv = {.word = "csv",
                                     .type = "text/csv; charset=utf-8; header=present",
                                     .suffix = ".csv",
                                     .begin = begin_csv,
                                     .rows = rows_csv,
                                     .end = end_text};
const struct data_format data_jsonl = {.word = "jsonl",
                                       .type = "application/jsonl",
                                       .suffix = ".jsonl",
                                       .begin = begin_jsonl,
                                       .rows = rows_jsonl,
                                       .end = end_text};
