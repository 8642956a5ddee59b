/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a column, page by page.
 *
 *   data page 1   packed: [size (4) levels]  values
 *   data page 2   levels  packed: values
 *   levels        runs: a row has a value or not
 *   runs          varint: count << 1 and a value, or groups of 8 << 1 | 1 and packed bits
 *   values        PLAIN one behind the other, or an index width (1) and runs of indexes into the
 *                 dictionary page's PLAIN values
 */
#include <inttypes.h>

#include "base/pack/pack.h"
#include "decode/nsys_jax/parquet.h"
#include "decode/nsys_jax/thrift.h"

enum { CODEC_NONE = 0, CODEC_SNAPPY = 1, CODEC_GZIP = 2, CODEC_ZSTD = 6 };
enum { PAGE_DATA = 0, PAGE_INDEX = 1, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };
enum { PLAIN = 0, PLAIN_DICTIONARY = 2, RLE = 3, RLE_DICTIONARY = 8 };
enum { PAGE_BYTES_MAX = 256 << 20 };

struct page {
    int64_t type, size, packed_size, value_count, encoding, level_bytes;
    bool is_packed;
};

struct column_reader {
    const struct parquet *parquet;
    const struct parquet_column *column;
    int32_t codec;
    struct parquet_cell *dictionary;
    uint64_t dictionary_count;
    struct parquet_cell *cells;
    uint64_t cell_count;
    struct scratch *scratch;
    struct error *err;
};

static enum status damaged(const struct column_reader *reader)
{
    return fail(reader->err, ERR_FORMAT,
                "column %.*s of the Parquet table is damaged: copy the file again",
                STR_ARG(reader->column->name));
}

static void read_page_kind(struct thrift *thrift, int64_t kind, struct page *page)
{
    bool is_2 = kind == 8;

    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 1)
            page->value_count = thrift_integer(thrift, field.type);
        else if (field.id == (is_2 ? 4 : 2))
            page->encoding = thrift_integer(thrift, field.type);
        else if (is_2 && field.id == 5)
            page->level_bytes = thrift_integer(thrift, field.type);
        else if (is_2 && field.id == 7)
            page->is_packed = thrift_integer(thrift, field.type) != 0;
        else
            thrift_skip(thrift, field.type);
    }
}

static struct page read_page_head(struct thrift *thrift)
{
    struct page page = {.type = -1, .is_packed = true};

    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 1)
            page.type = thrift_integer(thrift, field.type);
        else if (field.id == 2)
            page.size = thrift_integer(thrift, field.type);
        else if (field.id == 3)
            page.packed_size = thrift_integer(thrift, field.type);
        else if ((field.id == 5 || field.id == 7 || field.id == 8) && field.type == THRIFT_STRUCT)
            read_page_kind(thrift, field.id, &page);
        else
            thrift_skip(thrift, field.type);
    }
    return page;
}

static bool unpack_stream(struct bytes packed, enum packing packing, uint8_t *to, size_t count)
{
    struct error err = {0};
    struct unpack *unpack =
        unpack_open(packed, packing, (struct unpack_budget){.bytes_max = count}, &err);
    size_t done = 0;

    for (struct bytes piece; unpack != NULL && (piece = unpack_next(unpack)).count > 0;) {
        if (piece.count > count - done)
            break;
        memcpy(to + done, piece.at, piece.count);
        done += piece.count;
    }
    unpack_close(unpack);
    return err.code == OK && done == count;
}

/* Texts of cells point into the unpacked page, which lives as long as the table. */
static enum status unpack_page(struct column_reader *reader, struct bytes packed, size_t count,
                               struct bytes *ret)
{
    uint8_t *to;
    bool good;

