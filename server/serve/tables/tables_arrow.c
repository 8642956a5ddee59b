/* SPDX-License-Identifier: Apache-2.0 */
/* An Arrow file: what pyarrow, DuckDB, Polars and pandas map as it lies there.
 *
 *   "ARROW1" 0 0 | schema | batch | batch ... | end | footer | size of the footer | "ARROW1"
 *
 *   message   ffffffff | size | Message, a FlatBuffer | body, at multiples of 8
 *   body      of each column: bits of what is there | values; of texts: bits | ends | bytes
 *   footer    the schema once more, and where each batch lies
 *
 * What stands between "ARROW1" and the footer is Arrow's stream, as it is. Facts: Arrow columnar
 * format 1.5, https://arrow.apache.org/docs/format/Columnar.html; Message.fbs, Schema.fbs,
 * File.fbs.
 */
#include <stdlib.h>

#include "serve/tables/flat.h"
#include "serve/tables/tables_parts.h"

enum { VERSION_V5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3, FIXED = 8 /* "ARROW1", padded */ };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, PRECISION_DOUBLE = 2 };

struct arrow_block { /* of the footer, as File.fbs lays it out */
    int64_t offset;
    int32_t head_bytes, zero;
    int64_t body_bytes;
};

struct arrow_blocks {
    struct arrow_block *at;
    uint32_t count, capacity;
};

struct arrow_buffer { /* of a batch, as Message.fbs lays it out */
    int64_t offset, bytes;
};

struct arrow_node {
    int64_t row_count, null_count;
};

/* The table of a type: its words are Schema.fbs's. */
static size_t put_type(struct text *out, enum data_type type)
{
    const struct flat_field whole[] = {{4, 64}, {1, 1}}, real[] = {{2, PRECISION_DOUBLE}};
    size_t at[FLAT_FIELDS_MAX];

    if (type == DATA_INTEGER)
        return flat_table(out, whole, COUNT(whole), at);
    if (type == DATA_REAL)
        return flat_table(out, real, COUNT(real), at);
    return flat_table(out, NULL, 0, at);
}

static uint8_t type_number(enum data_type type)
{
    return type == DATA_INTEGER ? TYPE_INT : type == DATA_REAL ? TYPE_FLOAT : TYPE_UTF8;
}

/* Field: name, nullable, type, its table, dictionary, children. Readers want the children, though
 * there are none. */
static size_t put_field(struct text *out, const struct data_column *column)
{
    const struct flat_field fields[] = {{4, 0}, {1, 1}, {1, type_number(column->type)},
                                        {4, 0}, {0, 0}, {4, 0}};
    size_t at[FLAT_FIELDS_MAX];
    size_t ret = flat_table(out, fields, COUNT(fields), at);

    flat_point(out, at[0], flat_string(out, str_of(column->name)));
    flat_point(out, at[3], put_type(out, column->type));
    flat_point(out, at[5], flat_vector(out, 0, 4, 4) - 4);
    return ret;
}

static size_t put_pair(struct text *out, struct str key, struct str value)
{
    const struct flat_field fields[] = {{4, 0}, {4, 0}};
    size_t at[FLAT_FIELDS_MAX];
    size_t ret = flat_table(out, fields, COUNT(fields), at);

    flat_point(out, at[0], flat_string(out, key));
    flat_point(out, at[1], flat_string(out, value));
    return ret;
}

/* Schema: byte order, fields, and which table of which version it is. */
static size_t put_schema(struct text *out, const struct data_table *table)
{
    const struct flat_field fields[] = {{0, 0}, {4, 0}, {4, 0}};
    char version[16];
    size_t at[FLAT_FIELDS_MAX];
    size_t ret = flat_table(out, fields, COUNT(fields), at);
    size_t list = flat_vector(out, table->column_count, 4, 4);

    flat_point(out, at[1], list - 4);
    for (uint32_t i = 0; i < table->column_count; i++)
        flat_point(out, list + 4 * (size_t)i, put_field(out, &table->columns[i]));
    version[integer_digits(TABLES_VERSION, version)] = '\0';
    list = flat_vector(out, 2, 4, 4);
    flat_point(out, at[2], list - 4);
    flat_point(out, list, put_pair(out, STR("jviewd.table"), str_of(table->name)));
    flat_point(out, list + 4, put_pair(out, STR("jviewd.version"), str_of(version)));
    return ret;
}

