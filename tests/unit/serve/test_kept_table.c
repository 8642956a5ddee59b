/* SPDX-License-Identifier: Apache-2.0 */
/* A table that was kept gives the pages that its maker would have given, and damage gives none. */
#include "serve/kept/kept_table.h"

#include "analyse/table.h"
#include "check.h"

enum { NAME, SELF, SHARE, COUNT_OF, FLOPS, IS_SLOW, WHERE, CUMULATIVE, COLUMNS, ROWS = 9 };

static const struct column columns[COLUMNS] = {
    {"name", "Name", UNIT_TEXT, true},      {"self_ps", "Self", UNIT_PS, true},
    {"share", "Share", UNIT_SHARE, false},  {"count", "Count", UNIT_COUNT, true},
    {"flops", "FLOPs", UNIT_COUNT, false},  {"slow", "Slow", UNIT_NONE, true},
    {"breakdown", "Where", UNIT_PS, false}, {"cumulative_share", "Cumulative", UNIT_SHARE, false},
};
static const char *const approx[] = {"share"};
static const int64_t self_ps[ROWS] = {5, -3, 40, 5, 5, 0, 7, 40, 1};
static const int64_t where[2][KIND_COUNT + 1] = {{1, 2, 3}, {[KIND_IDLE] = INT64_MIN}};
static const struct answer_note notes[2] = {
    {.kind = "stale", .severity = NOTE_WARNING, .message = {"of the request", 14}, .count = 1},
    {.kind = "rule", .message = {"of the table", 12}, .host = {"h", 1}, .count = UINT64_MAX},
};

struct maker {
    double shares[ROWS]; /* along the order */
};

/* What the maker has of a row; equal values stand by the rows' numbers. */
static struct cell made_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct maker *maker = data;
    static const char *const names[] = {"b", "a", ""};

    switch (column) {
    case NAME:
        return cell_text(str_of(names[row % 3]));
    case SELF:
        return cell_integer(self_ps[row]);
    case SHARE:
        return row == 4 ? cell_null(STR("unknown")) : cell_real(0.1 * (double)(row / 2));
    case COUNT_OF:
        return (struct cell){.kind = CELL_UNSIGNED, .of.uint = UINT64_MAX - row % 4};
    case FLOPS:
        return cell_null(STR(""));
    case IS_SLOW:
        return cell_bool(row % 2 == 1);
    case WHERE:
        return (struct cell){.kind = CELL_KINDS, .of.kinds = where[row % 2]};
    default:
        return cell_real(maker->shares[row]);
    }
}

static bool is_inexact(uint32_t row)
{
    return row == 2 || row == 5;
}

/* One page, the way tables are made. */
static struct table make(const struct page *page, struct arena *arena)
{
    struct maker maker = {0};
    const struct table_source source = {.columns = columns,
                                        .column_count = COLUMNS,
                                        .row_count = ROWS,
                                        .cell = made_cell,
                                        .data = &maker};
    struct table ret = {.by = STR("op"), .of = STR("device"), .total_ps = -1};
    struct error err = {0};
    uint32_t *order, first, end;
    double sum_ps = 0;

    CHECK_OK("order", table_order(&source, page->sort, "-self_ps,name", arena, &order, &err), &err);
    for (uint32_t i = 0; i < ROWS; i++)
        ret.total_self_ps += self_ps[i];
    for (uint32_t i = 0; i < ROWS; i++) {
        sum_ps += (double)self_ps[order[i]];
        maker.shares[order[i]] = sum_ps / (double)ret.total_self_ps;
    }
    table_range(page, ROWS, &first, &end);
    bool *inexact = arena_array(arena, bool, ROWS);
    for (uint32_t i = first; i < end; i++) {
        inexact[i - first] = is_inexact(order[i]);
        ret.approx_count |= inexact[i - first];
    }
    table_fill(&source, order, page, arena, &ret);
    ret.inexact = inexact;
    ret.approx = approx;
    ret.notes = &notes[1];
    ret.note_count = 1;
    return ret;
}

static struct bytes pack(uint64_t limit, struct arena *arena)
{
    const struct kept_table whole = {
        .head = STR("{\"run\":1"),
        .notes = {&notes[0], &notes[1]},
        .note_counts = {1, 1},
        .table = make(&(struct page){.limit = limit}, arena),
    };

    return kept_table_pack(&whole, arena);
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == CELL_TEXT || a->kind == CELL_NULL)
        return str_equal(a->of.text, b->of.text);
    if (a->kind == CELL_KINDS)
        return memcmp(a->of.kinds, b->of.kinds, sizeof where[0]) == 0;
    return a->kind == CELL_BOOL ? a->of.boolean == b->of.boolean : a->of.uint == b->of.uint;
}