    if (reader->codec == CODEC_NONE) {
        *ret = packed;
        return OK;
    }
    if (reader->codec == CODEC_SNAPPY && !snappy_holds(packed, count))
        return damaged(reader);
    if (count > reader->parquet->budget->bytes_left)
        return fail(reader->err, ERR_LIMIT, "the Parquet table unpacks to more than its budget");
    reader->parquet->budget->bytes_left -= count;
    to = arena_array(reader->parquet->arena, uint8_t, count + 1);
    switch (reader->codec) {
    case CODEC_SNAPPY:
        good = snappy_unpack(to, count, packed);
        break;
    case CODEC_GZIP:
        good = unpack_stream(packed, PACKING_GZIP, to, count);
        break;
    case CODEC_ZSTD:
        good = unpack_stream(packed, PACKING_ZSTD, to, count);
        break;
    default:
        return fail(reader->err, ERR_UNSUPPORTED,
                    "the Parquet table is compressed with codec %" PRId32
                    ", which is not supported",
                    reader->codec);
    }
    *ret = (struct bytes){.at = to, .count = count};
    return good ? OK : damaged(reader);
}

static bool take(struct bytes *rest, size_t count, const uint8_t **ret)
{
    if (rest->count < count)
        return false;
    *ret = rest->at;
    *rest = (struct bytes){.at = rest->at + count, .count = rest->count - count};
    return true;
}

static bool plain_cell(const struct column_reader *reader, struct bytes *rest,
                       struct parquet_cell *ret)
{
    const uint8_t *at;
    int32_t narrow;
    uint32_t size;
    float real;

    switch (reader->column->type) {
    case PARQUET_INT32:
        if (!take(rest, 4, &at))
            return false;
        memcpy(&narrow, at, 4);
        *ret = (struct parquet_cell){.kind = CELL_INTEGER, .integer = narrow};
        return true;
    case PARQUET_INT64:
        ret->kind = CELL_INTEGER;
        return take(rest, 8, &at) && memcpy(&ret->integer, at, 8) != NULL;
    case PARQUET_FLOAT:
        if (!take(rest, 4, &at))
            return false;
        memcpy(&real, at, 4);
        *ret = (struct parquet_cell){.kind = CELL_REAL, .real = (double)real};
        return true;
    case PARQUET_DOUBLE:
        ret->kind = CELL_REAL;
        return take(rest, 8, &at) && memcpy(&ret->real, at, 8) != NULL;
    case PARQUET_BYTES:
        if (!take(rest, 4, &at))
            return false;
        memcpy(&size, at, 4);
        ret->kind = CELL_TEXT;
        ret->count = size;
        return take(rest, size, &ret->text);
    case PARQUET_FIXED_BYTES:
        ret->kind = CELL_TEXT;
        ret->count = reader->column->fixed_size;
        return take(rest, ret->count, &ret->text);
    default: /* times of 96 bits are of the past */
        *ret = (struct parquet_cell){.kind = CELL_NULL};
        return take(rest, 12, &at);
    }
}

struct runs { /* of numbers of `width` bits */
    struct bytes rest;
    int width;
    uint64_t left;
    bool is_packed, broken;
    uint32_t value;        /* of a run of equals */
    const uint8_t *packed; /* of packed bits */
    uint64_t packed_at, packed_bits;
};

static uint64_t run_head(struct runs *runs)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 35; shift += 7) {
        const uint8_t *at;

        if (!take(&runs->rest, 1, &at))
            break;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (*at < 0x80)
            return value;
    }
    runs->broken = true;
    return 0;
}

static void next_run(struct runs *runs)
{
    uint64_t head = run_head(runs);
    const uint8_t *at;
    size_t size;

    runs->is_packed = (head & 1) != 0;
    runs->left = runs->is_packed ? (head >> 1) * 8 : head >> 1;
    if (runs->is_packed) {
        size = (size_t)(head >> 1) * (size_t)runs->width;
        if (size > runs->rest.count) { /* writers leave out the zeros at the end */
            size = runs->rest.count;
            runs->left = runs->width == 0 ? runs->left : size * 8 / (size_t)runs->width;
        }
        runs->broken |= !take(&runs->rest, size, &runs->packed);
        runs->packed_at = 0;
        runs->packed_bits = (uint64_t)size * 8;
    } else {
        runs->value = 0;
        size = (size_t)(runs->width + 7) / 8;
        runs->broken |= !take(&runs->rest, size, &at);
        for (size_t byte = 0; byte < size && !runs->broken; byte++)
            runs->value |= (uint32_t)at[byte] << 8 * byte;
    }
    runs->broken |= runs->left == 0;
}

