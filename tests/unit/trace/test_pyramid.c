/* SPDX-License-Identifier: Apache-2.0 */
/* Pyramids as they lie in the file; what tiles make of them is tested in test_tile.c. */
#include "trace/levels/pyramid.h"

#include <stdlib.h>

#include "made_trace.h"

static struct bytes table_of(const struct made *made, enum table_kind kind)
{
    struct block_in in = memory_blocks_in(made->blocks);

    return in.table(in.from, kind);
}

static void build(struct made *made, uint32_t count, int64_t gap_ps, uint32_t burst)
{
    int64_t at = -1000;

    made_begin(made);
    made_track(made, "track", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    for (uint32_t i = 0; i < count; i++) {
        made_slice(made, 0, at, 90, "slice", KIND_COMPUTE);
        at += 100 + (burst > 0 && i % burst == 0 ? gap_ps : 0);
    }
    made_finish(made);
}

/* Rows of at least 256 slices, about a cell for 8 to 16 slices at the base and few above. */
static void cells_are_few(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t count, burst;
        int64_t gap_ps;
        double least, most; /* cells of all levels a slice */
    } rows[] = {
        {"too short", 255, 0, 0, 0, 0},
        {"just enough", 256, 0, 0, 1.0 / 17, 1.0 / 7},
        {"even", 50000, 0, 0, 1.0 / 17, 1.0 / 7},
        {"long bursts", 50000, 1000, INT64_C(1) << 30, 1.0 / 20, 1.0 / 7},
        {"short bursts", 50000, 20, INT64_C(1) << 30, 1.0 / 40, 1.0 / 6},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made made;

        build(&made, rows[i].count, rows[i].gap_ps, rows[i].burst);
        double cells = (double)table_of(&made, TABLE_PYRAMID_CELLS).count /
                       sizeof(struct pyramid_cell) / rows[i].count;

        CHECK(rows[i].what, cells >= rows[i].least);
        CHECK(rows[i].what, cells <= rows[i].most);
        made_end(&made);
    }
}

static void weights_keep_the_order(void **state)
{
    (void)state;
    uint16_t before = 0;

    for (int64_t dur = 0; dur < INT64_MAX / 2; dur += 1 + dur / 5000) {
        uint16_t weight = dur_weight(dur);

        CHECK("in order", weight >= before);
        before = weight;
    }
    for (int64_t dur = 1; dur < INT64_MAX / 2; dur *= 2)
        CHECK("a thousandth more weighs more", dur_weight(dur + dur / 1000 + 1) > dur_weight(dur));
    for (int64_t dur = 0; dur < 2048; dur++)
        CHECK_INT("short ones are exact", dur_weight(dur), dur);
    CHECK("the longest", dur_weight(INT64_MAX) > before);
}

static void stored_levels(void **state)
{
    (void)state;
    struct made made;

    build(&made, 50000, 0, 0); /* 100 ps a slice: a base quantum of 800 ps at least */
    const struct pyramid_record *record =
        (const struct pyramid_record *)(const void *)table_of(&made, TABLE_PYRAMIDS).at;
    int base = record->base, top = base + PYRAMID_STEP * (record->level_count - 1);
    const struct {
        const char *what;
        row_id row;
        int level, stored;
    } rows[] = {
        {"slices below the base", 0, base - 1, -1},
        {"the base", 0, base, base},
        {"between", 0, base + 3, base},
        {"the next stored one", 0, base + 4, base + 4},
        {"above the last", 0, TILE_LEVEL_MAX, top},
    };

    CHECK("the base quantum", base == 10);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, pyramid_level(&made.trace, rows[i].row, rows[i].level),
                  rows[i].stored);
    made_end(&made);
}

static void equal_input_has_equal_bytes(void **state)
{
    (void)state;
    struct made made[2];

    for (int i = 0; i < 2; i++)
        build(&made[i], 20000, 77777, 13);
    for (enum table_kind kind = TABLE_PYRAMIDS; kind <= TABLE_NAME_STATS; kind++) {
        struct bytes a = table_of(&made[0], kind), b = table_of(&made[1], kind);

        CHECK_INT("size", a.count, b.count);
        CHECK("bytes", a.count == 0 || memcmp(a.at, b.at, a.count) == 0);
    }
    for (int i = 0; i < 2; i++)
        made_end(&made[i]);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct made made;

    build(&made, 50000, 0, 0);
    struct pyramid_record *record =
        (struct pyramid_record *)(uintptr_t)table_of(&made, TABLE_PYRAMIDS).at;
    const struct pyramid_record kept = *record;
    struct pyramid_record broken[5] = {kept, kept, kept, kept, kept};

    broken[0].row = 9;
    broken[1].first_cell = 1;
    broken[2].level_count = 0;
    broken[3].level_count = 99;
    broken[4].base = 52;
    broken[4].level_count = 2;
    for (size_t i = 0; i < COUNT(broken); i++) {
        *record = broken[i];
        made.err.code = OK;
        CHECK_INT("broken", pyramids_open(&made.trace, made.arena, &made.err), ERR_FORMAT);
    }
    *record = kept;

    /* Cells are not looked at before they are read: whatever they say, a tile stays whole. */
    struct bytes cells = table_of(&made, TABLE_PYRAMID_CELLS);
    struct tile *tile = malloc(sizeof(*tile));
    struct dice dice = {.state = 1};

    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 8; i++)
            ((uint8_t *)(uintptr_t)cells.at)[dice_below(&dice, cells.count)] =
                (uint8_t)dice_below(&dice, 256);
        int level = kept.base + (int)dice_below(&dice, 10);

        tile_fold(&made.trace, 0, level, (made.trace.rows[0].start_ps >> level) >> 10, tile);
        CHECK("no more cells than quanta", tile->count <= TILE_QUANTA);
    }

    /* Back and forth between two quanta. */
    struct pyramid_cell *cell = (struct pyramid_cell *)(uintptr_t)cells.at;

    for (uint32_t i = 0; i < kept.cell_count[0]; i++)
        cell[i].place = 500 + i % 2;
    tile_fold(&made.trace, 0, kept.base, 0, tile);
    CHECK("no more cells than quanta", tile->count <= TILE_QUANTA);
    free(tile);
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_few),     cmocka_unit_test(weights_keep_the_order),
        cmocka_unit_test(stored_levels),     cmocka_unit_test(equal_input_has_equal_bytes),
        cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
