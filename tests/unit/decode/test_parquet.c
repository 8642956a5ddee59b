/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet tables written by hand in every encoding, footers in any order, every damage, budgets. */
#include "check.h"

#include "base/file.h"
#include "decode/nsys_jax/parquet.h"

static struct bytes seed(const char *name, struct arena *arena)
{
    struct str path = str_format(arena, "%s/fuzz/seeds/parquet/%s", TESTS_DIR, name);
    struct error err = {0};
    struct bytes bytes = {0};

    CHECK_OK(name, file_read(path.at, arena, 1 << 20, &bytes, &err), &err);
    return bytes;
}

static void put_cell(struct text *text, const struct parquet_cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        text_putf(text, "%d ", (int)cell->integer);
        break;
    case CELL_REAL:
        text_putf(text, "%g ", cell->real);
        break;
    case CELL_TEXT:
        text_putf(text, "%.*s ", (int)cell->count, (const char *)cell->text);
        break;
    default:
        text_puts(text, "- ");
    }
}

static enum status read_all(struct bytes file, struct arena *arena, struct text *text,
                            struct error *err)
{
    struct parquet table;
    struct scratch *scratch = scratch_create(NULL);
    enum status status = parquet_open(file, NULL, arena, &table, err);

    for (uint32_t column = 0; status == OK && column < table.column_count; column++) {
        struct parquet_cell *cells;

        status = parquet_read(&table, column, scratch, &cells, err);
        if (status != OK)
            break;
        text_putf(text, "%.*s: ", STR_ARG(table.columns[column].name));
        for (uint64_t row = 0; row < table.row_count; row++)
            put_cell(text, &cells[row]);
        text_puts(text, "\n");
    }
    scratch_destroy(scratch);
    return status;
}

static void every_way(void **state)
{
    (void)state;
    static const char *const names[] = {
        "none-plain-1",   "none-plain-2",   "none-dictionary-1",   "none-dictionary-2",
        "snappy-plain-1", "snappy-plain-2", "snappy-dictionary-1", "snappy-dictionary-2",
        "gzip-plain-1",   "gzip-plain-2",   "gzip-dictionary-1",   "gzip-dictionary-2",
    };

    for (size_t at = 0; at < COUNT(names); at++) {
        struct arena *arena = arena_create();
        struct text text = {0};
        struct error err = {0};

        CHECK_OK(names[at], read_all(seed(names[at], arena), arena, &text, &err), &err);
        CHECK_STR(names[at], text_str(&text),
                  "Name: one - two one \nProjected Start: 1000 2000 3000 4000 \n"
                  "Projected Duration: 5 6 7 8 \nLvl: 0.5 - 1.5 2.5 \n");
        text_free(&text);
        arena_destroy(arena);
    }
}

/* Fields of a footer repeated, or in another order, as no writer puts them. */
static void footers(void **state)
{
    (void)state;
#define COLUMN "\x15\x04\x38\x01\x41\x00" /* INT64 "A" */
#define ROW "\x00"
    const struct {
        const char *what;
        struct bytes footer;
        bool good;
    } rows[] = {
        {"columns, no rows", BYTES("\x29\x2c" ROW COLUMN "\x16\x00\x19\x0c\x00"), true},
        {"columns twice", BYTES("\x29\x3c" ROW COLUMN COLUMN "\x09\x04\x2c" ROW COLUMN "\x00"),
         false},
        {"rows before columns",
         BYTES("\x49\x2c\x19\x0c\x00\x19\x0c\x00\x09\x04\x2c" ROW COLUMN "\x00"), false},
        {"more columns behind rows",
         BYTES("\x29\x2c" ROW COLUMN "\x29\x1c\x19\x1c\x00\x00\x09\x04\x3c" ROW COLUMN COLUMN
               "\x00"),
         false},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct text file = {0}, text = {0};
        struct error err = {0};
        uint32_t size = (uint32_t)rows[at].footer.count;

        text_puts(&file, "PAR1");
        text_put(&file, (const char *)rows[at].footer.at, rows[at].footer.count);
        text_put(&file, (const char *)&size, sizeof size);
        text_puts(&file, "PAR1");
        struct bytes bytes = {.at = (const uint8_t *)file.at, .count = file.count};
        CHECK_INT(rows[at].what, read_all(bytes, arena, &text, &err) == OK, rows[at].good);
        text_free(&text);
        text_free(&file);
        arena_destroy(arena);
    }
}

/* Every prefix and every bit: a table, or a sentence. */
static void damage(void **state)
{
    (void)state;
    static const char *const names[] = {"snappy-dictionary-1", "none-plain-2", "gzip-plain-1"};

    for (size_t name = 0; name < COUNT(names); name++) {
        struct arena *owner = arena_create();
        struct bytes file = seed(names[name], owner);

        for (size_t at = 0; at < 9 * file.count; at++) {
            struct arena *arena = arena_create();
            uint8_t *copy = arena_array(arena, uint8_t, file.count);
            size_t count = at < file.count ? at : file.count;
            struct error err = {0};
            struct text text = {0};

            memcpy(copy, file.at, file.count);
            if (at >= file.count)
                copy[at % file.count] ^= (uint8_t)(1 << (at / file.count - 1));
            if (read_all((struct bytes){copy, count}, arena, &text, &err) != OK)
                CHECK("a sentence", err.message[0] != '\0');
            text_free(&text);
            arena_destroy(arena);
        }
        arena_destroy(owner);
    }
}

/* Tables of one archive draw on one budget; a claim of rows that no bytes back is refused. */
static void budgets(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct scratch *scratch = scratch_create(NULL);
    struct bytes file = seed("snappy-plain-1", arena);
    const struct {
        const char *what;
        struct parquet_budget budget;
        enum status status;
    } rows[] = {
        {"enough", {1000, 1000}, OK},
        {"too many bytes", {10, 1000}, ERR_LIMIT},
        {"too many cells", {1000, 6}, ERR_LIMIT}, /* of two columns of four */
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct parquet_budget budget = rows[at].budget;
        struct error err = {0};
        struct parquet table;
        struct parquet_cell *cells;

        CHECK_OK(rows[at].what, parquet_open(file, &budget, arena, &table, &err), &err);
        for (uint32_t column = 0; column < 2 && err.code == OK; column++)
            (void)(parquet_read(&table, column, scratch, &cells, &err) == OK);
        CHECK_INT(rows[at].what, err.code, rows[at].status);
    }
    scratch_destroy(scratch);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),
        cmocka_unit_test(budgets),
        cmocka_unit_test(footers),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