static uint32_t next_of_runs(struct runs *runs)
{
    uint32_t value = 0;

    if (runs->left == 0)
        next_run(runs);
    if (runs->broken)
        return 0;
    runs->left--;
    if (!runs->is_packed)
        return runs->value;
    for (int bit = 0; bit < runs->width && runs->packed_at < runs->packed_bits;
         bit++, runs->packed_at++)
        value |= (uint32_t)(runs->packed[runs->packed_at / 8] >> runs->packed_at % 8 & 1) << bit;
    return value;
}

static enum status take_dictionary(struct column_reader *reader, const struct page *page,
                                   struct bytes content)
{
    if (page->value_count < 0 || (uint64_t)page->value_count > content.count)
        return damaged(reader);
    reader->dictionary_count = (uint64_t)page->value_count;
    reader->dictionary =
        scratch_array(reader->scratch, struct parquet_cell, reader->dictionary_count + 1);
    for (uint64_t at = 0; at < reader->dictionary_count; at++)
        if (!plain_cell(reader, &content, &reader->dictionary[at]))
            return damaged(reader);
    return OK;
}

/* One value behind the other: whichever way they are told. */
struct values {
    struct bytes plain;
    struct runs runs;
    bool is_indexed, is_bits;
    uint64_t bit;
};

static enum status open_values(struct column_reader *reader, const struct page *page,
                               struct bytes content, struct values *ret)
{
    const uint8_t *at;

    *ret = (struct values){.plain = content};
    switch (page->encoding) {
    case PLAIN:
        ret->is_bits = reader->column->type == PARQUET_BOOLEAN;
        return OK;
    case RLE: /* of booleans: a size, then runs of one bit */
        if (reader->column->type != PARQUET_BOOLEAN || !take(&content, 4, &at))
            return damaged(reader);
        ret->runs = (struct runs){.rest = content, .width = 1};
        return OK;
    case PLAIN_DICTIONARY:
    case RLE_DICTIONARY:
        if (!take(&content, 1, &at) || *at > 32)
            return page->value_count == 0 ? OK : damaged(reader);
        ret->is_indexed = true;
        ret->runs = (struct runs){.rest = content, .width = *at};
        return OK;
    default:
        return fail(reader->err, ERR_UNSUPPORTED,
                    "column %.*s of the Parquet table has encoding %" PRId64
                    ", which is not supported",
                    STR_ARG(reader->column->name), page->encoding);
    }
}

static bool next_value(const struct column_reader *reader, struct values *values,
                       struct parquet_cell *ret)
{
    if (values->is_indexed) {
        uint32_t index = next_of_runs(&values->runs);

        if (values->runs.broken || index >= reader->dictionary_count)
            return false;
        *ret = reader->dictionary[index];
        return true;
    }
    if (reader->column->type != PARQUET_BOOLEAN)
        return plain_cell(reader, &values->plain, ret);
    ret->kind = CELL_INTEGER;
    if (!values->is_bits) {
        ret->integer = next_of_runs(&values->runs) & 1;
        return !values->runs.broken;
    }
    if (values->bit / 8 >= values->plain.count)
        return false;
    ret->integer = values->plain.at[values->bit / 8] >> values->bit % 8 & 1;
    values->bit++;
    return true;
}

static enum status take_values(struct column_reader *reader, const struct page *page,
                               struct bytes levels, struct bytes content)
{
    struct runs present = {.rest = levels, .width = 1};
    struct values values;