static bool same_page(const struct table *a, const struct table *b)
{
    bool same = a->row_count == b->row_count && a->row_count_all == b->row_count_all &&
                a->next == b->next && a->approx_count == b->approx_count &&
                a->total_ps == b->total_ps && a->total_self_ps == b->total_self_ps;

    for (size_t i = 0; same && i < (size_t)a->row_count * COLUMNS; i++)
        same = same_cell(&a->cells[i], &b->cells[i]);
    return same;
}

static void gives_every_page(void **state)
{
    static const char *const sorts[] = {"",      "name",        "-name,self_ps",   "-self_ps",
                                        "share", "-share,name", "count",           "slow,-count",
                                        "flops", "breakdown",   "cumulative_share"};
    struct arena *arena = arena_create();
    struct kept_table kept;

    (void)state;
    CHECK("opened", kept_table_open(pack(ROWS, arena), arena, &kept));
    CHECK_STR("head", kept.head, "{\"run\":1");
    CHECK_STR("note", kept.notes[0][0].message, "of the request");
    CHECK_STR("host", kept.table.notes[0].host, "h");
    CHECK_STR("title", str_of(kept.table.columns[SELF].title), "Self");
    for (size_t sort = 0; sort < COUNT(sorts); sort++) {
        for (uint64_t offset = 0; offset <= ROWS + 1; offset++) {
            for (uint64_t limit = 1; limit <= ROWS + 1; limit += 3) {
                struct page page = {.offset = offset, .limit = limit, .sort = str_of(sorts[sort])};
                struct table made = make(&page, arena), read;
                struct error err = {0};

                CHECK("is there", kept_table_has(&kept, &page));
                CHECK_OK(sorts[sort], kept_table_page(&kept, &page, arena, &read, &err), &err);
                CHECK(sorts[sort], same_page(&made, &read));
            }
        }
    }
    arena_destroy(arena);
}

static void refuses_what_no_column_is_called(void **state)
{
    struct arena *arena = arena_create();
    struct page page = {.limit = 1, .sort = STR("nonsense")};
    struct error err = {0};
    struct kept_table kept;
    struct table table;

    (void)state;
    CHECK("opened", kept_table_open(pack(ROWS, arena), arena, &kept));
    CHECK_INT("sort", kept_table_page(&kept, &page, arena, &table, &err), ERR_INVALID);
    CHECK_STR("in words", str_of(err.message), "this table has no column \"nonsense\" to sort by");
    arena_destroy(arena);
}

/* Of a longer table only its first rows by its own order are known. */
static void knows_what_it_has_not(void **state)
{
    const struct {
        const char *what;
        struct page page;
        bool has;
    } rows[] = {
        {"the first", {.limit = 4}, true},
        {"within", {.offset = 2, .limit = 2}, true},
        {"past its end", {.offset = 2, .limit = 3}, false},
        {"behind it", {.offset = 6, .limit = 1}, false},
        {"in another order", {.limit = 1, .sort = STR("name")}, false},
    };
    struct arena *arena = arena_create();
    struct kept_table kept;

    (void)state;
    CHECK("opened", kept_table_open(pack(4, arena), arena, &kept));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table made = make(&rows[i].page, arena), read;
        struct error err = {0};

        CHECK_INT(rows[i].what, kept_table_has(&kept, &rows[i].page), rows[i].has);
        if (!rows[i].has)
            continue;
        CHECK_OK(rows[i].what, kept_table_page(&kept, &rows[i].page, arena, &read, &err), &err);
        /* A share is of all rows up to one, so the first ones suffice. */
        CHECK(rows[i].what, same_page(&made, &read));
    }
    arena_destroy(arena);
}

static void try_page(const struct bytes *bytes, struct arena *arena)
{
    struct kept_table kept;
    struct table table;
    struct error err = {0};

    if (kept_table_open(*bytes, arena, &kept))
        (void)!kept_table_page(&kept, &(struct page){.limit = ROWS, .sort = STR("-self_ps")}, arena,
                               &table, &err);
}

static void survives_damage(void **state)
{
    struct arena *arena = arena_create(), *tries = arena_create();
    struct bytes whole = pack(ROWS, arena);
    struct kept_table kept;

    (void)state;
    for (size_t count = 0; count < whole.count; count++) {
        uint8_t *cut = memcpy(arena_alloc(tries, count + 1, 1), whole.at, count);

        CHECK("cut", !kept_table_open((struct bytes){.at = cut, .count = count}, tries, &kept));
        arena_reset(tries);
    }
    for (size_t bit = 0; bit < 8 * whole.count; bit++) {
        uint8_t *flipped = memcpy(arena_alloc(tries, whole.count, 1), whole.at, whole.count);

        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        try_page(&(struct bytes){.at = flipped, .count = whole.count}, tries);
        arena_reset(tries);
    }
    arena_destroy(tries);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_page),
        cmocka_unit_test(refuses_what_no_column_is_called),
        cmocka_unit_test(knows_what_it_has_not),
        cmocka_unit_test(survives_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