/* Message: version, kind of header, header, bytes of the body. Where the header is to be set. */
static size_t begin_message(struct text *out, uint8_t header, uint64_t body_bytes)
{
    const struct flat_field fields[] = {{2, VERSION_V5}, {1, header}, {4, 0}, {8, body_bytes}};
    size_t at[FLAT_FIELDS_MAX];

    flat_begin(out);
    flat_point(out, 0, flat_table(out, fields, COUNT(fields), at));
    return at[2];
}

/* The message's head goes before what is put next; how many bytes that takes. */
static uint32_t put_message(struct data_writer *writer, struct text *message)
{
    uint32_t head[2] = {UINT32_MAX, 0};

    flat_align(message, 8);
    head[1] = (uint32_t)message->count;
    text_put(&writer->out, (const char *)head, sizeof head);
    text_put(&writer->out, message->at, message->count);
    uint32_t ret = (uint32_t)(sizeof head + message->count);
    text_free(message);
    return ret;
}

static enum status begin_arrow(struct data_writer *writer, struct error *err)
{
    struct text message = {0};

    writer->blocks = memory_resize(NULL, 1, sizeof *writer->blocks);
    *writer->blocks = (struct arrow_blocks){0};
    text_put(&writer->out, "ARROW1\0\0", FIXED);
    size_t at = begin_message(&message, HEADER_SCHEMA, 0);
    flat_point(&message, at, put_schema(&message, writer->table));
    put_message(writer, &message);
    return data_flush(writer, err);
}

/* One column of a batch. */
struct column_bytes {
    const struct data_batch *batch;
    uint32_t column, column_count;
};

static const struct cell *cell_at(const struct column_bytes *from, uint32_t row)
{
    return &from->batch->cells[(size_t)row * from->column_count + from->column];
}

static void end_buffer(struct text *body, size_t began, struct arrow_buffer *ret)
{
    *ret = (struct arrow_buffer){.offset = (int64_t)began, .bytes = (int64_t)(body->count - began)};
    flat_align(body, 8);
}

static int64_t put_bits(struct text *body, const struct column_bytes *from,
                        struct arrow_buffer *ret)
{
    size_t began = body->count;
    int64_t nulls = 0;

    for (uint32_t row = 0; row < from->batch->row_count; row += 8) {
        char bits = 0;

        for (uint32_t i = 0; i < 8 && row + i < from->batch->row_count; i++) {
            bool is_there = cell_at(from, row + i)->kind != CELL_NULL;

            bits = (char)(bits | is_there << i);
            nulls += !is_there;
        }
        text_put(body, &bits, 1);
    }
    end_buffer(body, began, ret);
    return nulls;
}

static void put_numbers(struct text *body, const struct column_bytes *from,
                        struct arrow_buffer *ret)
{
    static const int64_t none = 0;
    size_t began = body->count;

    for (uint32_t row = 0; row < from->batch->row_count; row++) {
        const struct cell *cell = cell_at(from, row);
        const void *value = cell->kind == CELL_INTEGER ? (const void *)&cell->of.integer
                            : cell->kind == CELL_REAL  ? (const void *)&cell->of.real
                                                       : (const void *)&none;

        text_put(body, value, 8);
    }
    end_buffer(body, began, ret);
}

/* Ends count 32 bits: whoever makes batches keeps their texts below that. */
static void put_texts(struct text *body, const struct column_bytes *from,
                      struct arrow_buffer ret[2])
{
    size_t began = body->count;
    int32_t end = 0;

    text_put(body, (const char *)&end, sizeof end);
    for (uint32_t row = 0; row < from->batch->row_count; row++) {
        const struct cell *cell = cell_at(from, row);

        end += cell->kind == CELL_TEXT ? (int32_t)cell->of.text.count : 0;
        text_put(body, (const char *)&end, sizeof end);
    }
    end_buffer(body, began, &ret[0]);
    began = body->count;
    for (uint32_t row = 0; row < from->batch->row_count; row++) {
        const struct cell *cell = cell_at(from, row);

        if (cell->kind == CELL_TEXT)
            text_put(body, cell->of.text.at, cell->of.text.count);
    }
    end_buffer(body, began, &ret[1]);
}

struct batch_parts {
    struct arrow_node nodes[DATA_COLUMNS_MAX];
    struct arrow_buffer buffers[3 * DATA_COLUMNS_MAX];
    uint32_t buffer_count;
    struct text body;
};