    if (page->value_count < 0 ||
        (uint64_t)page->value_count > reader->parquet->row_count - reader->cell_count)
        return damaged(reader);
    TRY(open_values(reader, page, content, &values));
    for (int64_t left = page->value_count; left > 0; left--) {
        struct parquet_cell cell = {.kind = CELL_NULL};

        if (reader->column->is_optional && next_of_runs(&present) == 0) {
            if (present.broken)
                return damaged(reader);
        } else if (!next_value(reader, &values, &cell)) {
            return damaged(reader);
        }
        reader->cells[reader->cell_count++] = cell;
    }
    return OK;
}

static enum status take_page_1(struct column_reader *reader, const struct page *page,
                               struct bytes content)
{
    struct bytes levels = {0};
    const uint8_t *at;
    uint32_t size;

    if (!reader->column->is_optional)
        return take_values(reader, page, levels, content);
    if (!take(&content, 4, &at))
        return damaged(reader);
    memcpy(&size, at, 4);
    if (!take(&content, size, &levels.at))
        return damaged(reader);
    levels.count = size;
    return take_values(reader, page, levels, content);
}

static enum status take_page(struct column_reader *reader, const struct page *page,
                             struct bytes packed)
{
    struct bytes levels = {0}, content;

    if (page->type == PAGE_DATA_2) {
        if (page->level_bytes < 0 || page->level_bytes > page->size ||
            !take(&packed, (size_t)page->level_bytes, &levels.at))
            return damaged(reader);
        levels.count = (size_t)page->level_bytes;
        content = packed;
        if (page->is_packed)
            TRY(unpack_page(reader, packed, (size_t)(page->size - page->level_bytes), &content));
        return take_values(reader, page, levels, content);
    }
    TRY(unpack_page(reader, packed, (size_t)page->size, &content));
    return page->type == PAGE_DICTIONARY ? take_dictionary(reader, page, content)
                                         : take_page_1(reader, page, content);
}

static enum status read_chunk_pages(struct column_reader *reader, const struct parquet_chunk *chunk)
{
    struct bytes file = reader->parquet->file;

    if (chunk->offset > file.count || chunk->size > file.count - chunk->offset)
        return damaged(reader);
    struct thrift thrift =
        thrift_open((struct bytes){.at = file.at + chunk->offset, .count = (size_t)chunk->size});
    uint64_t wanted = reader->cell_count + chunk->value_count;

    if (chunk->value_count > reader->parquet->row_count - reader->cell_count)
        return damaged(reader);
    reader->codec = chunk->codec;
    reader->dictionary_count = 0;
    while (reader->cell_count < wanted) {
        struct page page = read_page_head(&thrift);

        if (thrift.broken || page.packed_size < 0 || page.size < 0 || page.size > PAGE_BYTES_MAX ||
            page.packed_size > thrift.end - thrift.at)
            return damaged(reader);
        struct bytes packed = {.at = thrift.at, .count = (size_t)page.packed_size};
        thrift.at += page.packed_size;
        if (page.type != PAGE_INDEX)
            TRY(take_page(reader, &page, packed));
    }
    return OK;
}

enum status parquet_read(const struct parquet *parquet, uint32_t column, struct scratch *scratch,
                         struct parquet_cell **ret, struct error *err)
{
    if (parquet->row_count >= parquet->budget->cells_left)
        return fail(err, ERR_LIMIT, "the Parquet tables hold more cells than their budget");
    parquet->budget->cells_left -= parquet->row_count + 1;

    struct column_reader reader = {
        .parquet = parquet,
        .column = &parquet->columns[column],
        .cells = scratch_array(scratch, struct parquet_cell, parquet->row_count + 1),
        .scratch = scratch,
        .err = err,
    };

    for (uint32_t group = 0; group < parquet->group_count; group++)
        TRY(read_chunk_pages(&reader, &parquet->chunks[group * parquet->column_count + column]));
    if (reader.cell_count != parquet->row_count)
        return damaged(&reader);
    *ret = reader.cells;
    return OK;
}
