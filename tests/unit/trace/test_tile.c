/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles against brute force over the slices of a row, from cells and from slices alike. */
#include "trace/levels/tile.h"

#include <stdlib.h>

#include "made_trace.h"
#include "trace/levels/pyramid.h"

typedef void make_slices(struct made *made, struct dice *dice, uint32_t count);

/* Every slice has a name of its own, so that a cell's name tells which one it shows. */
static void put(struct made *made, int64_t start_ps, int64_t dur_ps, uint8_t flags)
{
    static uint32_t serial;
    char name[16];

    snprintf(name, sizeof(name), "s%u", serial++);
    sink_slice(made->sink, (struct sink_slice){.track = 0,
                                               .start_ps = start_ps,
                                               .dur_ps = dur_ps,
                                               .name = sink_name(made->sink, str_of(name)),
                                               .kind = (enum kind)(serial % KIND_COUNT),
                                               .flags = flags});
}

static void even(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = 12345;

    for (uint32_t i = 0; i < count; i++) {
        at += (int64_t)dice_below(dice, 900);
        put(made, at, (int64_t)dice_below(dice, 700), 0);
        at += 700;
    }
}

static void touching(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = -5000;

    for (uint32_t i = 0; i < count; i++) {
        int64_t dur = 1 + (int64_t)dice_below(dice, 100);

        put(made, at, dur, 0);
        at += dur;
    }
}

static void bursts(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = -(INT64_C(1) << 40);

    for (uint32_t i = 0; i < count; i++) {
        at += dice_below(dice, 300) == 0 ? (int64_t)dice_below(dice, UINT64_C(1) << 38)
                                         : (int64_t)dice_below(dice, 40);
        put(made, at, (int64_t)dice_below(dice, 30), 0);
        at += 30;
    }
}

static void half_spread_half_burst(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        at += i < count / 2 ? 1000000 : 3 + (int64_t)dice_below(dice, 3);
        put(made, at, i < count / 2 ? 5 : (int64_t)dice_below(dice, 4), 0);
    }
}

static void instants(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = -100;

    for (uint32_t i = 0; i < count; i++)
        put(made, at += (int64_t)dice_below(dice, 50), 0, SLICE_INSTANT);
}

static void heaps_of_instants(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < count; i++)
        put(made, at += (int64_t)dice_below(dice, 3) / 2, 0, SLICE_INSTANT);
}

static void shorts_and_longs(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t dur = 1 + (int64_t)dice_below(dice, 20);

        if (dice_below(dice, 50) == 0)
            dur = 200 + (int64_t)dice_below(dice, 500);
        put(made, at, dur, 0);
        at += dur;
    }
}

static void hours(struct made *made, struct dice *dice, uint32_t count)
{
    const int64_t hour = INT64_C(3600) * 1000000000000;

    put(made, -hour, hour, 0);
    for (uint32_t i = 0; i < count; i++)
        put(made, 100 * (int64_t)i, (int64_t)dice_below(dice, 100), 0);
    put(made, 100 * (int64_t)count, 3 * hour, 0);
}

static void far_apart(struct made *made, struct dice *dice, uint32_t count)
{
    put(made, -TIME_PS_MAX, 10, 0);
    for (uint32_t i = 0; i < count; i++)
        put(made, 50 * (int64_t)i, (int64_t)dice_below(dice, 50), 0);
    put(made, TIME_PS_MAX - 10, 10, 0);
}

static void whole_time(struct made *made, struct dice *dice, uint32_t count)
{
    (void)dice, (void)count;
    put(made, -TIME_PS_MAX, 2 * TIME_PS_MAX, 0);
}

static void all_lengths(struct made *made, struct dice *dice, uint32_t count)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t dur = (int64_t)(dice_below(dice, 1000) << dice_below(dice, 24));

        put(made, at, dur, dice_below(dice, 5) == 0 ? SLICE_CUT : 0);
        at += dur + (int64_t)(dice_below(dice, 1000) << dice_below(dice, 24));
    }
}

static void nested(struct made *made, struct dice *dice, uint32_t count)
{
    for (uint32_t i = 0; i < count / 4; i++) {
        put(made, 1000 * (int64_t)i, 900, 0);
        put(made, 1000 * (int64_t)i, 400, 0);
        put(made, 1000 * (int64_t)i + 100, (int64_t)dice_below(dice, 300), 0);
        put(made, 1000 * (int64_t)i + 500, (int64_t)dice_below(dice, 400), 0);
    }
}

struct brute_cell {
    int64_t first, last, covered_ps, longest_ps;
    uint32_t slices, from, end; /* ordinals */
};

struct brute_row {
    const char *what;
    const struct made *made;
    const struct row *row;
    row_id id;
    struct slice *slices;
};