static void put_columns(const struct data_table *table, const struct data_batch *batch,
                        struct batch_parts *ret)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column_bytes from = {batch, i, table->column_count};
        struct arrow_buffer *buffers = &ret->buffers[ret->buffer_count];

        ret->nodes[i] = (struct arrow_node){batch->row_count, put_bits(&ret->body, &from, buffers)};
        if (table->columns[i].type == DATA_TEXT)
            put_texts(&ret->body, &from, &buffers[1]);
        else
            put_numbers(&ret->body, &from, &buffers[1]);
        ret->buffer_count += table->columns[i].type == DATA_TEXT ? 3 : 2;
    }
}

/* RecordBatch: rows, nodes, buffers. */
static void put_batch(struct text *message, size_t at, uint32_t column_count, uint32_t row_count,
                      const struct batch_parts *parts)
{
    const struct flat_field fields[] = {{8, row_count}, {4, 0}, {4, 0}};
    size_t places[FLAT_FIELDS_MAX];

    flat_point(message, at, flat_table(message, fields, COUNT(fields), places));
    size_t list = flat_vector(message, column_count, sizeof *parts->nodes, 8);
    flat_point(message, places[1], list - 4);
    memcpy(message->at + list, parts->nodes, column_count * sizeof *parts->nodes);
    list = flat_vector(message, parts->buffer_count, sizeof *parts->buffers, 8);
    flat_point(message, places[2], list - 4);
    memcpy(message->at + list, parts->buffers, parts->buffer_count * sizeof *parts->buffers);
}

static void add_block(struct arrow_blocks *blocks, struct arrow_block block)
{
    if (blocks->count == blocks->capacity) {
        blocks->capacity = blocks->capacity * 2 + 16;
        blocks->at = memory_resize(blocks->at, blocks->capacity, sizeof *blocks->at);
    }
    blocks->at[blocks->count++] = block;
}

static enum status rows_arrow(struct data_writer *writer, const struct data_batch *batch,
                              struct error *err)
{
    struct batch_parts *parts = memory_resize(NULL, 1, sizeof *parts);
    struct text message = {0};

    *parts = (struct batch_parts){0};
    put_columns(writer->table, batch, parts);
    size_t at = begin_message(&message, HEADER_BATCH, parts->body.count);
    put_batch(&message, at, writer->table->column_count, batch->row_count, parts);
    struct arrow_block block = {.offset = (int64_t)writer->offset,
                                .body_bytes = (int64_t)parts->body.count};
    block.head_bytes = (int32_t)put_message(writer, &message);
    add_block(writer->blocks, block);
    text_put(&writer->out, parts->body.at, parts->body.count);
    text_free(&parts->body);
    free(parts);
    return data_flush(writer, err);
}

/* Footer: version, schema, dictionaries, batches. */
static enum status end_arrow(struct data_writer *writer, struct error *err)
{
    const struct flat_field fields[] = {{2, VERSION_V5}, {4, 0}, {4, 0}, {4, 0}};
    const struct arrow_blocks *blocks = writer->blocks;
    const uint32_t end[2] = {UINT32_MAX, 0};
    size_t at[FLAT_FIELDS_MAX];
    struct text footer = {0};

    flat_begin(&footer);
    flat_point(&footer, 0, flat_table(&footer, fields, COUNT(fields), at));
    flat_point(&footer, at[1], put_schema(&footer, writer->table));
    flat_point(&footer, at[2], flat_vector(&footer, 0, sizeof *blocks->at, 8) - 4);
    size_t list = flat_vector(&footer, blocks->count, sizeof *blocks->at, 8);
    flat_point(&footer, at[3], list - 4);
    if (blocks->count > 0)
        memcpy(footer.at + list, blocks->at, blocks->count * sizeof *blocks->at);
    flat_align(&footer, 8);
    uint32_t size = (uint32_t)footer.count;
    text_put(&writer->out, (const char *)end, sizeof end);
    text_put(&writer->out, footer.at, footer.count);
    text_put(&writer->out, (const char *)&size, sizeof size);
    text_put(&writer->out, "ARROW1", 6);
    text_free(&footer);
    return data_flush(writer, err);
}

void data_writer_free(struct data_writer *writer)
{
    text_free(&writer->out);
    if (writer->blocks != NULL)
        free(writer->blocks->at);
    free(writer->blocks);
    writer->blocks = NULL;
}

const struct data_format data_arrow = {.word = "arrow",
                                       .type = "application/vnd.apache.arrow.file",
                                       .suffix = ".arrow",
                                       .begin = begin_arrow,
                                       .rows = rows_arrow,
                                       .end = end_arrow};
