/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the footer of a Parquet file: schema, row groups, chunks. Facts: parquet.thrift. */
#include "decode/nsys_jax/parquet.h"

#include <inttypes.h>

#include "decode/nsys_jax/thrift.h"

enum { COLUMNS_MAX = 4096, GROUPS_MAX = 1 << 16, ROWS_MAX = 1 << 26, ROWS_A_BYTE_MAX = 1024 };

struct parquet_budget parquet_budget(void)
{
    return (struct parquet_budget){.bytes_left = UINT64_C(2) << 30,
                                   .cells_left = UINT64_C(1) << 28};
}

struct element { /* of the schema */
    struct str name;
    int64_t type, length, repetition, children;
};

static struct str text_of(struct bytes bytes)
{
    return (struct str){.at = (const char *)bytes.at, .count = bytes.count};
}

static struct element read_element(struct thrift *thrift)
{
    struct element element = {.type = -1};

    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        switch (field.id) {
        case 1:
            element.type = thrift_integer(thrift, field.type);
            break;
        case 2:
            element.length = thrift_integer(thrift, field.type);
            break;
        case 3:
            element.repetition = thrift_integer(thrift, field.type);
            break;
        case 4:
            element.name = text_of(thrift_binary(thrift, field.type));
            break;
        case 5:
            element.children = thrift_integer(thrift, field.type);
            break;
        default:
            thrift_skip(thrift, field.type);
        }
    }
    return element;
}

/* The first element is the row; the others are its columns. */
static enum status read_schema(struct parquet *parquet, struct thrift *thrift,
                               enum thrift_type type, struct error *err)
{
    enum thrift_type item;
    size_t count = thrift_list(thrift, type, &item);
    struct parquet_column *columns;

    if (count < 1 || count > COLUMNS_MAX || item != THRIFT_STRUCT)
        return fail(err, ERR_FORMAT, "the Parquet table has no columns, or more than %d",
                    COLUMNS_MAX);
    read_element(thrift);
    columns = arena_array(parquet->arena, struct parquet_column, count);
    for (size_t at = 1; at < count && !thrift->broken; at++) {
        struct element element = read_element(thrift);

        if (element.children > 0 || element.repetition > 1)
            return fail(
                err, ERR_UNSUPPORTED,
                "column %.*s of the Parquet table is nested or repeated, which is not supported",
                STR_ARG(element.name));
        if (element.type < 0 || element.type > PARQUET_FIXED_BYTES || element.length < 0 ||
            element.length > UINT16_MAX)
            return fail(err, ERR_FORMAT, "column %.*s of the Parquet table has no type",
                        STR_ARG(element.name));
        columns[parquet->column_count++] = (struct parquet_column){
            .name = element.name,
            .type = (enum parquet_type)element.type,
            .fixed_size = (uint32_t)element.length,
            .is_optional = element.repetition == 1,
        };
    }
    parquet->columns = columns;
    return OK;
}

static void read_chunk_facts(struct thrift *thrift, struct parquet_chunk *chunk)
{
    int64_t data = 0, dictionary = 0, size = 0;

    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        switch (field.id) {
        case 4:
            chunk->codec = (int32_t)thrift_integer(thrift, field.type);
            break;
        case 5:
            chunk->value_count = (uint64_t)thrift_integer(thrift, field.type);
            break;
        case 7:
            size = thrift_integer(thrift, field.type);
            break;
        case 9:
            data = thrift_integer(thrift, field.type);
            break;
        case 11:
            dictionary = thrift_integer(thrift, field.type);
            break;
        default:
            thrift_skip(thrift, field.type);
        }
    }
    chunk->offset = (uint64_t)(dictionary > 0 && dictionary < data ? dictionary : data);
    chunk->size = (uint64_t)size;
}

static void read_chunk(struct thrift *thrift, struct parquet_chunk *chunk)
{
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 3 && field.type == THRIFT_STRUCT)
            read_chunk_facts(thrift, chunk);
        else
            thrift_skip(thrift, field.type);
    }
}

