/* SPDX-License-Identifier: Apache-2.0 */
/* Sort words of a request, and pages of a table. */
#include "check.h"

#include "analyse/table.h"

static const struct column columns[] = {
    {"name", "Name", UNIT_TEXT, true},
    {"self_ps", "Self", UNIT_PS, true},
    {"share", "Share", UNIT_SHARE, true},
};

/*          name  self_ps  share  */
static const struct {
    const char *name;
    int64_t self_ps; /* -1: unknown */
    double share;
} data[] = {{"b", 5, 0.5}, {"a", 5, 0.1}, {"c", -1, 0.3}, {"a", 9, 0.2}};

static struct cell cell(const void *unused, uint32_t row, uint32_t column)
{
    (void)unused;
    switch (column) {
    case 0:
        return cell_text(str_of(data[row].name));
    case 1:
        return data[row].self_ps < 0 ? cell_null(STR("unknown")) : cell_integer(data[row].self_ps);
    default:
        return cell_real(data[row].share);
    }
}

static const struct table_source source = {
    .columns = columns, .column_count = COUNT(columns), .row_count = COUNT(data), .cell = cell};

static void sorts(void **state)
{
    (void)state;
    const struct {
        const char *sort;
        enum status status;
        uint32_t order[4];
    } rows[] = {
        {"", OK, {3, 0, 1, 2}},
        {"self_ps", OK, {0, 1, 3, 2}},
        {"-self_ps", OK, {3, 0, 1, 2}},
        {"-self_ps,name", OK, {3, 1, 0, 2}},
        {"name,self_ps", OK, {1, 3, 0, 2}},
        {"-name,-share", OK, {2, 0, 3, 1}},
        {"share", OK, {1, 3, 2, 0}},
        {"size", ERR_INVALID, {0}},
        {"-", ERR_INVALID, {0}},
        {"name,,share", ERR_INVALID, {0}},
        {"name,name,name,name,name,name,name,name,name", ERR_INVALID, {0}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        uint32_t *order = NULL;

        CHECK_INT(rows[i].sort,
                  table_order(&source, str_of(rows[i].sort), "-self_ps", arena, &order, &err),
                  rows[i].status);
        for (size_t j = 0; rows[i].status == OK && j < COUNT(data); j++)
            CHECK_INT(rows[i].sort, order[j], rows[i].order[j]);
        arena_destroy(arena);
    }
    CHECK("sorts by", table_sorts_by(STR("-self_ps,name"), "name"));
    CHECK("does not", !table_sorts_by(STR("-self_ps,name"), "self"));
}

static void no_numbers(void **state)
{
    (void)state;
    CHECK_INT("nan", cell_real(NAN).kind, CELL_NULL);
    CHECK_INT("infinite", cell_real(-INFINITY).kind, CELL_NULL);
    CHECK_INT("a number", cell_real(0.5).kind, CELL_REAL);
}

static void pages(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct page page;
        uint32_t count;
        uint64_t next;
        const char *first;
    } rows[] = {
        {"all", {.limit = 10}, 4, 0, "b"},
        {"limit 0 is the default", {0}, 4, 0, "b"},
        {"first two", {.limit = 2}, 2, 2, "b"},
        {"last two", {.offset = 2, .limit = 2}, 2, 0, "c"},
        {"one left", {.offset = 3, .limit = 2}, 1, 0, "a"},
        {"behind the end", {.offset = 9, .limit = 2}, 0, 0, NULL},
        {"far behind the end", {.offset = UINT64_MAX, .limit = 2}, 0, 0, NULL},
        {"no end to the limit", {.offset = 1, .limit = UINT64_MAX}, 3, 0, "a"},
    };
    static const uint32_t order[] = {0, 1, 2, 3};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct table table = {0};

        table_fill(&source, order, &rows[i].page, arena, &table);
        CHECK_INT(rows[i].what, table.row_count, rows[i].count);
        CHECK_INT(rows[i].what, table.row_count_all, 4);
        CHECK_INT(rows[i].what, table.next, rows[i].next);
        if (rows[i].first != NULL)
            CHECK_STR(rows[i].what, table.cells[0].of.text, rows[i].first);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts), cmocka_unit_test(pages),
                                       cmocka_unit_test(no_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