static int64_t last_quantum(const struct slice *slice, int level)
{
    int64_t first = slice->start_ps >> level;
    int64_t last = (slice->start_ps + slice->dur_ps - 1) >> level;

    return last > first ? last : first;
}

/* Is the slice part of the tile? One that began before it only counts where it ends in it, and is
 * wide where cells answer. */
static bool belongs(const struct slice *slice, int level, int64_t tile_first, int stored)
{
    int64_t first = slice->start_ps >> level;

    if (first >= tile_first)
        return first < tile_first + TILE_QUANTA;
    return last_quantum(slice, level) >= tile_first &&
           (stored < 0 || last_quantum(slice, stored) - (slice->start_ps >> stored) >= 2);
}

static uint32_t brute_cells(const struct brute_row *brute, int level, int64_t tile_first,
                            int stored, struct brute_cell *cells)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < brute->row->count; i++) {
        const struct slice *slice = &brute->slices[i];
        int64_t first = slice->start_ps >> level, last = last_quantum(slice, level);

        if (!belongs(slice, level, tile_first, stored))
            continue;
        if (count == 0 ||
            (cells[count - 1].first < tile_first ? tile_first : cells[count - 1].first) != first)
            cells[count++] =
                (struct brute_cell){.first = first, .last = last, .longest_ps = -1, .from = i};

        struct brute_cell *cell = &cells[count - 1];

        cell->end = i + 1;
        cell->last = last > cell->last ? last : cell->last;
        cell->covered_ps += slice->dur_ps;
        cell->longest_ps = slice->dur_ps > cell->longest_ps ? slice->dur_ps : cell->longest_ps;
        cell->slices++;
    }
    return count;
}

/* The shown slice is one of the cell's, and as long as the longest up to a thousandth. */
static void check_shown(const struct brute_row *brute, const struct brute_cell *cell,
                        const struct tile *tile, uint32_t at, bool exact)
{
    const struct slice *shown = NULL;
    uint8_t flags = tile->flags[at] & (uint8_t) ~(TILE_BEFORE | TILE_AFTER);

    for (uint32_t i = cell->from; i < cell->end && shown == NULL; i++)
        if (brute->slices[i].name == tile->name[at])
            shown = &brute->slices[i];
    CHECK(brute->what, shown != NULL);
    CHECK(brute->what, shown->dur_ps >= cell->longest_ps - (exact ? 0 : cell->longest_ps / 1000));
    CHECK_INT(brute->what, tile->kind[at], shown->kind);
    CHECK_INT(brute->what, flags, shown->flags);
}

static void check_busy(const struct brute_row *brute, const struct brute_cell *cell, int level,
                       uint16_t got, int tolerance)
{
    double width = (double)(cell->last - cell->first + 1) * (double)(UINT64_C(1) << level);
    double share = (double)cell->covered_ps / width * 65535;
    int want = (int)(share > 65535 ? 65535 : share + 0.5);

    if (got < want - tolerance || got > want + tolerance)
        CHECK_INT(brute->what, got, want);
    CHECK(brute->what, (got == 0) == (cell->covered_ps == 0));
}

static void check_tile(const struct brute_row *brute, int level, int64_t index)
{
    struct brute_cell *cells = calloc(brute->row->count + 1, sizeof(*cells));
    struct tile *tile = malloc(sizeof(*tile));
    int64_t tile_first = index * TILE_QUANTA, tile_last = tile_first + TILE_QUANTA - 1;
    int stored = pyramid_level(&brute->made->trace, brute->id, level);
    uint32_t count = brute_cells(brute, level, tile_first, stored, cells);

    tile_will_need(&brute->made->trace, brute->id, level, index);
    tile_fold(&brute->made->trace, brute->id, level, index, tile);
    CHECK_INT(brute->what, tile->count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct brute_cell *cell = &cells[i];
        int64_t first = cell->first < tile_first ? tile_first : cell->first;
        int64_t last = cell->last > tile_last ? tile_last : cell->last;

        CHECK_INT(brute->what, tile->offset[i], first - tile_first);
        CHECK_INT(brute->what, tile->width[i], last - first + 1);
        CHECK_INT(brute->what, tile->slices[i], cell->slices);
        CHECK_INT(brute->what, tile->flags[i] & TILE_BEFORE,
                  cell->first < tile_first ? TILE_BEFORE : 0);
        CHECK_INT(brute->what, tile->flags[i] & TILE_AFTER,
                  cell->last > tile_last ? TILE_AFTER : 0);
        check_shown(brute, cell, tile, i, stored < 0 && cell->slices <= 32);
        check_busy(brute, cell, level, tile->busy[i], stored < 0 ? 1 : 6);
    }
    free(cells);
    free(tile);
}