static enum status read_group(struct parquet *parquet, struct thrift *thrift,
                              struct parquet_chunk *chunks, struct error *err)
{
    enum thrift_type item;

    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id != 1) {
            thrift_skip(thrift, field.type);
            continue;
        }
        size_t count = thrift_list(thrift, field.type, &item);
        if (count != parquet->column_count || item != THRIFT_STRUCT)
            return fail(err, ERR_FORMAT, "a row group of the Parquet table lacks columns");
        for (size_t at = 0; at < count; at++)
            read_chunk(thrift, &chunks[at]);
    }
    return OK;
}

static enum status read_groups(struct parquet *parquet, struct thrift *thrift,
                               enum thrift_type type, struct error *err)
{
    enum thrift_type item;
    size_t count = thrift_list(thrift, type, &item);

    if (count > GROUPS_MAX || (count > 0 && item != THRIFT_STRUCT) ||
        count * (parquet->column_count + 1) > parquet->file.count)
        return fail(err, ERR_LIMIT, "the Parquet table has more row groups than it could");
    struct parquet_chunk *chunks =
        arena_array(parquet->arena, struct parquet_chunk, count * parquet->column_count + 1);
    for (size_t at = 0; at < count; at++)
        TRY(read_group(parquet, thrift, &chunks[at * parquet->column_count], err));
    parquet->chunks = chunks;
    parquet->group_count = (uint32_t)count;
    return OK;
}

static enum status read_footer(struct parquet *parquet, struct thrift *thrift, struct error *err)
{
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        switch (field.id) {
        case 2: /* chunks are counted by columns: these stand once, and first */
            if (parquet->columns != NULL || parquet->chunks != NULL)
                return fail(err, ERR_FORMAT, "the Parquet table has two lists of columns");
            TRY(read_schema(parquet, thrift, field.type, err));
            break;
        case 3:
            parquet->row_count = (uint64_t)thrift_integer(thrift, field.type);
            break;
        case 4:
            if (parquet->columns == NULL)
                return fail(err, ERR_FORMAT, "the Parquet table has rows before its columns");
            TRY(read_groups(parquet, thrift, field.type, err));
            break;
        case 6:
            parquet->writer = text_of(thrift_binary(thrift, field.type));
            break;
        default:
            thrift_skip(thrift, field.type);
        }
    }
    if (thrift->broken || parquet->columns == NULL)
        return fail(err, ERR_FORMAT, "the Parquet table's footer is damaged: copy the file again");
    if (parquet->row_count > ROWS_MAX || parquet->row_count / ROWS_A_BYTE_MAX > parquet->file.count)
        return fail(err, ERR_LIMIT,
                    "the Parquet table has more than %d rows, or more than it could", ROWS_MAX);
    return OK;
}

bool parquet_is(struct bytes head)
{
    return head.count >= 4 && memcmp(head.at, "PAR1", 4) == 0;
}

enum status parquet_open(struct bytes file, struct parquet_budget *budget, struct arena *arena,
                         struct parquet *ret, struct error *err)
{
    if (budget == NULL) {
        budget = arena_new(arena, struct parquet_budget);
        *budget = parquet_budget();
    }
    *ret = (struct parquet){.file = file, .arena = arena, .budget = budget};
    if (file.count < 12 || !parquet_is(file) || memcmp(file.at + file.count - 4, "PAR1", 4) != 0)
        return fail(err, ERR_TRUNCATED,
                    "the Parquet table has no footer; it was probably truncated while copied: copy "
                    "it again");
    const uint8_t *end = file.at + file.count - 8;
    uint32_t size;

    memcpy(&size, end, sizeof size);
    if (size > file.count - 12)
        return fail(err, ERR_FORMAT, "the Parquet table's footer is larger than the file");
    struct thrift thrift = thrift_open((struct bytes){.at = end - size, .count = size});
    return read_footer(ret, &thrift, err);
}

bool parquet_find(const struct parquet *parquet, struct str name, uint32_t *ret)
{
    for (uint32_t at = 0; at < parquet->column_count; at++) {
        if (str_equal(parquet->columns[at].name, name)) {
            *ret = at;
            return true;
        }
    }
    return false;
}