/* Tiles at random slices, and those around the row's ends, at every level. */
static void check_row(struct brute_row *brute, struct dice *dice)
{
    const struct row *row = brute->row;

    brute->slices = calloc(row->count + 1, sizeof(*brute->slices));
    for (uint32_t i = 0; i < row->count; i++)
        brute->slices[i] = trace_slice(&brute->made->trace, row->first_slice + i);
    for (int level = 0; level <= TILE_LEVEL_MAX; level++) {
        for (int i = 0; i < 2; i++) {
            const struct slice *slice = &brute->slices[dice_below(dice, row->count)];

            check_tile(brute, level, (slice->start_ps >> level) >> 10);
            check_tile(brute, level, ((slice->start_ps + slice->dur_ps) >> level) >> 10);
        }
        check_tile(brute, level, ((row->start_ps >> level) >> 10) - 1);
        check_tile(brute, level, (row->start_ps >> level) >> 10);
        check_tile(brute, level, (row->end_ps >> level) >> 10);
        check_tile(brute, level, ((row->end_ps >> level) >> 10) + 1);
    }
    free(brute->slices);
}

static void tiles_equal_brute_force(void **state)
{
    (void)state;
    const struct {
        const char *what;
        make_slices *make;
        uint32_t count;
    } rows[] = {
        {"one slice", even, 1},
        {"few, below a pyramid", even, 255},
        {"the least pyramid", even, 256},
        {"even", even, 6000},
        {"touching", touching, 6000},
        {"bursts", bursts, 9000},
        {"half spread, half burst", half_spread_half_burst, 12000},
        {"instants only", instants, 5000},
        {"heaps of instants", heaps_of_instants, 5000},
        {"shorts and longs", shorts_and_longs, 9000},
        {"hours around little", hours, 3000},
        {"all of time around little", far_apart, 3000},
        {"the whole time", whole_time, 1},
        {"all lengths", all_lengths, 5000},
        {"nested", nested, 5000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct dice dice = {.state = i};
        struct made made;

        made_begin(&made);
        made_track(&made, "track", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
        rows[i].make(&made, &dice, rows[i].count);
        made_finish(&made);
        for (row_id row = 0; row < made.trace.row_count; row++) {
            struct brute_row brute = {
                .what = rows[i].what, .made = &made, .id = row, .row = &made.trace.rows[row]};

            check_row(&brute, &dice);
        }
        made_end(&made);
    }
}

/* All slices of a row are counted once over the tiles of a level, but for those that began before
 * theirs. */
static void counts_add_up(void **state)
{
    (void)state;
    struct dice dice = {.state = 3};
    struct made made;
    struct tile *tile = malloc(sizeof(*tile));

    made_begin(&made);
    made_track(&made, "track", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    even(&made, &dice, 20000);
    made_finish(&made);
    const struct row *row = &made.trace.rows[0];

    for (int level = 0; level <= 30; level += 3) {
        uint64_t slices = 0;

        if (((row->end_ps - row->start_ps) >> level >> 10) > 20000)
            continue;
        for (int64_t index = (row->start_ps >> level) >> 10; index <= (row->end_ps >> level) >> 10;
             index++) {
            tile_fold(&made.trace, 0, level, index, tile);
            for (uint32_t i = 0; i < tile->count; i++)
                slices += tile->slices[i];
            if (tile->count > 0 && tile->flags[0] & TILE_BEFORE)
                slices--;
        }
        CHECK_INT("slices of all tiles", slices, 20000);
    }
    free(tile);
    made_end(&made);
}

static void odd_questions(void **state)
{
    (void)state;
    struct dice dice = {.state = 3};
    struct made made;
    struct tile *tile = malloc(sizeof(*tile));
    const struct {
        const char *what;
        row_id row;
        int level;
        int64_t index;
    } rows[] = {
        {"no such row", 7, 5, 0},
        {"NO_ROW", NO_ROW, 5, 0},
        {"level below 0", 0, -1, 0},
        {"level above the last", 0, 53, 0},
        {"far before", 0, 0, INT64_MIN},
        {"far behind", 0, 0, INT64_MAX},
        {"far behind, coarse", 0, 52, INT64_MAX},
    };

    made_begin(&made);
    made_track(&made, "track", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    even(&made, &dice, 1000);
    made_finish(&made);
    for (size_t i = 0; i < COUNT(rows); i++) {
        tile->count = 99;
        tile_will_need(&made.trace, rows[i].row, rows[i].level, rows[i].index);
        tile_fold(&made.trace, rows[i].row, rows[i].level, rows[i].index, tile);
        CHECK_INT(rows[i].what, tile->count, 0);
    }
    free(tile);
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_equal_brute_force),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(odd_questions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
